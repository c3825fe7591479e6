"""The secrets of a test: environment values, metadata and credentials of a connection.

They are replaced by their names in everything that is stored or printed; credentials are also
replaced in the text a judge reads. The same value always gets the same name, so redacted texts can
still be compared.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from assay.agents.connections import Answer
from assay.agents.model import Interaction
from assay.redaction import SHORTEST, is_credential_name, name_by_value, text_of
from assay.redaction import find_credentials as find_credentials

_SCHEME = re.compile(r"\s*(?:Bearer|Basic|Token|Api-?Key)\s+(\S+)\s*", re.IGNORECASE)


def find_secrets(environment: Mapping[str, str], metadata: Any) -> dict[str, str]:
    """Return the values that must not be stored, each with its replacement name."""
    named = list(list_texts(metadata, "metadata"))
    # A server that refuses a token quotes it without the word before it.
    tokens = [(name, match[1]) for name, text in named if (match := _SCHEME.fullmatch(text))]
    found = name_by_value([*named, *tokens], SHORTEST)
    # The environment comes last: a header made of a variable alone is known by the variable.
    return found | name_by_value(environment.items(), SHORTEST)


def find_file_credentials(environment: Mapping[str, str], metadata: Any) -> dict[str, str]:
    """Return those of the secrets that are credentials: no judge sees them.

    Other metadata is test data, such as a user's name: a judge needs it to decide correctly.
    """
    secrets = find_secrets(environment, metadata)
    named = list(list_texts(metadata, "metadata"))
    opening = {text for name, text in named if is_credential_name(_as_variable(name))}
    tokens = [(text, match[1]) for _, text in named if (match := _SCHEME.fullmatch(text))]
    opening |= {text for pair in tokens for text in pair} | set(environment.values())
    return {text: name for text, name in secrets.items() if text in opening}


def _as_variable(name: str) -> str:
    """Return a name in the style of a variable: `x-accessToken` is x_access_Token."""
    return re.sub(r"[^0-9A-Za-z]+|(?<=[a-z0-9])(?=[A-Z])", "_", name)


def list_texts(value: Any, name: str) -> Iterator[tuple[str, str]]:
    """Yield every text and number inside of a value, after the path that leads to it."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from list_texts(inner, f"{name}.{key}")
    elif isinstance(value, list | tuple):
        for index, inner in enumerate(value):
            yield from list_texts(inner, f"{name}.{index}")
    elif value is not None and not isinstance(value, bool):
        yield name, text_of(value)


# Private data is often an ordinary word; replacing short ones would hide the answer.
SHORTEST_IN_ANSWERS = 8
_SLY_DATA = "sly_data"


def find_private_in_answers(
    interactions: Iterable[Interaction],
    answers: Iterable[Answer],
    shortest: int = SHORTEST_IN_ANSWERS,
) -> dict[str, str]:
    """Return the private data that must not be stored from an answer, by value.

    A test looks at the values at and below the paths it names, and at what it names literally.
    """
    interactions, answers = list(interactions), list(answers)
    found = name_by_value(_all_texts(interactions, answers), shortest)
    if not found:
        return found
    looked_at = set(_find_tested(interactions, answers))
    checks = [check for one in interactions for check in one.checks]
    named = [text for check in checks for _, text in list_texts(check.value, "")]
    return {
        text: name
        for text, name in found.items()
        if text not in looked_at and not any(text in one for one in named)
    }


def hide_values(value: Any, private: Mapping[str, str]) -> Any:
    """Return private data itself without the values that must not be stored, however short."""
    if isinstance(value, dict):
        return {key: hide_values(inner, private) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [hide_values(inner, private) for inner in value]
    if value is None or isinstance(value, bool):
        return value
    return private.get(text_of(value), value)


def find_private_in_errors(
    interactions: Iterable[Interaction], answers: Iterable[Answer]
) -> dict[str, str]:
    """Return the same for outage messages, which no test looks at and which may quote all."""
    return name_by_value(_all_texts(interactions, answers), SHORTEST)


def _all_texts(
    interactions: Iterable[Interaction], answers: Iterable[Answer]
) -> Iterator[tuple[str, str]]:
    for sly_data in _all(interactions, answers):
        yield from list_texts(sly_data, _SLY_DATA)


def _find_tested(interactions: list[Interaction], answers: list[Answer]) -> Iterator[str]:
    checks = [check for one in interactions for check in one.checks if check.section == _SLY_DATA]
    for value in _all(interactions, answers):
        for check in checks:
            yield from (text for _, text in list_texts(_at(check.path, value), _SLY_DATA))


def _all(interactions: Iterable[Interaction], answers: Iterable[Answer]) -> list[Any]:
    sent = [interaction.sly_data for interaction in interactions]
    return [*sent, *(answer.sly_data for answer in answers)]


def _at(path: tuple[str, ...], value: Any) -> Any:
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value
