"""The providers that are known by the name of a model: where they are, and whose key they take."""

from __future__ import annotations

import re
from typing import NamedTuple

from assay.errors import InputError

# The key for any address that is not a known provider's own.
OTHER_KEY = "ASSAY_MODEL_KEY"


class Provider(NamedTuple):
    """One provider; without names of keys it needs none."""

    name: str
    pattern: re.Pattern[str]
    url: str
    keys: tuple[str, ...] = ()


PROVIDERS = (
    Provider(
        "gemini",
        re.compile(r"gemini[/-]"),
        "https://generativelanguage.googleapis.com/v1beta/openai",
        ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    ),
    Provider(
        "openai",
        re.compile(r"openai/|gpt-|chatgpt-|o\d"),
        "https://api.openai.com/v1",
        ("OPENAI_API_KEY",),
    ),
    Provider("ollama", re.compile("ollama/"), "http://localhost:11434/v1"),
    Provider("vllm", re.compile("vllm/"), "http://localhost:8000/v1"),
)
# Prefixes that name a kind of server and are never part of a model's own name.
_SERVERS = ("ollama/", "vllm/")


def provider_of(model: str) -> Provider | None:
    return next((each for each in PROVIDERS if each.pattern.match(model)), None)


def provider_at(url: str) -> Provider | None:
    """The provider whose own address this is; only there its keys are sent."""
    return next((each for each in PROVIDERS if each.url == url), None)


def known_provider(model: str) -> Provider:
    """The provider of a model that was named without an address."""
    found = provider_of(model)
    if found is None:
        raise InputError(
            f"no provider is known for the model {model!r}",
            advice="name its OpenAI-compatible address with --model-url, or a model that begins "
            "with gemini-, gpt-, openai/, ollama/ or vllm/",
        )
    return found


def name_as_sent(model: str, url: str | None) -> str:
    """The model's name in a request.

    `openai/gpt-oss-20b` is a name of its own on a server of one's own: there it is left whole.
    """
    provider = provider_of(model)
    prefix, slash, rest = model.partition("/")
    if slash and provider is not None and prefix == provider.name:
        return rest if url is None or f"{prefix}/" in _SERVERS else model
    return model


def is_free(model: str) -> bool:
    """Whether a model runs on a machine of one's own, by what its name says."""
    return model.startswith(_SERVERS)
