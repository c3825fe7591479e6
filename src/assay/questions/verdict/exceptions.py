"""Exceptions named by options, and which of them match an exception that was raised."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from enum import StrEnum

from assay.questions.verdict.option_findings import Settled, Truth

SettledByOption = Mapping[str, Sequence[Settled]]


class ExceptionMatch(StrEnum):
    """When an option that names an exception class is right.

    Under `closest` the class nearest to what was raised holds, even if it is not the very class,
    and its ancestors do not; under `isinstance` every ancestor holds; under `exact` only the class
    itself does.
    """

    CLOSEST = "closest"
    ISINSTANCE = "isinstance"
    EXACT = "exact"


BROADER = "broader-exception"

# Other names of the same classes: what is raised carries the first name only.
_ALIASES = {
    "IOError": "OSError",
    "EnvironmentError": "OSError",
    "WindowsError": "OSError",
    "socket.error": "OSError",
    "select.error": "OSError",
    "os.error": "OSError",
    "socket.timeout": "TimeoutError",
}


def match_exceptions(
    settled_by_option: SettledByOption, policy: ExceptionMatch | str = ExceptionMatch.CLOSEST
) -> dict[str, tuple[Settled, ...]]:
    """Return what is settled, with the truth of claims about exceptions as the policy has it.

    A proof finds out with `isinstance`; so only what is true can change.
    """
    policy = ExceptionMatch(policy)
    return {
        option: tuple(_match(one, _rivals(option, settled_by_option), policy) for one in settled)
        for option, settled in settled_by_option.items()
    }


_Rivals = tuple[tuple[str, Settled], ...]


def _rivals(option: str, settled_by_option: SettledByOption) -> _Rivals:
    """Return the claims of other options that name an exception and may be true."""
    return tuple(
        (other, one)
        for other, settled in settled_by_option.items()
        if other != option
        for one in settled
        if one.exception is not None and one.truth is not Truth.FALSE
    )


def _match(one: Settled, rivals: _Rivals, policy: ExceptionMatch) -> Settled:
    if one.exception is None or one.truth is not Truth.TRUE or not one.raised:
        return one
    readings = {each: _reading(one, rivals, each) for each in ExceptionMatch}
    truth, reason, note = readings[policy]
    notes = [note] if note else []
    notes += [
        f"with exception_match `{other}` it would be {reading[0]}"
        for other, reading in readings.items()
        if reading[0] is not truth
    ]
    return replace(one, truth=truth, reason=reason or one.reason, notes=(*one.notes, *notes))


_Reading = tuple[Truth, str, str]


def _reading(one: Settled, rivals: _Rivals, policy: ExceptionMatch) -> _Reading:
    """Truth, reason and note of a claim that is true by `isinstance`."""
    assert one.exception is not None
    distance = _distance(one.exception, one.raised)
    if policy is ExceptionMatch.ISINSTANCE or distance == 0:
        return Truth.TRUE, "", ""
    if distance is None:
        return _doubt(one, rivals)
    if policy is ExceptionMatch.EXACT:
        return Truth.FALSE, f"{one.raised[0]} was raised, of which it is an ancestor", BROADER
    return _closest(one, distance, rivals)


def _closest(one: Settled, distance: int, rivals: _Rivals) -> _Reading:
    nearer = [
        (option, rival)
        for option, rival in rivals
        if (other := _distance(rival.exception or "", one.raised)) is not None and other < distance
    ]
    proven = [option for option, rival in nearer if rival.truth is Truth.TRUE]
    if proven:
        reason = f"{one.raised[0]} was raised, to which {_join(proven)} comes nearer"
        return Truth.FALSE, reason, BROADER
    if nearer:
        options = _join(option for option, _ in nearer)
        return Truth.OPEN, f"{options} may name a class that comes nearer", ""
    return Truth.TRUE, "", ""


def _doubt(one: Settled, rivals: _Rivals) -> _Reading:
    """True, but under a name that what was raised does not carry."""
    if not rivals:
        return Truth.TRUE, "", ""
    reason = f"the name does not show how close {one.exception} is to {one.raised[0]}"
    return Truth.OPEN, reason, ""


def _distance(named: str, raised: Sequence[str]) -> int | None:
    """Return the position of a class in the chain of what was raised, by its last name part."""
    name = _last(_ALIASES.get(named.strip("` "), named))
    chain = [_last(each) for each in raised]
    return chain.index(name) if name in chain else None


def _last(name: str) -> str:
    return name.strip("`() ").rpartition(".")[2]


def _join(options: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(options))
