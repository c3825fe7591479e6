"""Whatever a suite looks like and whatever is written into it, only the changed field changes."""

from __future__ import annotations

import json
import string
from dataclasses import dataclass

import yaml
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from assay.errors import InputError
from assay.questions.correct.editing import definition_of, edit_suite

FIELDS = ("question", "options.A", "options.B", "options.C", "correct_answer", "explanation")
_WORDS = st.text(string.ascii_letters + "éß漢🙂`'\"#:-{}[],&*!|>%@\\", min_size=1, max_size=6)
PROSE = st.lists(_WORDS, min_size=1, max_size=25).map(" ".join)
LINES = st.lists(PROSE | st.just("") | PROSE.map(lambda text: f"    {text}"), max_size=4)
TEXTS = (
    PROSE
    | LINES.map("\n".join)
    | st.text(max_size=20)
    | st.sampled_from(
        ["", " ", "yes", "null", "1.10", "- a", "a\n", "\n\na", "a  b", "\u2028", "\t"]
    )
)


@dataclass(frozen=True)
class Written:
    """A suite as pieces; a piece with a name is the value of a field of the second question."""

    pieces: tuple[tuple[str, str | None], ...]
    newline: str

    @property
    def text(self) -> str:
        return "".join(piece for piece, _ in self.pieces).replace("\n", self.newline)

    def around(self, name: str) -> tuple[str, str]:
        """What stands before and after the value of a field."""
        place = next(number for number, piece in enumerate(self.pieces) if piece[1] == name)
        before = "".join(piece for piece, _ in self.pieces[:place])
        after = "".join(piece for piece, _ in self.pieces[place + 1 :])
        return before.replace("\n", self.newline), after.replace("\n", self.newline)


@st.composite
def value(draw: st.DrawFn, indent: int) -> str:
    """A text in one of the styles that a suite uses; a block ends before its last line break."""
    style = draw(st.sampled_from(["plain", "single", "double", "|", ">", "wrapped"]))
    words = draw(st.lists(st.text(string.ascii_letters + "é.", min_size=1), min_size=1, max_size=9))
    chomp = draw(st.sampled_from(["", "-", "+"]))
    depth = " " * (indent + draw(st.integers(1, 4)))
    match style:
        case "plain":
            return "x" + " ".join(words)
        case "wrapped":
            return f"\n{depth}".join(["x", *words])
        case "single":
            return "'" + draw(PROSE).replace("'", "''") + "'"
        case "double":
            # YAML has no pairs of escapes for one character, as JSON does.
            return json.dumps(draw(PROSE.filter(lambda text: "🙂" not in text)))
    comment = draw(st.sampled_from(["", "  # a header"]))
    lines = [f"{depth}{word}" for word in words]
    return "\n".join([f"{style}{chomp}{comment}", *lines])


@st.composite
def filler(draw: st.DrawFn, after: str = "") -> str:
    """What may stand between fields: comments, blank lines, spaces."""
    # As deep as a block, a comment would be a line of it.
    notes = ["", "# - id: no", "  "] + ([] if after[:1] in ("|", ">") else ["    # ü: note"])
    lines = draw(st.lists(st.sampled_from(notes), max_size=2))
    return "\n".join(["", *lines, ""])


@st.composite
def suites(draw: st.DrawFn) -> Written:
    pieces: list[tuple[str, str | None]] = [
        ("# ü\nbenchmarks:\n- id: other\n  question: x\n", None)
    ]
    pieces.append(("- id: one  # it", None))
    written = ""
    for name in FIELDS:
        if name == "options.A":
            pieces.append((f"{draw(filler(written))}  options:", None))
            written = ""
        indent = 4 if name.startswith("options") else 2
        key = draw(st.sampled_from(["{}", "'{}'", '"{}"'])).format(name.rpartition(".")[2])
        pieces.append((f"{draw(filler(written))}{' ' * indent}{key}: ", None))
        written = draw(value(indent))
        is_block = written[0] in "|>"
        pieces.append((written, name))
        trailing = "" if is_block else draw(st.sampled_from(["", "  ", "  # why: é"]))
        pieces.append((trailing, None))
    pieces.append((f"{draw(filler(written))}- id: last\n  question: &q y\n", None))
    return Written(tuple(pieces), draw(st.sampled_from(["\n", "\r\n"])))


def read(text: str) -> list[dict[str, object]]:
    found: list[dict[str, object]] = yaml.load(text, yaml.BaseLoader)["benchmarks"]
    return found


def put(question: dict[str, object], name: str, text: object) -> None:
    if name.startswith("options."):
        question["options"][name[8:]] = text  # type: ignore[index]
    else:
        question[name] = text


def got(question: dict[str, object], name: str) -> object:
    return question["options"][name[8:]] if "." in name else question[name]  # type: ignore[index]


@settings(max_examples=120, suppress_health_check=[HealthCheck.too_slow])
@given(suites(), st.sampled_from(FIELDS), TEXTS)
def test_only_the_field_changes_byte_for_byte(suite: Written, name: str, text: str) -> None:
    before = suite.text
    after = edit_suite(before, "one", {name: text})
    first, last = suite.around(name)
    assert after.startswith(first)
    assert after.endswith(last)
    assert len(after) >= len(first) + len(last)
    expected, actual = read(before), read(after)
    said = got(actual[1], name)
    # A block keeps the breaks that end it; nothing else may be added.
    assert said == text or (isinstance(said, str) and said.rstrip("\n") == text.rstrip("\n"))
    put(expected[1], name, said)
    assert actual == expected
    if suite.newline == "\r\n":
        assert "\n" not in after.replace("\r\n", "")


@settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow])
@given(suites(), st.dictionaries(st.sampled_from(FIELDS), PROSE, min_size=2))
def test_several_fields_change_and_change_back(suite: Written, changes: dict[str, str]) -> None:
    before = suite.text
    values = {name: got(read(before)[1], name) for name in changes}
    changed = edit_suite(before, "one", changes)
    assert {name: str(got(read(changed)[1], name)).rstrip("\n") for name in changes} == changes
    again = edit_suite(changed, "one", values)
    assert read(again) == read(before)


@settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow])
@given(suites(), TEXTS, st.booleans())
def test_an_option_comes_and_goes(suite: Written, text: str, removes: bool) -> None:
    before = suite.text
    came = edit_suite(before, "one", {"options.D": text})
    expected = read(before)
    put(expected[1], "options.D", text)
    assert read(came) == expected
    # What is put in is put between what was there.
    shared = len(before) - next(
        (n for n in range(len(before)) if before[n] != came[n]), len(before)
    )
    assert came.endswith(before[len(before) - shared :])
    if removes:
        assert read(edit_suite(came, "one", {"options.D": None})) == read(before)


@given(
    st.dictionaries(st.sampled_from("ABC"), st.text(), min_size=1),
    st.text(),
    st.sampled_from([None, 1, 2, "\t"]),
    st.booleans(),
)
def test_json_changes_only_the_string(
    options: dict[str, str], text: str, indent: int | str | None, escapes: bool
) -> None:
    name = min(options)
    suite = {"benchmarks": [{"id": "one", "options": options, "more": [1.5, None, True]}]}
    before = json.dumps(suite, indent=indent, ensure_ascii=escapes)
    assume(before.isascii() or "\ud800" not in before)
    after = edit_suite(before, "one", {f"options.{name}": text}, suffix=".json")
    key = json.dumps(name) + ": "
    start = before.index(key, before.index('"options"')) + len(key)
    old = json.dumps(options[name], ensure_ascii=escapes)
    assert before[start:].startswith(old)
    assert after.startswith(before[:start])
    assert after.endswith(before[start + len(old) :])
    suite["benchmarks"][0]["options"][name] = text  # type: ignore[index]
    assert json.loads(after) == suite
    after.encode()


@given(st.text(max_size=80), st.text(max_size=5), TEXTS)
def test_whatever_the_text_is_there_is_an_answer_or_an_input_error(
    text: str, name: str, value: str
) -> None:
    suite = f"benchmarks:\n- id: x\n  question: {text}\n"
    try:
        after = edit_suite(suite, "x", {name: "a", "question": value})
    except InputError:
        return
    assert definition_of(after, "x")["question"] == value
