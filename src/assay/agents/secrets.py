"""Keeps secrets out of everything that is stored or printed, and credentials out of prompts.

Values that came from the environment, metadata and the credentials of a connection are replaced by
their names. The name is the same wherever the value stands, so what is compared stays comparable.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from assay.agents.spellings import spellings
from assay.errors import AssayError

# Shorter texts are part of too many words: replacing them would hide the answer, not a secret.
SHORTEST = 4
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
        yield name, _text(value)


def _text(value: Any) -> str:
    try:
        return str(value)
    except ValueError:
        # Python writes no integers of many thousand digits, and neither does anybody else.
        return ""


def concealed(value: Any, secrets: Mapping[str, str]) -> Any:
    """A value in which every secret, however it is written, is replaced by its name; keys too."""
    return _concealed(value, secrets) if secrets else value


def concealing(secrets: Mapping[str, str]) -> Callable[[str], str]:
    """The same as a function of texts."""

    def conceal(text: str) -> str:
        return _without(text, secrets)

    return conceal


def _concealed(value: Any, secrets: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        return _without(value, secrets)
    if isinstance(value, bytes):
        text = _without(value.decode(errors="surrogateescape"), secrets)
        return text.encode(errors="surrogateescape")
    if isinstance(value, list):
        return [_concealed(item, secrets) for item in value]
    if isinstance(value, tuple):
        return tuple(_concealed(item, secrets) for item in value)
    if isinstance(value, dict):
        return {
            _concealed(key, secrets): _concealed(inner, secrets) for key, inner in value.items()
        }
    if isinstance(value, int | float) and not isinstance(value, bool):
        return secrets.get(_text(value), value)
    return value


def _without(text: str, secrets: Mapping[str, str]) -> str:
    # The longest first: a secret may be part of another one.
    found = sorted(
        (secret for secret in secrets if spellings(secret).occur_in(text)), key=len, reverse=True
    )
    if not found:
        return text
    # All at once: the name of one secret may contain another.
    expression = "|".join(f"({spellings(secret).expression})" for secret in found)
    return re.sub(expression, lambda match: secrets[found[(match.lastindex or 1) - 1]], text)


def conceal_error(error: AssayError, conceal: Callable[[str], str]) -> None:
    """Replace secrets in what an error says before anybody sees it."""
    error.what = conceal(error.what)
    error.where = error.where and conceal(error.where)
    error.advice = error.advice and conceal(error.advice)
    error.args = (error.what,)
