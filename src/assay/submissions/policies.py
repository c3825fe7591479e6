"""When a submission as a whole has passed: a policy over the cases, by type of group. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from assay.errors import InputError
from assay.model import GroupType, Outcome
from assay.runs import Gate


class Counted(NamedTuple):
    """A case as a policy sees it: its type of group, its outcome, and whether it is known."""

    type: str
    outcome: Outcome
    is_known: bool = False


@dataclass(frozen=True)
class Policy:
    """Which types count, and whether all of them must pass or one is enough."""

    types: Callable[[str], bool]
    is_any: bool
    about: str


def _is_core(type_: str) -> bool:
    return type_ == GroupType.CORE.value


def _is_not_error(type_: str) -> bool:
    return type_ != GroupType.ERROR.value


POLICIES: Mapping[str, Policy] = {
    "any-case": Policy(lambda type_: True, True, "cases"),
    "all-cases": Policy(lambda type_: True, False, "cases"),
    "all-non-error-cases": Policy(_is_not_error, False, "cases outside Error groups"),
    "core-cases": Policy(_is_core, False, "Core cases"),
    "any-core-cases": Policy(_is_core, True, "Core cases"),
    "all-core-cases": Policy(_is_core, False, "Core cases"),
}
DEFAULT = "all-cases"


def judge(name: str, cases: Iterable[Counted]) -> Gate:
    """Whether a policy is met.

    An error is no pass. Where all must pass, one anywhere fails, because what an errored case would
    have shown nobody knows. A policy about cases that do not exist is a mistake, never a success.
    """
    policy, counts = POLICIES[name], Counter(cases)
    of_types = [one for one in counts.elements() if policy.types(one.type)]
    looked_at = [one for one in of_types if not one.is_known]
    if not of_types:
        raise InputError(
            f"the policy {name} looks at {policy.about}, and there are none",
            advice="choose another --policy, or run more of the problem",
        )
    passed = sum(one.outcome is Outcome.PASSED for one in looked_at)
    errors = sum(number for one, number in counts.items() if one.outcome is Outcome.ERROR)
    if not looked_at:
        reason = f"all {len(of_types)} {policy.about} are accepted by the baseline"
        return Gate(name=name, is_met=not errors, reason=reason)
    reason = f"{passed} of {len(looked_at)} {policy.about} passed"
    if policy.is_any:
        return Gate(name=name, is_met=passed > 0, reason=reason)
    is_met = passed == len(looked_at) and not errors
    return Gate(name=name, is_met=is_met, reason=f"{reason}, {errors} errors" if errors else reason)
