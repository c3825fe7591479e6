"""Turns a `response` into checks and reports tests that are invalid or can never pass."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from assay.agents.model import SECTIONS, Check, Section
from assay.agents.testfile.source import FileSource
from assay.checks import ABSENT, run_check
from assay.documents import KeyPath
from assay.errors import InputError, nearest
from assay.findings import Finding

_POSITIVE = ("value", "less", "greater", "keywords", "gist")
TESTS: Final = tuple(name for test in _POSITIVE for name in (test, f"not_{test}"))
_ORDERINGS = frozenset({"less", "not_less", "greater", "not_greater"})
_EQUALITIES = frozenset({"value", "not_value"})
_DICTIONARY_ADVICE = "to compare with a dictionary, write it in a list: [{…}]"


@dataclass
class CriteriaReader:
    """Reads the responses of one file and collects their problems."""

    source: FileSource
    problems: list[Finding] = field(default_factory=list)

    def read_checks(self, response: Any, at: KeyPath) -> tuple[Check, ...]:
        """Return all checks of a response, in the order of the file."""
        given = response if isinstance(response, dict) else {}
        sections = [one for key in given for one in SECTIONS if one == key]
        return tuple(
            check for one in sections for check in self._section(one, given[one], (*at, one))
        )

    def _section(self, section: Section, tests: Any, at: KeyPath) -> Iterator[Check]:
        if section != "text":
            yield from self._read_nested(section, (), tests, at)
        elif self._is_object(tests, at, "text"):
            yield from self._tests(section, (), tests, at)

    def _read_nested(
        self, section: Section, path: tuple[str, ...], tests: Any, at: KeyPath
    ) -> Iterator[Check]:
        """Yield the checks of an object of tests, or of an object of such objects."""
        if not self._is_object(tests, at, str(at[-1])):
            return
        are_objects = [isinstance(inner, dict) for inner in tests.values()]
        if all(are_objects):
            for key, inner in tests.items():
                if self._is_single_key(key, (*at, key)):
                    yield from self._read_nested(section, (*path, key), inner, (*at, key))
        elif any(are_objects):
            self._refuse_mixture(tests, at)
        elif not path:
            self._refuse_section(section, tests, at)
        else:
            yield from self._tests(section, path, tests, at)

    def _is_object(self, tests: Any, at: KeyPath, name: str) -> bool:
        if not isinstance(tests, dict):
            message = f"`{name}` must be an object of tests, not {self.source.preview(tests)}"
            advice = 'for example {"keywords": "…"}'
            self._refuse("wrong-value", message, at, advice)
        elif not tests:
            self._refuse("empty-test", f"`{name}` tests nothing", at, "give it a test or remove it")
        else:
            return True
        return False

    def _is_single_key(self, key: str, at: KeyPath) -> bool:
        if "." in key:
            message = f"the key `{key}` has a dot in it, and would never be found"
            self._refuse("unknown-key", message, at, "nest the keys: one object inside the other")
            return False
        return True

    def _refuse_mixture(self, tests: dict[str, Any], at: KeyPath) -> None:
        inner = next(key for key, value in tests.items() if isinstance(value, dict))
        plain = next(key for key, value in tests.items() if not isinstance(value, dict))
        message = f"`{at[-1]}` mixes tests (`{plain}`) with keys to look into (`{inner}`)"
        advice = "test either the value or what is in it"
        if inner in _EQUALITIES:
            advice = _DICTIONARY_ADVICE
        self._refuse("wrong-value", message, (*at, inner), advice)

    def _refuse_section(self, section: Section, tests: dict[str, Any], at: KeyPath) -> None:
        """Refuse tests of the section itself: only the values of its keys can be tested."""
        for key in tests:
            if key in TESTS:
                message = f"`{key}` is directly in `{section}`, which is a dictionary"
                advice = f'name the key to test: {{"some_key": {{"{key}": …}}}}'
            else:
                message = f"`{key}` must be an object of tests"
                value = tests[key]
                # A list is several tests and null is none: both are compared as one item of a list.
                compared = [value] if value is None or isinstance(value, list) else value
                advice = f'for example {{"value": {self.source.format_value(compared)}}}'
            self._refuse("wrong-value", message, (*at, key), advice)

    def _tests(
        self, section: Section, path: tuple[str, ...], tests: dict[str, Any], at: KeyPath
    ) -> Iterator[Check]:
        found: list[Check] = []
        for test, given in tests.items():
            here = (*at, test)
            if test not in TESTS:
                self._refuse_unknown(section, test, at)
            elif isinstance(given, dict):
                advice = "text has no keys to look into" if section == "text" else ""
                message = f"there is nothing to test in {self.source.preview(given)}"
                self._refuse("wrong-value", message, here, advice or _DICTIONARY_ADVICE)
            else:
                found += self._values(section, path, test, given, here)
        self._refuse_contradictions(found)
        yield from found

    def _refuse_unknown(self, section: Section, test: str, at: KeyPath) -> None:
        advice = nearest(test, TESTS)
        # `value: {…}` reads as a key called value, inside which something is tested.
        if section != "text" and at[-1] in _EQUALITIES:
            advice = _DICTIONARY_ADVICE
        self._refuse("unknown-test", f"there is no test `{test}`", (*at, test), advice)

    def _values(
        self, section: Section, path: tuple[str, ...], test: str, given: Any, at: KeyPath
    ) -> Iterator[Check]:
        values = given if isinstance(given, list) else [given]
        if given is None or not values:
            what, wanted = ("null", "[null]") if given is None else ("an empty list", "[[]]")
            is_comparable = section != "text" and test in _EQUALITIES
            advice = f"to compare, write {wanted}" if is_comparable else "give it a value"
            self._refuse("empty-test", f"`{test}` has {what}: nothing to test", at, advice)
            return
        for index, value in enumerate(values):
            here = (*at, index) if isinstance(given, list) else at
            if problem := _explain_impossible(section, test, value, self.source.preview):
                self._refuse("impossible-test", f"`{test}`: {problem[0]}", here, problem[1])
                continue
            several = index if len(values) > 1 else None
            yield Check(section, path, test, value, self.source.find_place(here), several)

    def _refuse_contradictions(self, checks: list[Check]) -> None:
        """Refuse pairs of which at most one can pass."""
        for index, check in enumerate(checks):
            for other in checks[:index]:
                if _contradict(check, other):
                    message = (
                        f"`{other.test}` {self.source.preview(other.value)} and `{check.test}` "
                        f"{self.source.preview(check.value)} can never both pass"
                    )
                    self.problems.append(
                        Finding("impossible-test", message, check.place, "remove one of them")
                    )

    def _refuse(self, code: str, message: str, at: KeyPath, advice: str) -> None:
        self.problems.append(Finding(code, message, self.source.find_place(at), advice))


def _explain_impossible(
    section: Section, test: str, value: Any, preview: Callable[[Any], str]
) -> tuple[str, str] | None:
    """Return why a test can never pass (or never fail) for any answer, and what to do."""
    if test.endswith("gist"):
        if isinstance(value, str) and value.strip():
            return None
        return f"{preview(value)} is not a criterion", "write in a sentence what must be true"
    if section == "text" and not isinstance(value, str):
        advice = "write texts" if isinstance(value, dict | list) else "put it in quotes"
        return f"the text of an answer is never {preview(value)}", advice
    if section == "text" and test == "value" and not value.strip():
        return "an agent that says nothing has no text", "test what it should say"
    if test in _ORDERINGS and not isinstance(value, int | float | str | list):
        return f"nothing can be compared with {preview(value)}", "give a number or a text"
    try:
        run_check(test, ABSENT, [value])
    except InputError as error:
        return error.what.partition(": ")[2] or error.what, error.advice or ""
    return None


def _contradict(check: Check, other: Check) -> bool:
    if check.test == other.test == "value":
        return not _same(check.value, other.value)
    opposite = check.test == f"not_{other.test}" or other.test == f"not_{check.test}"
    return opposite and _same(check.value, other.value)


def _same(one: Any, other: Any) -> bool:
    return bool(one == other)
