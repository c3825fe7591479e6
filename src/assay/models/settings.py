"""Model settings (provider, key, limits) from options, assay.toml and the environment."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, TypeVar
from urllib.parse import urlsplit

from assay.config import USER_CONFIG, ModelsConfig, RoleConfig, load_user_config
from assay.errors import InputError
from assay.redaction import redact

# The key for any address that is not a known provider's own.
OTHER_KEY = "ASSAY_MODEL_KEY"


class Provider(NamedTuple):
    """A provider; without key names it needs no key."""

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


def match_provider(model: str) -> Provider | None:
    return next((each for each in PROVIDERS if each.pattern.match(model)), None)


def find_provider_at(url: str) -> Provider | None:
    """Return the provider that owns this address; its keys are sent only there."""
    return next((each for each in PROVIDERS if each.url == url), None)


def find_provider(model: str) -> Provider:
    """Return the provider of a model named without an address."""
    found = match_provider(model)
    if found is None:
        raise InputError(
            f"no provider is known for the model {model!r}",
            advice="name its OpenAI-compatible address with --model-url, or a model that begins "
            "with gemini-, gpt-, openai/, ollama/ or vllm/",
        )
    return found


def format_name(model: str, url: str | None) -> str:
    """Return the model's name in a request.

    On your own server `openai/gpt-oss-20b` is a complete name and is left unchanged.
    """
    provider = match_provider(model)
    prefix, slash, rest = model.partition("/")
    if slash and provider is not None and prefix == provider.name:
        return rest if url is None or f"{prefix}/" in _SERVERS else model
    return model


def is_free(model: str) -> bool:
    """Return whether a model runs on the user's own machine, judging by its name."""
    return model.startswith(_SERVERS)


MILLION = 1_000_000


class Price(NamedTuple):
    """US dollars per million tokens of input and of output."""

    input: float
    output: float

    def cost(self, input_tokens: int, output_tokens: int) -> float:
        return (self.input * input_tokens + self.output * output_tokens) / MILLION


FREE = Price(0.0, 0.0)

# As of January 2026, for prompts of ordinary length; a discount for repeated prompts is not taken.
PRICES = {
    "gemini-3-pro-preview": Price(2.0, 12.0),
    "gemini-3-flash-preview": Price(0.5, 3.0),
    "gemini-2.5-pro": Price(1.25, 10.0),
    "gemini-2.5-flash": Price(0.3, 2.5),
    "gemini-2.5-flash-lite": Price(0.1, 0.4),
    "gpt-5.2": Price(1.75, 14.0),
    "gpt-5": Price(1.25, 10.0),
    "gpt-5-mini": Price(0.25, 2.0),
    "gpt-5-nano": Price(0.05, 0.4),
    "gpt-4.1": Price(2.0, 8.0),
    "gpt-4.1-mini": Price(0.4, 1.6),
    "gpt-4o": Price(2.5, 10.0),
    "gpt-4o-mini": Price(0.15, 0.6),
}
_DATED = re.compile(r"-\d{4}-\d{2}-\d{2}$")


def find_price(model: str) -> Price | None:
    """Return the published price of a model, ignoring provider prefix and date in its name."""
    name = _DATED.sub("", model.rpartition("/")[2])
    return PRICES.get(name)


T = TypeVar("T")

DEFAULT_MODEL = "gemini-3-pro-preview"
NO_MODEL = "none"
KEY_SHOWN = "[key]"
HOW_TO_SET = (
    "name a model with --model, `model` under [models] in assay.toml or ASSAY_MODEL, "
    f"or set GEMINI_API_KEY for {DEFAULT_MODEL}"
)


@dataclass(frozen=True)
class ModelSettings:
    """All settings for access to a model; the key is excluded from its repr."""

    name: str
    url: str
    key: str | None = field(default=None, repr=False)
    key_name: str | None = None
    timeout: float = 120.0
    patience: float = 300.0
    concurrency: int = 16
    max_cost: float | None = None
    max_tokens: int | None = None
    judge_votes: int = 1
    price: Price | None = None
    effort: str | None = None
    temperature: float | None = None
    refresh: bool = False
    """Whether answers are asked for anew, and not taken from the cache."""
    roles: Mapping[str, ModelSettings] = field(default_factory=dict)
    """Settings of single roles, where they differ."""

    def of_role(self, role: str) -> ModelSettings:
        return self.roles.get(role, self)

    def redact(self, value: Any) -> Any:
        """Return a value without the key, in case a provider echoes it."""
        return redact(value, {self.key: KEY_SHOWN} if self.key else {})

    def __reduce__(self) -> str | tuple[object, ...]:
        # Pickled data may be written anywhere.
        raise TypeError("settings with a key do not leave the process")


@dataclass(frozen=True)
class ModelChoice:
    """The model options of the command line; None means not given.

    It contains no secret, so a run stores it as it is (`asdict`) and is resumed with it.
    """

    model: str | None = None
    url: str | None = None
    max_cost: float | None = None
    max_tokens: int | None = None
    judge_votes: int | None = None
    refresh: bool | None = None
    is_recorded: bool = False
    """Whether it was read from a run folder, which anybody may have written."""

    @classmethod
    def from_run(cls, values: dict[str, Any]) -> ModelChoice:
        """Return the choice that a run recorded."""
        return cls(**{**values, "is_recorded": True})


class _Address(NamedTuple):
    """The address of a model, and whether the user or a project file gave it."""

    url: str
    is_from_user: bool


def resolve(
    choice: ModelChoice, config: ModelsConfig, environment: Mapping[str, str] = os.environ
) -> ModelSettings | None:
    """Return the effective settings, or None if no model is configured."""
    if choice.url:
        # A run stores the request, even if it is not used.
        _check_address(choice.url)
    model, address = _find_model(choice, config, environment)
    if model is None or model == NO_MODEL:
        return None
    url = _check_address(address.url) if address else find_provider(model).url
    key_name = _find_key_name(url, environment)
    if key_name == OTHER_KEY and address and not address.is_from_user:
        _check_host(url, environment)
    settings = ModelSettings(
        name=format_name(model, address.url if address else None),
        url=url,
        key=_read_key(key_name, environment),
        key_name=key_name,
        timeout=config.timeout,
        patience=config.patience,
        concurrency=config.concurrency,
        max_cost=_choose(choice.max_cost, config.max_cost),
        max_tokens=_choose(choice.max_tokens, config.max_tokens),
        judge_votes=choice.judge_votes or config.judge_votes,
        price=_find_model_price(model, config),
        refresh=bool(choice.refresh),
    )
    roles: dict[str, ModelSettings] = {
        name: _resolve_role(settings, one, environment) for name, one in config.roles.items()
    }
    settings = replace(settings, roles=roles)
    for one in (settings, *roles.values()):
        _check_price(one)
    return settings


def _resolve_role(
    base: ModelSettings, role: RoleConfig, environment: Mapping[str, str]
) -> ModelSettings:
    """Return the settings of a role: those of the run, and what its table changes.

    Its model is asked at the address it names, at its own provider if the run uses a provider, else
    where the run's model is.
    """
    own = replace(
        base,
        timeout=role.timeout or base.timeout,
        effort=role.effort or base.effort,
        temperature=_choose(role.temperature, base.temperature),
    )
    if role.model is None and role.url is None:
        return own
    model = role.model or base.name
    url = _check_address(role.url) if role.url else base.url
    if not role.url and find_provider_at(base.url) and (provider := match_provider(model)):
        url = provider.url
    key_name = _find_key_name(url, environment)
    if key_name == OTHER_KEY and url != base.url:
        _check_host(url, environment)
    price = FREE if is_free(model) else find_price(model)
    if role.input_price is not None or role.output_price is not None:
        price = Price(role.input_price or 0.0, role.output_price or 0.0)
    return replace(
        own,
        name=format_name(model, None if find_provider_at(url) else url),
        url=url,
        key=_read_key(key_name, environment),
        key_name=key_name,
        price=price,
    )


def _check_price(settings: ModelSettings) -> None:
    if settings.max_cost is not None and settings.price is None:
        raise InputError(
            f"the price of {settings.name!r} is not known, so its cost cannot be limited",
            advice="set input_price and output_price under [models] in assay.toml, "
            "or limit it with --max-tokens",
        )


def _find_model(
    choice: ModelChoice, config: ModelsConfig, environment: Mapping[str, str]
) -> tuple[str | None, _Address | None]:
    """Return the model and the address that was named with it, or further down."""
    address = None
    for model, url, is_from_user in (
        (choice.model, choice.url, not choice.is_recorded),
        (config.model, config.url, False),
        (environment.get("ASSAY_MODEL"), environment.get("ASSAY_MODEL_URL"), True),
    ):
        if address is None and url:
            address = _Address(url, is_from_user)
        if model:
            return model, address
    if address:
        raise InputError(
            f"no model is named for {_check_address(address.url)}", advice="name it with --model"
        )
    # Only the key reserved for models implies that they may be used.
    return (DEFAULT_MODEL if environment.get("GEMINI_API_KEY") else None), None


def _check_address(address: str) -> str:
    """Return a valid address without secrets, because files record it."""
    try:
        parts = urlsplit(address)
        _ = parts.port
    except ValueError:
        # Not shown: it may contain a password that cannot be separated.
        raise InputError(
            "what is given is not the address of a server",
            advice="write it as http://localhost:8000/v1",
        ) from None
    if parts.username or parts.password or parts.query or parts.fragment:
        raise InputError(
            "the address of a model must be plain: no user, password, query or fragment",
            advice=f"put the key into the environment variable {OTHER_KEY}",
        )
    if parts.scheme not in ("http", "https") or not parts.hostname:
        # Without its scheme, a user and a password are not seen as such.
        named = "what is given" if "@" in address else repr(address)
        raise InputError(
            f"{named} is not the address of a server",
            advice="write it as http://localhost:8000/v1",
        )
    return address.rstrip("/")


def _find_key_name(url: str, environment: Mapping[str, str]) -> str | None:
    """Return the variable whose key is sent to an address; a provider's key goes only to it."""
    provider = find_provider_at(url)
    if provider is None:
        return OTHER_KEY if environment.get(OTHER_KEY) else None
    for name in provider.keys:
        if environment.get(name):
            return name
    if provider.keys:
        raise InputError(
            f"there is no key for {provider.name}",
            advice=f"set the environment variable {provider.keys[0]}",
        )
    return None


def _check_host(url: str, environment: Mapping[str, str]) -> None:
    """Raise an InputError unless the user has allowed the key for the server at this address."""
    host = urlsplit(url).netloc
    named = environment.get("ASSAY_MODEL_HOSTS", "").replace(",", " ").split()
    if url == environment.get("ASSAY_MODEL_URL", "").rstrip("/") or host in named:
        return
    if host in load_user_config(environment).models.hosts:
        return
    raise InputError(
        f"{OTHER_KEY} is not sent to {host}: a file of the project names that server, not you",
        advice=f"if you trust it, set ASSAY_MODEL_HOSTS={host}, or write it under [models] as "
        f'hosts = ["{host}"] in {USER_CONFIG}',
    )


def _read_key(name: str | None, environment: Mapping[str, str]) -> str | None:
    key = environment[name].strip() if name else None
    if key and not (key.isascii() and key.isprintable()):
        raise InputError(f"the value of {name} is not a key: it has characters that none has")
    return key


def _find_model_price(model: str, config: ModelsConfig) -> Price | None:
    if config.input_price is not None or config.output_price is not None:
        return Price(config.input_price or 0.0, config.output_price or 0.0)
    return FREE if is_free(model) else find_price(model)


def _choose(first: T, second: T) -> T:
    return second if first is None else first
