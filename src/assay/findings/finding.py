"""Findings, and the lint rules that produce them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Generic, Literal, TypeAlias, TypeVar, overload

from assay import plugins
from assay.documents import Mistake, Place
from assay.errors import InputError, nearest
from assay.findings.baseline import Baseline, BaselineEntry
from assay.findings.sarif import fingerprint

Severity: TypeAlias = Literal["error", "warning", "note"]
Subject = TypeVar("Subject")
Check: TypeAlias = Callable[[Subject], Iterable["Finding"]]
# Under this code every subject reports input that it cannot read.
UNREADABLE = "unreadable"


@dataclass(frozen=True)
class Finding:
    """A defect of a file: its code, message, place and advice.

    `case` is the id of the question, case or test that has it. `identity` tells findings of one
    code in one file apart where the message may change from run to run. `properties` are values for
    programs, which SARIF shows beside it.
    """

    code: str
    message: str
    place: Place
    advice: str = ""
    case: str | None = None
    severity: Severity = "error"
    identity: str = ""
    properties: Mapping[str, Any] = field(default_factory=dict, compare=False)

    @classmethod
    def of_mistake(cls, mistake: Mistake) -> Finding:
        return cls(mistake.code, mistake.message, mistake.place, mistake.advice)

    def error(self) -> InputError:
        """Return the finding as an error, for callers that cannot go on."""
        return InputError(self.message, where=str(self.place), advice=self.advice or None)

    @property
    def entry(self) -> BaselineEntry:
        """Return the baseline entry of the finding, independent of its line."""
        case = self.case or self.place.file.as_posix()
        return BaselineEntry(case=case, code=self.code, fingerprint=fingerprint(self, Path.cwd()))

    def describe(self) -> dict[str, Any]:
        """Return the finding as JSON."""
        return {
            "code": self.code,
            "severity": self.severity,
            "message": self.message,
            "file": str(self.place.file),
            "line": self.place.line,
            "advice": self.advice,
            "case": self.case,
        }


def refuse_errors(findings: Iterable[Finding], subject: str) -> None:
    """Raise the first finding that is an error, with the number of others."""
    errors = [finding for finding in findings if finding.severity == "error"]
    if not errors:
        return
    first = errors[0].error()
    if len(errors) > 1:
        more = f"(and {len(errors) - 1} more; `assay {subject} lint` lists all)"
        first.advice = f"{first.advice}\n  {more}" if first.advice else more
    raise first


@dataclass(frozen=True)
class Rule(Generic[Subject]):
    """A code, its maximum severity, its meaning and its advice.

    `check` finds defects of this kind. Rules that reading a file applies have none.
    """

    code: str
    severity: Severity
    title: str
    help: str
    check: Check[Subject] | None = None


class Rules(Mapping[str, Rule[Subject]]):
    """The lint rules of one subject by code, in the order in which they were added."""

    def __init__(self, *rules: Rule[Subject]) -> None:
        self._rules: dict[str, Rule[Subject]] = {}
        for one in rules:
            self.add(one)

    def __getitem__(self, code: str) -> Rule[Subject]:
        return self._rules[code]

    def __iter__(self) -> Iterator[str]:
        return iter(self._rules)

    def __len__(self) -> int:
        return len(self._rules)

    def add(self, rule: Rule[Subject]) -> None:
        """Add a rule; its code must be new."""
        if rule.code in self._rules:
            raise ValueError(f"the lint code {rule.code!r} is registered already")
        self._rules[rule.code] = rule

    def rule(
        self,
        code: str,
        severity: Severity,
        title: str,
        help: str,  # noqa: A002 - SARIF's word
    ) -> Callable[[Check[Subject]], Check[Subject]]:
        """Add a function as the check of a new rule."""

        def register(check: Check[Subject]) -> Check[Subject]:
            self.add(Rule(code, severity, title, help, check))
            return check

        return register

    def load_plugins(self, subject: str) -> None:
        """Add the rules that installed packages have for a subject."""
        for name, rule in plugins.load_all("rules").items():
            about, _, code = name.partition(".")
            if about != subject or code in self._rules:
                continue
            if not isinstance(rule, Rule) or rule.code != code:
                raise InputError(f"the plugin {name!r} is not a lint rule with the code {code!r}")
            self.add(rule)

    def check_codes(self, codes: Iterable[str]) -> None:
        """Raise an InputError for an unknown code: ignoring it would have no effect."""
        for code in codes:
            if code not in self._rules:
                raise InputError(f"unknown lint code {code!r}", advice=nearest(code, self._rules))

    def apply(self, subject: Subject) -> Iterator[Finding]:
        """Yield what the checks of all rules find, with the severity of their rule."""
        for rule in self._rules.values():
            for finding in () if rule.check is None else rule.check(subject):
                yield replace(finding, severity=rule.severity)


@dataclass(frozen=True)
class Findings(Sequence[Finding]):
    """What lint found, sorted by place. `skipped` are notes on files that were not linted."""

    found: list[Finding]
    rules: Mapping[str, Rule[Any]] = field(default_factory=dict)
    skipped: list[str] = field(default_factory=list)
    accepted: int = 0

    @classmethod
    def of(
        cls,
        found: Iterable[Finding],
        rules: Mapping[str, Rule[Any]],
        *,
        ignore: Collection[str] = (),
        skipped: Iterable[str] = (),
    ) -> Findings:
        """Sort findings, without repetitions and without the codes in `ignore`."""
        kept = {finding for finding in found if finding.code not in ignore}
        return cls(sorted(kept, key=_sort_key), rules, list(skipped))

    def accept(self, baseline: Baseline) -> Findings:
        """Return the findings that a baseline does not contain; unreadable input always stays."""
        new = [one for one in self if one.code == UNREADABLE or not baseline.accepts(one)]
        return replace(self, found=new, accepted=len(self) - len(new))

    @overload
    def __getitem__(self, index: int) -> Finding: ...
    @overload
    def __getitem__(self, index: slice) -> list[Finding]: ...
    def __getitem__(self, index: int | slice) -> Finding | list[Finding]:
        return self.found[index]

    def __len__(self) -> int:
        return len(self.found)

    @property
    def exit_code(self) -> int:
        """Return 2 if something cannot be read, 1 for other errors and warnings, else 0."""
        if any(one.code == UNREADABLE and one.severity == "error" for one in self.found):
            return 2
        return int(any(finding.severity != "note" for finding in self.found))

    def report(self, format: str = "text") -> str:  # noqa: A002 - as `Run.report`
        """Return the findings as `text`, `json`, `sarif` or `github`."""
        from assay.findings.formats import format_findings

        return format_findings(self, format)

    def _repr_html_(self) -> str:
        from assay.findings.formats import format_html

        return format_html(self)


def _sort_key(finding: Finding) -> tuple[str, int, str, str]:
    return (str(finding.place.file), finding.place.line, finding.code, finding.message)
