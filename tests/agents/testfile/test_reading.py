"""Every key with its default, and no mistake that passes silently."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
import yaml

from assay.agents.model import AgentFile
from assay.agents.testfile import read_file
from assay.agents.testfile.lint import lint_files
from assay.agents.testfile.reading import make_error
from assay.model import Ratio
from tests.agents.testfile.support import problem_of, problems_of, read_text, whole, written

EVERYTHING = """
agent: "industry/airline"
connections: [direct, http, https]
success_ratio: "8/10"
use_direct: true
metadata { authorization: "Bearer abcdef", user_id: "tester" }
timeout_in_seconds: 90.5
failure_patterns: ["Agent stopped"]
interactions: [
  {
    text: "times"
    sly_data { x: 847, y: 23 }
    timeout_in_seconds: 5
    chat_filter: MAXIMAL
    continue_conversation: false
    response {
      text { keywords: ["a", "b"], not_gist: "rude" }
      sly_data { equals { value: [19481.0] }, deep { er { less: 3, not_greater: 4 } } }
      structure { answer { keywords: "Beatles" } }
    }
  }
]
"""


def test_all_defaults(tmp_path: Path) -> None:
    file = read_text(tmp_path, whole())
    (interaction,) = file.interactions
    assert (file.agent, file.connections, file.success_ratio) == (
        "music_nerd", ("direct",), Ratio(1, 1),
    )  # fmt: skip
    assert (file.timeout, file.metadata, file.use_direct) == (None, None, False)
    assert (file.failure_patterns, dict(file.secrets)) == ((), {})
    assert interaction.text == "Who did Yellow Submarine?"
    assert (interaction.sly_data, interaction.timeout) == (None, None)
    assert (interaction.chat_filter, interaction.continue_conversation) == ("MINIMAL", True)


def test_every_key(tmp_path: Path) -> None:
    file = read_text(tmp_path, EVERYTHING)
    (interaction,) = file.interactions
    assert file.connections == ("direct", "http", "https")
    assert (file.success_ratio, file.use_direct, file.timeout) == (Ratio(8, 10), True, 90.5)
    assert file.metadata == {"authorization": "Bearer abcdef", "user_id": "tester"}
    assert file.failure_patterns == ("Agent stopped",)
    assert interaction.sly_data == {"x": 847, "y": 23}
    assert (interaction.timeout, interaction.chat_filter) == (5.0, "MAXIMAL")
    assert interaction.continue_conversation is False
    assert [(check.name, check.value, check.place.line) for check in interaction.checks] == [
        ("text.keywords[0]", "a", 17),
        ("text.keywords[1]", "b", 17),
        ("text.not_gist", "rude", 17),
        ("sly_data.equals.value", 19481.0, 18),
        ("sly_data.deep.er.less", 3, 18),
        ("sly_data.deep.er.not_greater", 4, 18),
        ("structure.answer.keywords", "Beatles", 19),
    ]
    assert [check.is_negated for check in interaction.checks[:3]] == [False, False, True]
    assert file.sections == {"text", "sly_data", "structure"}


def test_json_and_yaml_of_the_same_shape_say_the_same(tmp_path: Path) -> None:
    import hocon

    value = hocon.parse(EVERYTHING).to_object()
    texts = {
        "test.hocon": EVERYTHING,
        "test.json": json.dumps(value, indent=2),
        "test.yaml": yaml.safe_dump(value),
        "test.yml": yaml.safe_dump(value),
    }
    files = [read_text(tmp_path, text, name) for name, text in texts.items()]
    assert len({file.fingerprint for file in files}) == 1
    assert len({_meaning(file) for file in files}) == 1


def _meaning(file: AgentFile) -> str:
    (one,) = file.interactions
    checks = sorted((check.name, repr(check.value)) for check in one.checks)
    return repr((file.agent, file.success_ratio, file.timeout, one.text, one.sly_data, checks))


def test_a_list_in_a_list_is_one_value(tmp_path: Path) -> None:
    response = '"structure": {"list": {"value": [[1, 2]]}, "none": {"value": [null]}}'
    (interaction,) = read_text(tmp_path, whole(response=response)).interactions
    assert [check.value for check in interaction.checks] == [[1, 2], None]


def test_a_key_called_like_a_test_may_be_looked_into(tmp_path: Path) -> None:
    response = '"structure": {"value": {"keywords": {"less": 3}}}'
    (interaction,) = read_text(tmp_path, whole(response=response)).interactions
    assert [check.path for check in interaction.checks] == [("value", "keywords")]


@pytest.mark.parametrize(
    ("response", "code", "said", "advice"),
    [
        ('"text": {"keyword": "a"}', "unknown-test", "`keyword`", "'keywords'"),
        ('"text": {"not_gists": "a"}', "unknown-test", "`not_gists`", "'not_gist'"),
        ('"txt": {"keywords": "a"}', "unknown-key", "`txt`", "'text'"),
        ('"slydata": {"a": {"value": 1}}', "unknown-key", "`slydata`", "'sly_data'"),
        ('"text": "Beatles"', "wrong-value", "object of tests", '{"keywords": "…"}'),
        ('"text": {}', "empty-test", "tests nothing", "remove it"),
        ('"text": {"keywords": []}', "empty-test", "an empty list", "a value"),
        ('"text": {"value": null}', "empty-test", "null", "a value"),
        ('"sly_data": {"a": {"value": null}}', "empty-test", "null", "[null]"),
        ('"sly_data": {"a": {"value": []}}', "empty-test", "an empty list", "[[]]"),
        ('"text": {"value": {"a": 1}}', "wrong-value", "nothing to test", "no keys"),
        ('"text": {"keywords": ""}', "impossible-test", "empty keyword", "take it out"),
        ('"text": {"keywords": 3}', "impossible-test", "never 3", "quotes"),
        ('"text": {"less": 3}', "impossible-test", "never 3", "quotes"),
        ('"text": {"gist": 3}', "impossible-test", "not a criterion", "sentence"),
        ('"text": {"gist": ["good", "  "]}', "impossible-test", "not a criterion", "sentence"),
        ('"text": {"value": ["a", "b"]}', "impossible-test", "never both", "remove one"),
        (
            '"text": {"keywords": ["a"], "not_keywords": ["b", "a"]}',
            "impossible-test", "never both", "remove one",
        ),
        ('"sly_data": {"a": {"value": {"b": 1}}}', "unknown-test", "no test `b`", "[{…}]"),
        ('"sly_data": {"a": {"value": 1, "b": {"less": 2}}}', "wrong-value", "mixes", "either"),
        ('"sly_data": {"a": {"less": 1, "value": {"b": 2}}}', "wrong-value", "mixes", "[{…}]"),
        ('"sly_data": {"a": {}}', "empty-test", "`a` tests nothing", "remove it"),
        ('"sly_data": {"a.b": {"value": 1}}', "unknown-key", "a dot", "nest"),
        ('"sly_data": {"value": 3}', "wrong-value", "directly in `sly_data`", "name the key"),
        ('"sly_data": {"order": 3}', "wrong-value", "`order` must be", '{"value": 3}'),
        ('"sly_data": {"a": {"less": [null]}}', "impossible-test", "compared", "number"),
        ('"sly_data": []', "wrong-value", "object of tests", ""),
    ],
)  # fmt: skip
def test_tests_that_test_nothing(
    tmp_path: Path, response: str, code: str, said: str, advice: str
) -> None:
    problem = problem_of(tmp_path, whole(response=response))
    assert problem.code == code
    assert said in problem.message
    assert advice in problem.advice
    assert problem.place.line == 9


@pytest.mark.parametrize(
    ("top", "said", "advice"),
    [
        ('"success_ration": "1/2",', "no key `success_ration`", "'success_ratio'"),
        ('"success_ratio": "0/2",', "'0/2'", "N/M"),
        ('"success_ratio": "3/2",', "'3/2'", "N/M"),
        ('"success_ratio": 1,', "cannot be 1", "N/M"),
        ('"connections": "htp",', "'htp'", "'http'"),
        ('"connections": [],', "at least one", ""),
        ('"connections": ["http", "http"],', "only once", ""),
        ('"timeout_in_seconds": 0,', "above 0", ""),
        ('"timeout_in_seconds": "soon",', "above 0", ""),
        ('"timeout_in_seconds": true,', "above 0", ""),
        ('"use_direct": "maybe",', "true or false", ""),
        ('"metadata": "token",', "must be an object", ""),
        ('"failure_patterns": [""],', "list of texts", ""),
        ('"failure_patterns": 3,', "list of texts", ""),
        ('"judge_sees": "redact",', "'redact'", "'redacted'"),
    ],
)
def test_mistakes_at_the_top(tmp_path: Path, top: str, said: str, advice: str) -> None:
    problem = problem_of(tmp_path, whole(top))
    assert said in problem.message.replace('"', "'")
    assert advice in problem.advice
    assert problem.place.line == 3


@pytest.mark.parametrize(
    ("interaction", "said", "advice"),
    [
        ('"chat_filter": "MEDIUM",', "'MEDIUM'", "MAXIMAL, MINIMAL"),
        ('"continue_conversation": "no",', "true or false", ""),
        ('"timeout_in_second": 3,', "no key `timeout_in_second`", "'timeout_in_seconds'"),
        ('"sly_data": [1],', "must be an object", ""),
        ('"timeout_in_seconds": -1,', "above 0", ""),
    ],
)
def test_mistakes_in_an_interaction(
    tmp_path: Path, interaction: str, said: str, advice: str
) -> None:
    problem = problem_of(tmp_path, whole(interaction=interaction))
    assert said in problem.message.replace('"', "'")
    assert advice in problem.advice
    assert problem.place.line == 7


@pytest.mark.parametrize(
    ("text", "code", "said"),
    [
        ('agent: a, interactions: [{text: "x"}]', "nothing-tested", "whatever the agent says"),
        ('agent: a, interactions: [{text: "x", response: {}}]', "nothing-tested", "would pass"),
        ("agent: a, interactions: []", "wrong-value", "at least one"),
        ("agent: a, interactions: {}", "wrong-value", "at least one"),
        ("agent: a", "missing-key", "`interactions` is missing"),
        ('agent: a, interactions: ["hello"]', "wrong-value", "`interactions.0` must be an object"),
        ("interactions: [{response.text.keywords: x}]", "missing-key", "`agent` is missing"),
        ('agent: "", interactions: [{response.text.keywords: x}]', "wrong-value", "`agent`"),
        (
            "agent: a, interactions: [{response: null}]",
            "wrong-value",
            "`interactions.0.response` must be",
        ),
    ],
)
def test_files_that_are_no_tests(tmp_path: Path, text: str, code: str, said: str) -> None:
    found = [one for one in problems_of(tmp_path, text) if one.code == code]
    assert said in found[0].message


def test_what_a_connection_never_returns_cannot_be_tested(tmp_path: Path) -> None:
    response = '"sly_data": {"a": {"value": 1}}'
    problem = problem_of(tmp_path, whole('"connections": "openai",', response=response))
    assert (problem.code, problem.place.line) == ("impossible-test", 9)
    assert "openai never returns sly_data" in problem.message
    assert read_text(tmp_path, whole('"connections": "python",', response=response))


def test_what_a_connection_cannot_send(tmp_path: Path) -> None:
    text = whole('"connections": "openai",', interaction='"sly_data": {"a": 1},')
    problem = problem_of(tmp_path, text)
    assert (problem.code, problem.place.line) == ("wrong-value", 5)
    assert problem.message == "openai cannot send sly_data"


def test_metadata_that_cannot_be_a_header_is_refused_with_its_line(tmp_path: Path) -> None:
    def told(connection: str) -> list[tuple[int, str, str]]:
        top = (
            f'"connections": {connection},\n"metadata": {{\n"user": "ada",\n"deep": {{"a": 1}},\n'
            '"several": ["CANARY"],\n"two words": "x",\n"lines": "a\\nb",\n"nothing": null\n},'
        )
        found = read_file(written(tmp_path, whole(top)))
        return [(one.place.line, one.message, one.advice) for one in found.problems]

    header, name = "use one line of text or a number", "use letters, digits and dashes"
    refused = [
        (6, "the value of metadata key 'deep' cannot be an HTTP header", header),
        (7, "the value of metadata key 'several' cannot be an HTTP header", header),
        (8, "metadata key 'two words' cannot be the name of an HTTP header", name),
        (9, "the value of metadata key 'lines' cannot be an HTTP header", header),
    ]
    for connection in ('"http"', '"https"', '"openai"', '["http", "openai"]'):
        assert told(connection) == refused
    # In this process metadata is whatever the agent makes of it.
    assert told('["direct", "python"]') == []


def test_an_interaction_without_a_text_is_refused_where_it_makes_no_sense(tmp_path: Path) -> None:
    text = "agent: a, connections: %s\ninteractions: [\n{ response.text.keywords: x }\n]"
    assert read_file(written(tmp_path, text % "http")).problems == []
    (problem,) = read_file(written(tmp_path, text % "[openai, http]")).problems
    assert (problem.code, problem.place.line) == ("missing-key", 3)


def test_all_problems_of_a_file_are_found_at_once(tmp_path: Path) -> None:
    text = whole('"sucess_ratio": "1/2",', response='"text": {"keyword": "a"}')
    problems = problems_of(tmp_path, text)
    assert [one.place.line for one in problems] == [3, 9]
    error = str(make_error(problems))
    assert "test.hocon:3: there is no key" in error
    assert "and 1 more: `assay agents lint`" in error


@pytest.mark.parametrize(
    ("top", "response", "lines"),
    [
        ("", '"text": {"not_keywords": "sorry", "not_gist": ["a", "b"]}', [9]),
        ('"failure_patterns": "QUOTA",', '"text": {"not_keywords": "sorry"}', []),
        ("", '"text": {"not_keywords": "sorry", "keywords": "Beatles"}', []),
        # A fault has no such key, so this test fails.
        ("", '"text": {"not_keywords": "a"}, "structure": {"b": {"not_value": 1}}', []),
    ],
)
def test_a_file_of_negated_tests_alone_gets_a_note(
    tmp_path: Path, top: str, response: str, lines: list[int]
) -> None:
    findings = lint_files([written(tmp_path, whole(top, response=response))])
    assert findings.exit_code == 0
    assert [(one.severity, one.place.line) for one in findings] == [
        ("note", line) for line in lines
    ]
    found = json.loads(findings.report("json"))["findings"]
    assert [one["line"] for one in found] == lines
    assert ("`failure_patterns`" in findings.report()) == bool(lines)
    assert findings.report().endswith("1 note\n" if lines else "nothing found\n")


def test_the_text_of_an_answer_is_never_empty(tmp_path: Path) -> None:
    problem = problem_of(tmp_path, whole(response='"text": {"value": " "}'))
    assert problem.code == "impossible-test"
    assert "says nothing has no text" in problem.message


def test_values_of_the_environment_and_metadata_are_secrets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AGENT_TOKEN", "canary-token")
    monkeypatch.setenv("LIMIT", "2.5")
    text = whole(
        '"metadata": {"auth": "Bearer "${AGENT_TOKEN}, "team": "blueberry"},'
        '"timeout_in_seconds": ${LIMIT},'
    )
    file = read_text(tmp_path, text)
    assert file.metadata == {"auth": "Bearer canary-token", "team": "blueberry"}
    assert file.timeout == 2.5
    assert file.secrets["canary-token"] == "<AGENT_TOKEN>"
    assert file.secrets["blueberry"] == "<metadata.team>"
    assert "canary" not in repr(file)
    before = file.fingerprint
    monkeypatch.setenv("AGENT_TOKEN", "another-token")
    assert read_text(tmp_path, text).fingerprint == before


def test_definitions_are_no_unknown_keys(tmp_path: Path) -> None:
    text = whole(
        '"city": "Paris", "question": "Where is "${city},', interaction="text: ${question}"
    )
    # The text that the helper writes comes first; the substitution would be lost without notice.
    assert [one.code for one in problems_of(tmp_path, text)] == ["repeated-key"]
    text = "city: Paris, agent: a, interactions: [{text: ${city}, response.text.keywords: ${city}}]"
    assert read_text(tmp_path, text).interactions[0].text == "Paris"


def test_a_misspelled_key_of_an_included_file_is_found(tmp_path: Path) -> None:
    written(tmp_path, "shared_words: [a]\nsucces_ratio: 1/2\n", "shared.hocon")
    problem = problem_of(tmp_path, 'include "shared"\n' + whole().strip()[1:-1])
    assert (problem.code, problem.place.file.name, problem.place.line) == (
        "unknown-key", "shared.hocon", 2,
    )  # fmt: skip


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    for name in ("none.hocon", "none.json"):
        (problem,) = read_file(tmp_path / name).problems
        assert problem.code == "unreadable"
    os.mkdir(tmp_path / "folder.hocon")  # noqa: PTH102 - shorter
    (problem,) = read_file(tmp_path / "folder.hocon").problems
    assert problem.code == "unreadable"
