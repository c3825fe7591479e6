"""The sorts of findings of an audit: what each is called, what it says, and what to do about it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Sort:
    """A sort of finding: what it is called, what it says and what to do about it."""

    code: str
    title: str
    advice: str


REFERENCE_FAILS = Sort(
    "reference-fails",
    "the reference solution does not pass",
    "correct the solution, the expected values or the verifier; until then nobody can pass",
)
FLAKY = Sort(
    "flaky",
    "the reference solution is right in one run and wrong in the other",
    "compare only what is the same in every run",
)
IDLE_PASSES = Sort(
    "do-nothing-passes",
    "a submission that does nothing passes",
    "expect something that only a working program gives",
)
NEVER_FAILS = Sort(
    "never-fails",
    "the check was right in every trial, however wrong the result",
    "make it compare with an expected value, or remove it: it gives part of the score away",
)
COMPARES_NOTHING = Sort(
    "compares-nothing",
    "the key names nothing of a result, and what it says never changes",
    "name the attribute, or `files-<name>`, and compare it",
)
MISSPELT_KEY = Sort(
    "misspelt-key",
    "the key names nothing of a result, and is like an attribute that has no judgement",
    "write the attribute's name; the reference program drops such a key, and its failures",
)
INVISIBLE_WEIGHT = Sort(
    "invisible-weight",
    "the weight is so small that a failure leaves the score as good as whole",
    "give the check a weight that shows",
)
UNREAD_EXPECTATION = Sort(
    "unread-expectation",
    "the expected value can be anything: no judgement changes with it",
    "compare it in the verifier, or remove it from the case",
)
VERIFIER_BREAKS = Sort(
    "verifier-breaks",
    "the verifier cannot read a wrong result, and gives no judgement of it",
    "let it return a failed check that says what is wrong with the output",
)
CASES_BROKEN = Sort(
    "cases-broken",
    "the cases cannot be had",
    "correct the loader or the case files",
)
LOW_SCORE = Sort(
    "low-score",
    "fewer mutants are rejected than --min-score asks for",
    "look at the accepted mutants; compare more, or lower --min-score if that is meant",
)
SORTS = {
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
