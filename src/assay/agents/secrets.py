"""What is a secret of a test: values of the environment, metadata, credentials of a connection.

They are replaced by their names in everything that is stored or printed, and those that open a door
in what a judge reads too. The name is the same wherever the value stands, so what is compared stays
comparable.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from assay.redaction import SHORTEST, text_of

# Credentials are longer than that, and what else has a name like theirs is often a word.
_SHORTEST_CREDENTIAL = 8
_CREDENTIAL = re.compile(
    r"(?:^|_)(?:(?:API)?KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?"
    r"|AUTHORIZATION|COOKIE)(?:$|_)",
    re.IGNORECASE,
)
_SCHEME = re.compile(r"\s*(?:Bearer|Basic|Token|Api-?Key)\s+(\S+)\s*", re.IGNORECASE)


def secrets_of(environment: Mapping[str, str], metadata: Any) -> dict[str, str]:
    """What must not be stored, by its value: what stands for it."""
    named = list(texts_in(metadata, "metadata"))
    # A server that refuses a token quotes it without the word before it.
    tokens = [(name, match[1]) for name, text in named if (match := _SCHEME.fullmatch(text))]
    found = by_value([*named, *tokens], SHORTEST)
    # The environment comes last: a header made of a variable alone is known by the variable.
    return found | by_value(environment.items(), SHORTEST)


def credentials_of_file(environment: Mapping[str, str], metadata: Any) -> dict[str, str]:
    """Return those of the secrets that open a door: no judge gets to see them.

    Other metadata is data of the test, such as a user's name: a judge must know it to be right.
    """
    secrets = secrets_of(environment, metadata)
    named = list(texts_in(metadata, "metadata"))
    opening = {text for name, text in named if _CREDENTIAL.search(_as_variable(name))}
    tokens = [(text, match[1]) for _, text in named if (match := _SCHEME.fullmatch(text))]
    opening |= {text for pair in tokens for text in pair} | set(environment.values())
    return {text: name for text, name in secrets.items() if text in opening}


def _as_variable(name: str) -> str:
    """Return a name as a variable would have it: `x-accessToken` is x_access_Token."""
    return re.sub(r"[^0-9A-Za-z]+|(?<=[a-z0-9])(?=[A-Z])", "_", name)


def credentials_in(environment: Mapping[str, str]) -> dict[str, str]:
    """The same for what an agent in this process finds in its environment."""
    named = ((name, text) for name, text in environment.items() if _CREDENTIAL.search(name))
    return by_value(named, _SHORTEST_CREDENTIAL)


def by_value(named: Iterable[tuple[str, str]], shortest: int) -> dict[str, str]:
    """Texts and what stands for them, without those that are too short to be told apart."""
    return {text: f"<{name}>" for name, text in named if len(text.strip()) >= shortest}


def texts_in(value: Any, name: str) -> Iterator[tuple[str, str]]:
    """Every text and number inside of a value, after the path that leads to it."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from texts_in(inner, f"{name}.{key}")
    elif isinstance(value, list | tuple):
        for index, inner in enumerate(value):
            yield from texts_in(inner, f"{name}.{index}")
    elif value is not None and not isinstance(value, bool):
        yield name, text_of(value)
