"""Which values of sly_data are private: those that no test looks at."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from assay.agents.connections import Answer
from assay.agents.model import Interaction
from assay.agents.secrets import by_value, texts_in
from assay.redaction import SHORTEST

# Private data is often an ordinary word; replacing short ones would hide the answer.
SHORTEST_IN_ANSWERS = 8
_SLY_DATA = "sly_data"


def private_in_answers(
    interactions: Iterable[Interaction], answers: Iterable[Answer]
) -> dict[str, str]:
    """What of the private data, sent and returned, must not be kept of an answer, by its value.

    A test looks at the values at and below the paths it names, and at what it names literally.
    """
    interactions, answers = list(interactions), list(answers)
    found = by_value(_all_texts(interactions, answers), SHORTEST_IN_ANSWERS)
    if not found:
        return found
    looked_at = set(_looked_at(interactions, answers))
    checks = [check for one in interactions for check in one.checks]
    named = [text for check in checks for _, text in texts_in(check.value, "")]
    return {
        text: name
        for text, name in found.items()
        if text not in looked_at and not any(text in one for one in named)
    }


def private_in_errors(
    interactions: Iterable[Interaction], answers: Iterable[Answer]
) -> dict[str, str]:
    """The same for what is told of an outage, which no test looks at and which may quote it all."""
    return by_value(_all_texts(interactions, answers), SHORTEST)


def _all_texts(
    interactions: Iterable[Interaction], answers: Iterable[Answer]
) -> Iterator[tuple[str, str]]:
    for sly_data in _all(interactions, answers):
        yield from texts_in(sly_data, _SLY_DATA)


def _looked_at(interactions: list[Interaction], answers: list[Answer]) -> Iterator[str]:
    checks = [check for one in interactions for check in one.checks if check.section == _SLY_DATA]
    for value in _all(interactions, answers):
        for check in checks:
            yield from (text for _, text in texts_in(_at(check.path, value), _SLY_DATA))


def _all(interactions: Iterable[Interaction], answers: Iterable[Answer]) -> list[Any]:
    sent = [interaction.sly_data for interaction in interactions]
    return [*sent, *(answer.sly_data for answer in answers)]


def _at(path: tuple[str, ...], value: Any) -> Any:
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value
