"""Keeps secrets out of everything that is stored or sent to a judge.

Values that came from the environment, and metadata, are replaced by the names they have in the test
file. The name is the same wherever the value stands, so what is compared stays comparable.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

# Shorter texts are part of too many words: replacing them would hide the answer, not a secret.
SHORTEST = 4


def secrets_of(environment: Mapping[str, str], metadata: Any) -> dict[str, str]:
    """What must not be stored, by its value: what stands for it."""
    found = {
        text: f"<{name}>" for name, text in _texts(metadata, "metadata") if len(text) >= SHORTEST
    }
    # The environment comes last: a header made of a variable alone is known by the variable.
    found |= {text: f"<{name}>" for name, text in environment.items() if len(text) >= SHORTEST}
    return found


def private_values(sly_data: Any) -> dict[str, str]:
    """The same for private data, for texts that no test looks at and that may quote it."""
    named = _texts(sly_data, "sly_data")
    return {text: f"<{name}>" for name, text in named if len(text) >= SHORTEST}


def _texts(value: Any, name: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _texts(inner, f"{name}.{key}")
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _texts(inner, f"{name}.{index}")
    elif value is not None and not isinstance(value, bool):
        yield name, str(value)


def concealed(value: Any, secrets: Mapping[str, str]) -> Any:
    """A value in which every secret is replaced by its name, in keys too."""
    # The longest first: a secret may be part of another one.
    ordered = sorted(secrets.items(), key=lambda pair: -len(pair[0]))
    return _concealed(value, ordered) if ordered else value


def _concealed(value: Any, ordered: list[tuple[str, str]]) -> Any:
    if isinstance(value, str):
        for secret, name in ordered:
            if secret in value:
                value = value.replace(secret, name)
        return value
    if isinstance(value, list):
        return [_concealed(item, ordered) for item in value]
    if isinstance(value, dict):
        return {
            _concealed(key, ordered): _concealed(inner, ordered) for key, inner in value.items()
        }
    if isinstance(value, int | float) and not isinstance(value, bool):
        return next((name for secret, name in ordered if secret == str(value)), value)
    return value
