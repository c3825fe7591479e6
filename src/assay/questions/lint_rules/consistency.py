"""Rules that compare a question with its snippet, with other questions, and with its suite."""

from __future__ import annotations

import ast
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from assay.findings import Finding
from assay.questions.lint_rules.context import Linted, is_compound, normalise, rule
from assay.questions.model import Question, SuiteEntry
from assay.questions.suite.suite import Suite

_NUMBER = r"-?\d+(?:\.\d+)?(?![\w.]*\w)"
_TEXT = r"'[^'\n]*'|\"[^\"\n]*\""
_NAME = r"`(?P<name>[A-Za-z_]\w*)`"
# "`x` equal to …" and "set `x` to …" state any value; "`x` of …" only one that is plainly a value.
_STATED = (
    re.compile(
        rf"{_NAME}\s+(?:is\s+)?(?:set|equal)\s+to\s+(?:`(?P<code>[^`]+)`|(?P<bare>{_NUMBER}|{_TEXT}))"
    ),
    re.compile(
        rf"\bset(?:s|ting)?\s+{_NAME}\s+to\s+(?:`(?P<code>[^`]+)`|(?P<bare>{_NUMBER}|{_TEXT}))"
    ),
    re.compile(
        rf"{_NAME}\s+(?:of|is)\s+(?:`(?P<code>{_NUMBER}|{_TEXT})`|(?P<bare>{_NUMBER}|{_TEXT}))"
    ),
    re.compile(r"`(?P<name>[A-Za-z_]\w*)\s*=\s*(?P<code>[^`=]+)`(?P<bare>)"),
)
_COLLECTIONS = (list, tuple, dict, set)
# Fewer keys than this show no bias, and a bias more likely than this may be chance.
_ENOUGH_KEYS = 20
_UNLIKELY = 0.01
_FENCED = re.compile(r"```.*?```", re.DOTALL)
# Sentences in which a value is not what the code has but what it might have, must have or lacks.
_SUPPOSED = re.compile(
    r"\b(?:if|instead|chang\w+|suppose|would|could|can|may|might|should|must|default\w*|not"
    r"|without|never|except|rather|other than|becomes?|expect\w*|require\w*|allow\w*|replac\w+"
    r"|fix\w*|add\w*|want|compar\w+|e\.g\.|such as|like|for example|after|before|previous\w*"
    r"|original\w*)\b|n't\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class _Value:
    """A value as its literal, or as the last part of a dotted name such as `sys.maxsize`."""

    shown: str
    literal: object = None
    name: str | None = None

    def differs(self, other: _Value) -> bool:
        """Tell whether two values cannot be the same; a number and a list are not compared."""
        if self.name is not None or other.name is not None:
            return self.name != other.name
        if isinstance(self.literal, _COLLECTIONS) != isinstance(other.literal, _COLLECTIONS):
            return False
        return self.literal != other.literal and str(self.literal) != str(other.literal)


@rule(
    "text-contradicts-snippet",
    "error",
    "Question and code disagree",
    "The question gives a name another value than its code does, so that its answer depends on "
    "which of the two is believed. Make them agree.",
)
def text_contradicts_snippet(linted: Linted) -> Iterator[Finding]:
    for _, entry, question in linted.questions():
        if question.snippet is None:
            continue
        for name, said, written in _disagreements(question.text, question.snippet.code):
            yield Finding(
                "text-contradicts-snippet",
                f"the question says that `{name}` is {said}, its code says {written}",
                entry.place("question"),
                "correct the question or the code",
                entry.id,
            )


def _disagreements(text: str, code: str) -> Iterator[tuple[str, str, str]]:
    said = list(_read_statements(text))
    bound = _read_bindings(code) if said else {}
    for name, value in said:
        written = bound.get(name)
        # A value that cannot be read off the code may be anything, also what the text says.
        if written and all(one is not None and value.differs(one) for one in written):
            yield name, value.shown, " or ".join(one.shown for one in written if one is not None)


def _read_statements(text: str) -> Iterator[tuple[str, _Value]]:
    """Yield the values that a text plainly states."""
    for sentence in re.split(r"(?<=[.?!:;])\s+", _FENCED.sub(" ", text)):
        if _SUPPOSED.search(sentence):
            continue
        for stated in _STATED:
            for match in stated.finditer(sentence):
                value = _read(match["code"] or match["bare"])
                if value is not None:
                    yield match["name"], value


def _read(shown: str) -> _Value | None:
    try:
        return _value(ast.parse(shown.strip(), mode="eval").body, {})
    except (SyntaxError, ValueError, RecursionError):
        return None


def _value(node: ast.expr, known: Mapping[str, _Value | None]) -> _Value | None:
    if isinstance(node, ast.Name):
        return known.get(node.id)
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name | ast.Attribute):
        return _Value(ast.unparse(node), name=node.attr)
    try:
        literal = ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return None
    return _Value(ast.unparse(node), literal) if literal is not ... else None


def _read_bindings(code: str) -> dict[str, list[_Value | None]]:
    """Return every value that code gives to a name: as a variable, an argument or a key."""
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError):
        return {}
    known = _variables(tree)
    bound: dict[str, list[_Value | None]] = {}
    for name, value in _bindings(tree):
        bound.setdefault(name, []).append(_value(value, known))
    return bound


def _variables(tree: ast.AST) -> dict[str, _Value | None]:
    """Return the variables that are assigned once and to something that can be read off."""
    assigned: dict[str, list[ast.expr]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            assigned.setdefault(node.id, [])
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            assigned.setdefault(node.targets[0].id, []).append(node.value)
    return {name: _value(all_[0], {}) for name, all_ in assigned.items() if len(all_) == 1}


def _bindings(tree: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.keyword) and node.arg is not None:
            yield node.arg, node.value
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    yield target.id, node.value
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            if isinstance(node.target, ast.Name):
                yield node.target.id, node.value
        elif isinstance(node, ast.Dict):
            for key, value in zip(node.keys, node.values, strict=True):
                if isinstance(key, ast.Constant) and isinstance(key.value, str):
                    yield key.value, value


@rule(
    "same-statement-keyed-differently",
    "error",
    "The same answer to the same question is right here and wrong there",
    "Two questions ask the same and offer the same option; it is the key of one and a distractor "
    "of the other. At most one of the keys can be right.",
)
def same_statement_keyed_differently(linted: Linted) -> Iterator[Finding]:
    entries = [entry for _, entry, _ in linted.questions()]
    for entry, letter, other in find_contradictions(entries):
        yield Finding(
            "same-statement-keyed-differently",
            f"option {letter} is a distractor here and the key of {other.id} "
            f"({other.place('correct_answer')}), which asks the same",
            entry.place(f"options.{letter}"),
            "find out which of the two keys is right",
            entry.id,
        )


def find_contradictions(
    entries: Iterable[SuiteEntry],
) -> Iterator[tuple[SuiteEntry, str, SuiteEntry]]:
    """Yield each question with an option that is not its key, but that of one that asks the same.

    An option that speaks of others means the same only where all options are the same.
    """
    sound = [
        (entry, entry.question, entry.key.answer)
        for entry in entries
        if isinstance(entry.question, Question)
        and entry.key is not None
        and entry.key.answer in entry.question.options
    ]
    keyed: dict[tuple[object, ...], SuiteEntry] = {}
    for entry, question, key in sound:
        keyed.setdefault(_statement(question, key), entry)
    for entry, question, key in sound:
        for letter in question.options:
            other = keyed.get(_statement(question, letter))
            if other is not None and other is not entry and letter != key:
                yield entry, letter, other


def _statement(question: Question, letter: str) -> tuple[object, ...]:
    code = question.snippet.code if question.snippet else ""
    text = question.options[letter]
    said: object = normalise(text)
    if is_compound(text):
        options = ((one, normalise(other)) for one, other in question.options.items())
        said = letter, frozenset(options)
    return normalise(question.text).rstrip("?. "), code, said


_CODE_NOUN = r"(?:code|snippet|example|program|script|listing)"
# A call or a path: a bare word may be a keyword, a value or a manner of speaking.
_SHOWN = r"`(?=[^`]*[.(])(?P<name>(?:[A-Za-z_]\w*\.)*[A-Za-z_]\w*)(?:\([^`]*\))?`"
# Sentences that say outright that the code has a name: "the snippet calls `x.run()`".
_SAID_OF_CODE = (
    re.compile(
        rf"\b(?:the|this)\s+(?:\w+\s+)?{_CODE_NOUN}\s+(?:\w+\s+)?"
        rf"(?:calls|uses|defines|invokes|imports|creates|instantiates|awaits|constructs)\s+"
        rf"(?:the\s+\w+\s+|an?\s+)?{_SHOWN}",
        re.IGNORECASE,
    ),
    re.compile(
        rf"{_SHOWN}\s+(?:is\s+)?(?:defined|called|used|shown|imported|created)\s+(?:in|by)\s+"
        rf"(?:the|this)\s+(?:\w+\s+)?{_CODE_NOUN}\b",
        re.IGNORECASE,
    ),
)


@rule(
    "text-names-missing-code",
    "error",
    "The question speaks of code that is not there",
    "The question says that its code calls, uses or defines a name, and the code has no such name. "
    "Correct the question, or refer to the right section.",
)
def find_names_missing_from_snippet(linted: Linted) -> Iterator[Finding]:
    for suite, entry, question in linted.questions():
        if question.snippet is None:
            continue
        for name in _names_said_of_code(question.text):
            last = name.rpartition(".")[2]
            if not re.search(rf"\b{re.escape(last)}\b", _all_code(suite, entry.id, question)):
                yield Finding(
                    "text-names-missing-code",
                    f"the text speaks of `{name}`, the snippet has no such name",
                    entry.place("question"),
                    "correct the question or the code",
                    entry.id,
                )


def _names_said_of_code(text: str) -> Iterator[str]:
    for sentence in re.split(r"(?<=[.?!:;])\s+", _FENCED.sub(" ", text)):
        if not _SUPPOSED.search(sentence):
            for said in _SAID_OF_CODE:
                yield from (match["name"] for match in said.finditer(sentence))


def _all_code(suite: Suite, question_id: str, question: Question) -> str:
    """Return the section, its imports, the file it stands in, and code in the text itself."""
    assert question.snippet is not None
    reference = suite.references.get(question_id)
    whole = suite.snippets.get(reference.file).text if suite.snippets and reference else ""
    fenced = "\n".join(_FENCED.findall(question.text))
    return "\n".join([question.snippet.code, *question.snippet.imports, whole, fenced])


@rule(
    "answer-position-bias",
    "warning",
    "The right answers favour a position",
    "Always picking the most frequent letter does better than chance, and so does a model that "
    'prefers it. Shuffle the options. Keys such as "None of the above" are not counted.',
)
def answer_position_bias(linted: Linted) -> Iterator[Finding]:
    for suite in linted.suites:
        letters, counts = _positions(suite)
        total = sum(counts.values())
        if total < _ENOUGH_KEYS or len(letters) < 2:
            continue
        probability = chance([counts[letter] for letter in letters])
        if probability < _UNLIKELY:
            shown = ", ".join(f"{letter} {counts[letter]}" for letter in letters)
            yield Finding(
                "answer-position-bias",
                f"of {total} keys {shown}: chance would do that in {probability:.1g} of all suites",
                suite.places["benchmarks"],
                "shuffle the options of each question",
            )


def _positions(suite: Suite) -> tuple[tuple[str, ...], Counter[str]]:
    """Return how often each letter is keyed, in the questions with the most usual set of options.

    Options about other options have their fixed place and are left out, as are their keys.
    """
    groups: dict[tuple[str, ...], Counter[str]] = {}
    for entry in suite.entries:
        question, key = entry.question, entry.key
        if not isinstance(question, Question) or key is None:
            continue
        letters = tuple(one for one, text in question.options.items() if not is_compound(text))
        if key.answer in letters:
            groups.setdefault(letters, Counter())[key.answer] += 1
    return max(groups.items(), key=lambda group: group[1].total(), default=((), Counter()))


def chance(counts: Sequence[int]) -> float:
    """Return the probability of counts at least this uneven (chi-square)."""
    expected = sum(counts) / len(counts)
    statistic = sum((count - expected) ** 2 / expected for count in counts)
    return _chi_square_tail(statistic, len(counts) - 1)


def _chi_square_tail(statistic: float, degrees: int) -> float:
    """P(X > statistic), by the recurrence that goes two degrees of freedom at a time."""
    half = statistic / 2
    if degrees % 2:
        tail, term, power = math.erfc(math.sqrt(half)), math.sqrt(half) / math.gamma(1.5), 1.5
    else:
        tail, term, power = 0.0, 1.0, 1.0
    factor = math.exp(-half)
    for _ in range(degrees // 2):
        tail += factor * term
        term *= half / power
        power += 1
    return tail
