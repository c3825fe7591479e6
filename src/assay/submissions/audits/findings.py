"""Finding types, and how the facts of cases become findings about groups. Pure functions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import TypeAlias

from assay.submissions.audits.changes import MutationKind
from assay.submissions.audits.facts import CaseFacts, Label


@dataclass(frozen=True)
class FindingType:
    """A type of finding: its name, its message and its advice."""

    code: str
    title: str
    advice: str


REFERENCE_FAILS = FindingType(
    "reference-fails",
    "the reference solution does not pass",
    "correct the solution, the expected values or the verifier; until then no submission can pass",
)
FLAKY = FindingType(
    "flaky",
    "the reference solution is right in one run and wrong in the other",
    "compare only what is the same in every run",
)
IDLE_PASSES = FindingType(
    "do-nothing-passes",
    "a submission that does nothing passes",
    "expect something that only a working program gives",
)
NEVER_FAILS = FindingType(
    "never-fails",
    "the check was right in every trial, however wrong the result",
    "make it compare with an expected value, or remove it: it gives part of the score away",
)
COMPARES_NOTHING = FindingType(
    "compares-nothing",
    "the key does not name a part of a result, and its outcome never changes",
    "name the attribute, or `files-<name>`, and compare it",
)
MISSPELT_KEY = FindingType(
    "misspelt-key",
    "the key does not name a part of a result, and is like an attribute that has no judgement",
    "write the attribute's name; the reference program drops such a key, and its failures",
)
INVISIBLE_WEIGHT = FindingType(
    "invisible-weight",
    "the weight is so small that a failure hardly changes the score",
    "give the check a weight that shows",
)
UNREAD_EXPECTATION = FindingType(
    "unread-expectation",
    "the expected value can be anything: no judgement changes with it",
    "compare it in the verifier, or remove it from the case",
)
VERIFIER_BREAKS = FindingType(
    "verifier-breaks",
    "the verifier cannot read a wrong result, and gives no judgement of it",
    "let it return a failed check that says what is wrong with the output",
)
CASES_BROKEN = FindingType(
    "cases-broken",
    "the cases cannot be had",
    "correct the loader or the case files",
)
LOW_SCORE = FindingType(
    "low-score",
    "fewer mutants are rejected than --min-score asks for",
    "look at the accepted mutants; compare more, or lower --min-score if that is meant",
)
FINDING_TYPES = {
    sort.code: sort
    for sort in (
        REFERENCE_FAILS,
        FLAKY,
        IDLE_PASSES,
        NEVER_FAILS,
        COMPARES_NOTHING,
        MISSPELT_KEY,
        INVISIBLE_WEIGHT,
        UNREAD_EXPECTATION,
        VERIFIER_BREAKS,
        CASES_BROKEN,
        LOW_SCORE,
    )
}

# A verifier that accepts more wrong answers than it rejects does not grade.
DEFAULT_MIN_SCORE = 0.5


@dataclass(frozen=True)
class AuditFinding:
    """A defect in the judgement of a group, and the cases that show it."""

    sort: FindingType
    group: str
    subject: str
    """A check, an expected value; empty if it is about whole cases."""
    cases: Mapping[str, str]
    """Case to what was seen in it."""


@dataclass(frozen=True)
class GroupAudit:
    """A group of a checkpoint with all its facts."""

    checkpoint: str
    group: str
    type: str
    cases: list[CaseFacts] = field(default_factory=list)
    broken: str = ""
    """Why there are no (more) cases."""

    @property
    def name(self) -> str:
        return f"{self.checkpoint}/{self.group}"

    @property
    def score(self) -> float | None:
        """The share of mutants that were rejected; None if there were none."""
        return score_of(self.cases)


def percent(score: float | None) -> str:
    """Return a score as a percentage, rounded down so that only a full score shows 100%."""
    return "-" if score is None else f"{int(score * 1000) / 10:.1f}%"


def score_of(cases: Iterable[CaseFacts]) -> float | None:
    """Return the mutation score of some cases."""
    rejected = accepted = 0
    for case in cases:
        rejected += len(case.rejected)
        accepted += len(case.accepted)
    return rejected / (rejected + accepted) if rejected + accepted else None


def count_kinds(cases: Iterable[CaseFacts]) -> dict[MutationKind, tuple[int, int]]:
    """Return the number of mutants of each kind, and how many of them were accepted."""
    made: Counter[MutationKind] = Counter()
    taken: Counter[MutationKind] = Counter()
    for case in cases:
        made.update(label.kind for label in (*case.rejected, *case.accepted))
        taken.update(label.kind for label in case.accepted)
    return {kind: (made[kind], taken[kind]) for kind in MutationKind if made[kind]}


_View: TypeAlias = Callable[[CaseFacts], Iterable[tuple[str, str]]]


def _shares(shares: Mapping[str, float]) -> list[tuple[str, str]]:
    return [(key, f"{share * 100:.2g}% of the weight") for key, share in shares.items()]


def _once(seen: str) -> list[tuple[str, str]]:
    return [("", seen)] if seen else []


def _describe_flaky(case: CaseFacts) -> list[tuple[str, str]]:
    return _once(f"judged differently: {', '.join(case.flaky)}" if case.flaky else "")


def _describe_breaks(case: CaseFacts) -> list[tuple[str, str]]:
    several = [
        f"{label}: {one.error.splitlines()[0]}; {one.attribute} was {one.value!r:.120}"
        for label, one in case.breaks.items()
    ]
    more = f" (and on {len(several) - 1} more)" if several[1:] else ""
    return _once(several[0] + more if several else "")


# How each sort shows in a case: what it is about, and what was seen.
_VIEWS: list[tuple[FindingType, _View]] = [
    (REFERENCE_FAILS, lambda case: _once(case.failure)),
    (FLAKY, _describe_flaky),
    (IDLE_PASSES, lambda case: _once("it passes" if case.is_idle_right else "")),
    (NEVER_FAILS, lambda case: _shares(case.never_fails)),
    (COMPARES_NOTHING, lambda case: _shares(case.compares_nothing)),
    (MISSPELT_KEY, lambda case: [(key, f"like {name}") for key, name in case.misspelt.items()]),
    (INVISIBLE_WEIGHT, lambda case: _shares(case.invisible)),
    (UNREAD_EXPECTATION, lambda case: [(place, "") for place in case.unread]),
    (VERIFIER_BREAKS, _describe_breaks),
]


def find_problems(
    groups: Iterable[GroupAudit],
    *,
    min_score: float = DEFAULT_MIN_SCORE,
    ignored: Iterable[str] = (),
) -> list[AuditFinding]:
    """Return all findings, the gravest first; `ignored` are CODE, or CODE=GLOB of case or check."""
    several, patterns = list(groups), list(ignored)
    found = [
        finding
        for sort, shown in _VIEWS
        for group in several
        for finding in _of_group(sort, shown, group, patterns)
    ]
    for group in several:
        score = group.score
        if group.broken:
            found.append(AuditFinding(CASES_BROKEN, group.name, "", {"": group.broken}))
        if score is not None and score < min_score:
            about = f"mutation score {percent(score)}, less than {min_score:.0%}"
            found.append(AuditFinding(LOW_SCORE, group.name, "", {"": about}))
    return [one for one in found if one.sort.code not in patterns]


def _of_group(
    sort: FindingType, shown: _View, group: GroupAudit, ignored: list[str]
) -> Iterator[AuditFinding]:
    subjects: dict[str, dict[str, str]] = {}
    for case in group.cases:
        for subject, seen in shown(case):
            if not _is_ignored(sort, group, case, subject, ignored):
                subjects.setdefault(subject, {})[case.id] = seen
    for subject, cases in subjects.items():
        yield AuditFinding(sort, group.name, subject, cases)


def _is_ignored(
    sort: FindingType, group: GroupAudit, case: CaseFacts, subject: str, ignored: list[str]
) -> bool:
    globs = [text.partition("=")[2] for text in ignored if text.startswith(f"{sort.code}=")]
    names = (f"{group.name}/{case.id}", subject)
    return any(fnmatchcase(name, glob) for name in names for glob in globs)


def list_accepted(
    cases: Iterable[CaseFacts], kind: MutationKind, most: int = 3
) -> list[tuple[str, Label]]:
    """Some accepted mutants of a kind, each with its case."""
    several = [(case.id, label) for case in cases for label in case.accepted if label.kind is kind]
    return several[:most]
