"""Canonical cases: read from files, filled with saved values, compared as it says."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from assay.errors import InputError
from assay.model import CaseResult, VerificationResult, VerifierReport, compute_fingerprint
from assay.submissions.cases import APICase, APIResult, CLICase, CLIResult
from assay.submissions.config import GroupConfig
from assay.submissions.declarative import DeclarativeCase, DeclarativeSource
from assay.submissions.problems import read_problem
from tests.submissions.support import write_files

CLI = """
entry_file: main
adapter: {type: cli, tracked_files: ["*.log"]}
checkpoints:
  one:
    groups: {core: {type: Core}}
"""
API = CLI.replace("type: cli", "type: api")


class Bench:
    """A problem with one group, drawn and verified without running anything."""

    def __init__(self, folder: Path, cases: str, config: str = CLI) -> None:
        write_files(folder, {"config.yaml": config, "one/core.yaml": cases})
        self.problem = read_problem(folder)
        self.source = DeclarativeSource(self.problem)
        self.checkpoint = self.problem.checkpoints["one"]
        self.group: GroupConfig = self.checkpoint.groups["core"]

    def drawn(self, *answers: dict[str, Any]) -> list[DeclarativeCase]:
        """All cases; the answers are what came of each before the next was drawn."""

        async def draw() -> list[DeclarativeCase]:
            found, given = [], iter(answers)
            async with self.source.open(self.checkpoint, self.group) as stream:
                while (drawn := await stream.draw()) is not None:
                    found.append(drawn)
                    if answer := next(given, None):
                        await stream.update(drawn, result(drawn, **answer))
            return found

        return asyncio.run(draw())

    def verify(self, drawn: DeclarativeCase, **answer: Any) -> dict[str, bool | None]:
        return {key: one.is_correct for key, one in self.results(drawn, **answer).items()}

    def results(self, drawn: DeclarativeCase, **answer: Any) -> Any:
        return asyncio.run(
            self.source.verify(self.checkpoint, self.group, drawn, result(drawn, **answer))
        )

    def report(self, drawn: DeclarativeCase, **answer: Any) -> VerifierReport:
        actual = result(drawn, **answer)
        found = self.results(drawn, **answer)
        return VerifierReport.from_verifier_result(drawn.case, 0.1, actual, drawn.expected, found)


def result(drawn: DeclarativeCase, **answer: Any) -> CaseResult:
    kind = APIResult if isinstance(drawn.case, APICase) else CLIResult
    return kind(id=drawn.case.id, group=drawn.case.group, **answer)


def test_a_case_is_what_was_written(tmp_path: Path) -> None:
    cases = """
    cases:
      sums:
        description: adds
        arguments: [--sum, 007, yes, "two words", 1.10]
        stdin: "1\\n2\\n"
        timeout: 2.5
        reset: true
        tracked_files: [out/*]
        input_files:
          prices.csv: [{item: tea, price: 3}]
          deep/data.json: {a: [1]}
          notes: plain
          table: [[1]]
          raw.bin: AAH/
        expected: {status_code: 0, output: {sum: 3}, files: {report.txt: done}}
    """
    (drawn,) = Bench(tmp_path, cases).drawn()
    case = drawn.case
    assert isinstance(case, CLICase)
    assert case.arguments == ["--sum", "007", "yes", "two words", "1.10"]
    assert (case.stdin, case.timeout_s, case.reset) == ("1\n2\n", 2.5, True)
    assert (case.id, case.group, case.group_type, case.checkpoint) == (
        "sums",
        "core",
        "Core",
        "one",
    )
    assert case.tracked_files == ["*.log", "out/*", "report.txt"]
    assert {file.path: file.to_bytes() for file in case.input_files} == {
        "prices.csv": b"item,price\ntea,3\n",
        "deep/data.json": b'{\n  "a": [\n    1\n  ]\n}',
        "notes": b"plain",
        "table": b"[\n  [\n    1\n  ]\n]",
        "raw.bin": b"\x00\x01\xff",
    }
    expected = drawn.expected
    assert (expected.status_code, expected.output) == (0, {"sum": 3})
    assert expected.files == {"report.txt": "done"}


def test_listed_files_have_particulars_and_may_come_from_disk(tmp_path: Path) -> None:
    cases = """
    cases:
      one:
        input_files:
          - {path: data.csv.gz, content: [{a: 1}]}
          - {path: odd.dat, content: [{a: 1}], file_type: jsonl, compression: bzip2}
          - {path: in.json, from: fixtures/given.json}
        expected: {status_code: 0}
    """
    write_files(tmp_path, {"one/fixtures/given.json": '{"k":1}\n'})
    (drawn,) = Bench(tmp_path, cases).drawn()
    gz, odd, given = drawn.case.input_files
    assert (gz.file_type, gz.compression) == ("csv", "gzip")
    assert (odd.file_type, odd.compression) == ("jsonl", "bzip2")
    assert given.to_bytes() == b'{"k":1}\n'


@pytest.mark.parametrize(
    ("expected", "right", "wrong"),
    [
        ("output: {sum: 3}", {"output": '{"sum": 3.0}\n'}, {"output": '{"sum": 4}'}),
        ("output: [1, {a: b}]", {"output": '[1,{"a":"b"}]'}, {"output": "not json"}),
        ("output: 42", {"output": "42\n"}, {"output": "43"}),
        ("output: 0.3", {"output": "0.30000000000000004"}, {"output": "0.31"}),
        ("output: hello", {"output": "hello  \n\n"}, {"output": "Hello"}),
        ('output: "42"', {"output": "42\n"}, {"output": "42.0"}),
        ("output: null", {"output": ""}, {"output": "x"}),
        ("output: hello", {"output": b"hello\n"}, {"output": b"\xff"}),
        ("status_code: 3", {"status_code": 3}, {"status_code": 0}),
        ("timed_out: true", {"timed_out": True}, {}),
        ("stderr: {check: keywords, value: oops}", {"stderr": "an oops"}, {"stderr": ""}),
        ("output: {check: regex, value: '\\d+'}", {"output": "12"}, {"output": "12a"}),
        (
            "output: {check: json, value: {a: 1}, ignore: b}",
            {"output": '{"a":1,"b":2}'},
            {"output": '{"a":2}'},
        ),
        ("output: {check: schema, value: {type: array}}", {"output": "[]"}, {"output": "{}"}),
        ("files: {a.json: {x: 1}}", {"files": {"a.json": '{"x":1}'}}, {"files": {}}),
        ("files: {a.json: {x: 1}}", {"files": {"a.json": {"x": 1}}}, {"files": {"a.json": b"{"}}),
        (
            "files: {a.csv: [{n: 1, b: true}]}",
            {"files": {"a.csv": b"n,b\r\n1,true\r\n"}},
            {"files": {"a.csv": "n,b\n2,true\n"}},
        ),
        (
            "files: {a.jsonl: [1, 2]}",
            {"files": {"a.jsonl": "1\n2\n"}},
            {"files": {"a.jsonl": "[1, 2]"}},
        ),
        (
            "files: {a.yaml: {k: [1]}}",
            {"files": {"a.yaml": "k:\n- 1\n"}},
            {"files": {"a.yaml": "k: [\n"}},
        ),
        ("files: {a.txt: done}", {"files": {"a.txt": b"done\n"}}, {"files": {"a.txt": "do\nne"}}),
        ("files: {a: {check: file_exists, value: false}}", {}, {"files": {"a": ""}}),
        ("checks: {'output.items[0].id': 7}", {"output": '{"items":[{"id":7}]}'}, {"output": "{}"}),
        (
            "checks: {output.n: {check: number, value: 5, absolute: 1}}",
            {"output": {"n": 6}},
            {"output": {"n": 7}},
        ),
        (
            "checks: {'files[\"t.csv\"][0].a': '1'}",
            {"files": {"t.csv": "a\n1\n"}},
            {"files": {"t.csv": "b\n1\n"}},
        ),
        ("checks: {elapsed: {check: less, value: 2}}", {"elapsed": 1.0}, {"elapsed": 3.0}),
    ],
)
def test_values_are_compared_as_suits_them(
    tmp_path: Path, expected: str, right: dict[str, Any], wrong: dict[str, Any]
) -> None:
    bench = Bench(tmp_path, f"cases:\n  one:\n    expected:\n      {expected}\n")
    (drawn,) = bench.drawn()
    assert list(bench.verify(drawn, **right).values()) == [True]
    assert list(bench.verify(drawn, **wrong).values()) == [False]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("{check: regex, value: '.*'}", "{check: regex, value: 'never'}"),
        ("{check: regex, value: a}", "{check: exact, value: a}"),
        ("{check: regex, value: a}", "{check: regex, value: a, dotall: true}"),
        ("{check: regex, value: a}", "{check: regex, value: a, weight: 2}"),
        ("[a]", "[a, {check: regex, value: a}]"),
    ],
)
def test_what_a_case_is_judged_by_differs_with_every_check(
    tmp_path: Path, before: str, after: str
) -> None:
    cases = "cases:\n  a:\n    expected: {status_code: 0, checks: {output: CHECK}}\n"
    several = []
    for name, text in (("before", before), ("after", after), ("same", before)):
        (drawn,) = Bench(tmp_path / name, cases.replace("CHECK", text)).drawn()
        several.append(compute_fingerprint(drawn.describe_expectation()))
    assert several[0] == several[2] != several[1]


def test_the_report_says_how_a_bare_value_was_compared(tmp_path: Path) -> None:
    bench = Bench(tmp_path, "cases:\n  a:\n    expected: {status_code: 0, output: {n: 0.5}}\n")
    (drawn,) = bench.drawn()
    good, bad = bench.results(drawn, output='{"n": 0.5}'), bench.results(drawn, output='{"n": 1}')
    assert good["output"].diff == "equal, compared as JSON, floats except for rounding (1e-9)"
    assert bad["output"].diff["compared"] == "as JSON, floats except for rounding (1e-9)"
    assert bad["output"].diff["differences"][0]["path"] == "n"
    assert good["status_code"].diff == "equal, compared by value"


def test_weights_and_several_checks_of_one_place(tmp_path: Path) -> None:
    cases = """
    cases:
      one:
        expected:
          status_code: 0
          output: {check: json, value: [1], weight: 3}
          files: {a.txt: x}
          checks:
            output:
              - {check: keywords, value: "1"}
              - {check: schema, value: {type: array}, weight: 0.5}
          weights: {status_code: 0.5, files-a.txt: 2}
    """
    bench = Bench(tmp_path, cases)
    (drawn,) = bench.drawn()
    results = bench.results(drawn, output="[1]", files={"a.txt": "x"})
    assert {key: one.weight for key, one in results.items()} == {
        "status_code": 0.5, "output": 3, "files-a.txt": 2, "output (2)": 1, "output (3)": 0.5,
    }  # fmt: skip
    actual = result(drawn, output="[2]", files={"a.txt": "x"})
    report = VerifierReport.from_verifier_result(
        drawn.case, 0.1, actual, drawn.expected, bench.results(drawn, output="[2]")
    )
    assert not report.did_pass()


STATEFUL = """
cases:
  create:
    request: {method: post, path: /todos, body: {title: milk}}
    save: {todo: output.id, tag: headers.etag}
    expected: {status_code: 201, checks: {output.title: milk}}
  read:
    request:
      path: "/todos/{{saved:todo}}"
      query: {id: "{{saved:todo}}"}
      headers: {If-Match: "{{saved:tag}}"}
    expected: {status_code: 200, output: {id: "{{saved:todo}}", "{{saved:tag}}": "n{{saved:todo}}"}}
"""


def test_later_cases_use_earlier_answers(tmp_path: Path) -> None:
    bench = Bench(tmp_path, STATEFUL, API)
    answer = {"status_code": 201, "output": {"id": 7, "title": "milk"}, "headers": {"ETag": "v1"}}
    create, read = bench.drawn(answer)
    assert isinstance(create.case, APICase)
    assert isinstance(read.case, APICase)
    assert (create.case.method, create.case.body) == ("POST", {"title": "milk"})
    assert (read.case.path, read.case.query) == ("/todos/7", {"id": 7})
    assert read.case.headers == {"If-Match": "v1"}
    assert read.expected.output == {"id": 7, "v1": "n7"}
    assert bench.verify(create, **answer) == {"status_code": True, "output.title": True}
    right = {"status_code": 200, "output": {"id": 7, "v1": "n7"}}
    assert bench.verify(read, **right) == {"status_code": True, "output": True}
    assert not bench.verify(read, **right | {"output": {"id": 8, "v1": "n7"}})["output"]


@pytest.mark.parametrize("chosen", [{"check": "regex", "value": "(?s).*"}, []])
def test_an_answer_is_never_read_as_a_check(tmp_path: Path, chosen: Any) -> None:
    cases = STATEFUL.replace(
        "output: {id: ", 'checks: {output.id: "{{saved:todo}}"}, output: {id: '
    )
    bench = Bench(tmp_path, cases, API)
    answer = {"status_code": 201, "output": {"id": chosen}, "headers": {"ETag": "v1"}}
    _, read = bench.drawn(answer)
    results = bench.verify(read, status_code=200, output={"id": "wrong", "other": 5})
    assert results == {"status_code": True, "output": False, "output.id": False}


def test_an_answer_that_saves_nothing_fails_both_cases(tmp_path: Path) -> None:
    bench = Bench(tmp_path, STATEFUL, API)
    answer = {"status_code": 201, "output": "not json", "headers": {"ETag": "v1"}}
    create, read = bench.drawn(answer)
    assert isinstance(read.case, APICase)
    assert bench.verify(create, **answer)["save-todo"] is False
    assert read.case.path == "/todos/{{saved:todo}}"
    results = bench.verify(
        read, status_code=200, output={"id": "{{saved:todo}}", "v1": "n{{saved:todo}}"}
    )
    assert results["saved-todo"] is False
    assert "saved-tag" not in results


ASSETS = API + "static_assets: {data: one/core.yaml}\n"
PATHS = {"data": "/static/data/f.txt"}


def test_names_of_assets_are_paths_when_a_case_is_run_and_judged(tmp_path: Path) -> None:
    cases = """
    cases:
      a:
        description: as {{static:other}} would be
        request: {path: "/{{static:data}}", body: {"{{static:data}}": 1}}
        expected:
          status_code: 200
          output: {from: "{{ static:data }}"}
          stderr: {check: regex, value: "read {{static:data}}"}
    """
    bench = Bench(tmp_path, cases, ASSETS)
    (drawn,) = bench.drawn()
    placed = drawn.place_assets(PATHS)
    assert isinstance(placed.case, APICase)
    assert (placed.case.path, placed.case.body) == ("//static/data/f.txt", {PATHS["data"]: 1})
    assert placed.expected.output == {"from": PATHS["data"]}
    right = {"status_code": 200, "output": {"from": PATHS["data"]}}
    good = bench.verify(placed, **right, stderr="read /static/data/f.txt")
    assert good == {"status_code": True, "output": True, "stderr": True}
    assert bench.verify(placed, **right, stderr="read /static/data/f-txt")["stderr"] is False
    # What a run keeps says the same wherever the assets are.
    assert drawn.case.describe()["path"] == "/{{static:data}}"


@pytest.mark.parametrize("answer", ["{{static:data}}", "{{static:nowhere}}"])
def test_what_an_answer_had_is_no_name_of_an_asset(tmp_path: Path, answer: str) -> None:
    bench = Bench(tmp_path, STATEFUL, ASSETS)
    _, read = bench.drawn({"output": {"id": answer}, "headers": {"etag": "v1"}})
    placed = read.place_assets(PATHS)
    assert isinstance(placed.case, APICase)
    assert placed.case.path == f"/todos/{answer}"
    right = {"id": answer, "v1": f"n{answer}"}
    assert bench.verify(placed, status_code=200, output=right)["output"] is True


def test_a_stream_is_stateful_only_if_it_saves(tmp_path: Path) -> None:
    async def stateful(bench: Bench) -> bool:
        async with bench.source.open(bench.checkpoint, bench.group) as stream:
            return stream.is_stateful

    plain = "cases:\n  a:\n    expected: {status_code: 0}\n"
    assert asyncio.run(stateful(Bench(tmp_path / "a", STATEFUL, API)))
    assert not asyncio.run(stateful(Bench(tmp_path / "b", plain)))


def test_defaults_of_the_group_and_its_order(tmp_path: Path) -> None:
    config = CLI.replace(
        "{type: Core}",
        "{type: Core, case_order: [z], case_defaults: {arguments: [1, go], timeout: 3, "
        "expected: {status_code: 0, output: x}}}",
    )
    cases = """
    cases:
      a: {expected: {output: mine}}
      m: {arguments: [], expected: {output: null}}
      z: {timeout: 1}
    """
    z, a, m = Bench(tmp_path, cases, config).drawn()
    assert [one.case.id for one in (z, a, m)] == ["z", "a", "m"]
    assert (z.case.arguments, z.case.timeout_s, z.expected.output) == (["1", "go"], 1, "x")
    assert (a.case.timeout_s, a.expected.output) == (3, "mine")
    assert "status_code" in [one.key for one in a.comparisons]
    assert m.case.arguments == []


def test_one_file_for_every_case(tmp_path: Path) -> None:
    files = {
        "config.yaml": CLI,
        "one/core/b.json": '{"arguments": ["b"], "expected": {"status_code": 0}}',
        "one/core/a.yaml": "expected: {status_code: 1}\n",
        "one/core/notes.txt": "not a case",
    }
    problem = read_problem(write_files(tmp_path, files))
    checkpoint = problem.checkpoints["one"]

    async def ids() -> list[str]:
        found = []
        async with DeclarativeSource(problem).open(checkpoint, checkpoint.groups["core"]) as stream:
            while (drawn := await stream.draw()) is not None:
                found.append(drawn.case.id)
        return found

    assert asyncio.run(ids()) == ["a", "b"]


def test_a_regression_takes_its_cases_from_where_they_were_new(tmp_path: Path) -> None:
    files = {
        "config.yaml": CLI + '  two: {regressions: "*", constant_files: [later.txt]}\n',
        "one/core.yaml": "cases: {a: {expected: {status_code: 0}}}\n",
        "two/spec.md": "",
    }
    files["config.yaml"] = files["config.yaml"].replace(
        "groups:", "constant_files: [shared]\n    groups:"
    )
    files["one/shared/x.txt"] = "shared"
    problem = read_problem(write_files(tmp_path, files))
    checkpoint = problem.checkpoints["two"]

    async def first() -> DeclarativeCase | None:
        group = checkpoint.groups["one_core"]
        async with DeclarativeSource(problem).open(checkpoint, group) as stream:
            return await stream.draw()

    drawn = asyncio.run(first())
    assert drawn is not None
    case = drawn.case
    assert (case.group, case.group_type, case.checkpoint) == ("one_core", "Regression", "two")
    assert (case.original_checkpoint, case.original_group) == ("one", "core")
    assert [file.path for file in case.input_files] == ["shared/x.txt"]


@pytest.mark.parametrize(
    ("case", "said"),
    [
        ("{argumnts: [a], expected: {status_code: 0}}", "core.yaml:2: there is no key `argumnts`"),
        ("{argumnts: [a], expected: {status_code: 0}}", "did you mean 'arguments'?"),
        ("{arguments: [a]}", "`expected` is missing"),
        ("{expected: {outptu: 1}}", "did you mean 'output'?"),
        ("{expected: {}}", "verifies nothing"),
        ("{expected: {output: {check: jsn, value: 1}}}", "did you mean 'json'?"),
        (
            "{expected: {output: {check: json, value: 1, unorderd: true}}}",
            "did you mean 'unordered'?",
        ),
        ("{expected: {output: {check: regex, value: '('}}}", "is not a pattern"),
        ("{expected: {output: {check: json}}}", "has no `value`"),
        ("{expected: {output: {check: json, value: 1, weight: 0}}}", "the weight must be"),
        ("{expected: {checks: {outptu.id: 1}}}", "did you mean 'output'?"),
        ("{expected: {status_code: 0, checks: {output.a: []}}}", "there is no check in this list"),
        ("{expected: {checks: {'output[*].id': 1}}}", "must be one place"),
        ("{expected: {output: 1, weights: {outpt: 2}}}", "did you mean 'output'?"),
        ("{timeout: 0, expected: {output: 1}}", "`timeout`: input should be greater than 0"),
        ("{request: {}, expected: {output: 1}}", "a problem of type cli has no `request`"),
        ("{input_files: {a.csv: 7}, expected: {output: 1}}", "a.csv: a table is a list of rows"),
        (
            "{input_files: {a.parquet: [{a: {}}]}, expected: {output: 1}}",
            "a.parquet: cannot be written as parquet",
        ),
        (
            f"{{expected: {{files: {{a.parquet: [{{a: {10**30}}}]}}}}}}",
            "cannot be written as parquet",
        ),
        ("{input_files: {../a: x}, expected: {output: 1}}", "within the work folder"),
        ("{input_files: {a.bin: no base64}, expected: {output: 1}}", "binary content is base64"),
        (
            "{input_files: [{path: a, from: nowhere}], expected: {output: 1}}",
            "nowhere: cannot be read",
        ),
        ("{input_files: [{path: a}], expected: {output: 1}}", "either `content` or `from`"),
        (
            "{arguments: ['{{saved:x}}'], expected: {output: 1}}",
            "no earlier case of the group saves `x`",
        ),
        ("{save: {x: outpt.id}, expected: {output: 1}}", "did you mean 'output'?"),
        ("{arguments: ['{{static:x}}'], expected: {output: 1}}", "no static asset `x`"),
        ("{expected: {output: ['{{ static:x }}']}}", "no static asset `x`"),
    ],
)
def test_mistakes_are_told_with_file_and_line(tmp_path: Path, case: str, said: str) -> None:
    bench = Bench(tmp_path, f"cases:\n  one: {case}\n")
    with pytest.raises(InputError) as caught:
        bench.drawn()
    assert said in str(caught.value)
    assert str(caught.value.where).endswith("one/core.yaml:2")


def test_a_mistake_deep_in_a_case_has_its_own_line(tmp_path: Path) -> None:
    cases = """
    cases:
      one:
        expected:
          status_code: 0
          files:
            a.json: {x: 1}
            b.json:
              check: jsn
              value: 1
    """
    with pytest.raises(InputError, match=r"core\.yaml:7"):
        Bench(tmp_path, cases).drawn()


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({}, "has no cases"),
        ({"one/core.yaml": "cases: {}\n"}, "must be a mapping of ids to cases"),
        ({"one/core.yaml": "case: {}\n"}, "there is no key `case`"),
        (
            {"one/core.yaml": "cases: {a: {expected: {output: 1}}}\n", "one/core/a.yaml": ""},
            "keep one",
        ),
    ],
)
def test_where_cases_must_be(tmp_path: Path, files: dict[str, str], said: str) -> None:
    problem = read_problem(write_files(tmp_path, {"config.yaml": CLI, "one/spec.md": "", **files}))
    checkpoint = problem.checkpoints["one"]

    async def draw() -> None:
        async with DeclarativeSource(problem).open(checkpoint, checkpoint.groups["core"]) as stream:
            await stream.draw()

    with pytest.raises(InputError, match=said):
        asyncio.run(draw())


GONE = "{check: file_exists, value: false}"
THERE = "{check: file_exists, value: true}"


def of_file(tmp_path: Path, name: str, check: str, **answer: Any) -> VerificationResult:
    """What one check of one file says of an answer."""
    cases = f"cases: {{one: {{expected: {{status_code: 0, files: {{{name}: {check}}}}}}}}}"
    bench = Bench(tmp_path, cases)
    (drawn,) = bench.drawn()
    found: dict[str, VerificationResult] = bench.results(drawn, **answer)
    return found[f"files-{name}"]


@pytest.mark.parametrize(
    "answer",
    [
        {"left": {"old.csv": "70000000 bytes, more than may be brought back"}},
        {"left": {"old.csv": "a symbolic link"}},
        {"left": {"old.csv": "a folder"}},
        {"files": {"old.csv/inner.txt": "text"}},
    ],
)
def test_a_file_that_was_not_brought_back_is_there(tmp_path: Path, answer: Any) -> None:
    gone = of_file(tmp_path, "old.csv", GONE, **answer)
    assert gone.is_correct is False
    assert "exists, unexpectedly; could not be brought back: " in gone.diff
    assert of_file(tmp_path, "old.csv", THERE, **answer).is_correct is True
    for check in (
        "[{a: 1}]",
        "text",
        "{check: file_pattern, value: x}",
        "{check: not_value, value: x}",
    ):
        content = of_file(tmp_path, "old.csv", check, **answer)
        assert content.is_correct is False
        assert "could not be brought back: " in content.diff
    for path in ("./old.csv", "old.csv/", ".//old.csv"):
        assert of_file(tmp_path, path, GONE, **answer).is_correct is False


@pytest.mark.parametrize(
    "answer",
    [
        {"left": {"out": "a symbolic link"}},
        {"left": {"out": "a folder that cannot be opened"}},
        {"files_unknown": "the server had ended"},
    ],
)
def test_what_cannot_be_looked_at_neither_is_nor_is_not_there(tmp_path: Path, answer: Any) -> None:
    for check in (GONE, THERE, "text"):
        found = of_file(tmp_path, "out/a.txt", check, **answer)
        assert found.is_correct is False
        assert found.diff.count("absent") == 0


@pytest.mark.parametrize("left", [{}, {"out": "a folder"}, {"...": "more than 10000 files"}])
def test_what_is_not_there_is_absent(tmp_path: Path, left: Any) -> None:
    assert of_file(tmp_path, "out/a.txt", GONE, left=left).is_correct is True
    assert of_file(tmp_path, "out/a.txt", THERE, left=left).diff == "absent"


def test_files_of_all_comparisons_are_asked_for_by_their_names(tmp_path: Path) -> None:
    cases = """
    cases:
      one:
        save: {n: 'files["saved.json"].n'}
        expected:
          status_code: 0
          files: {"a[1]*.txt": x, ./.hidden: y}
          checks: {'files["b.json"].n': 1, output.n: 1}
    """
    (drawn,) = Bench(tmp_path, cases).drawn()
    assert drawn.case.tracked_files == ["*.log", "a[[]1][*].txt", ".hidden", "b.json", "saved.json"]


@pytest.mark.parametrize("name", ["../up", "/etc/passwd"])
def test_a_file_outside_the_work_folder_is_refused(tmp_path: Path, name: str) -> None:
    cases = f"cases: {{one: {{expected: {{status_code: 0, files: {{{name}: {GONE}}}}}}}}}"
    with pytest.raises(InputError, match="is not in the work folder"):
        Bench(tmp_path, cases).drawn()


def test_a_saved_name_is_found_however_it_is_written(tmp_path: Path) -> None:
    cases = f"""
    cases:
      make: {{save: {{n: output.n}}, expected: {{status_code: 0}}}}
      look: {{expected: {{status_code: 0, files: {{"{{{{saved:n}}}}.csv": {GONE}}}}}}}
    """
    bench = Bench(tmp_path, cases)
    _, look = bench.drawn({"output": {"n": ".//a[1]"}})
    assert look.case.tracked_files == ["*.log", "a[[]1].csv"]
    assert bench.verify(look, files={"a[1].csv": ""})["files-{{saved:n}}.csv"] is False
    assert bench.verify(look)["files-{{saved:n}}.csv"] is True
    _, outside = bench.drawn({"output": {"n": "../a"}})
    assert bench.verify(outside)["files-{{saved:n}}.csv"] is False
