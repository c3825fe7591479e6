"""google-adk models whose calls use Assay's limits and retries."""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import sys
import time
from collections.abc import Mapping
from functools import cache
from importlib.util import find_spec
from typing import Any, NamedTuple

from assay.errors import AssayError, InfrastructureError, InputError
from assay.models import (
    OVERLOADED,
    TRANSIENT,
    AdaptiveConcurrency,
    ModelFailed,
    ModelSettings,
    Transient,
    find_provider_at,
    persist,
    read_wait,
)

_NEEDED = ("google.adk", "litellm", "mcp")
# Prices come from Assay, and no usage data is sent to anyone.
_QUIET = {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "OTEL_SDK_DISABLED": "true"}
_TALKATIVE = ("google_adk", "google_genai", "LiteLLM", "opentelemetry")


def require_extra() -> None:
    """Refuse to start without the packages of the extra; nothing is imported for that."""
    missing = [name for name in _NEEDED if not _is_there(name)]
    if missing:
        raise InfrastructureError(
            f"questions are put to a model through {missing[0]}, which is not installed",
            advice="install it with: pip install 'assaykit[adk]'",
        )


def _is_there(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except ModuleNotFoundError:
        return False


def be_quiet() -> None:
    """Prepare the first import: no prices from the network, no telemetry, no logs on screen."""
    for name, value in _QUIET.items():
        os.environ.setdefault(name, value)
    for name in _TALKATIVE:
        # Assay reports failures itself, once, with advice.
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)


class _Access(NamedTuple):
    settings: ModelSettings
    concurrency: AdaptiveConcurrency


def patient_model(settings: ModelSettings, concurrency: AdaptiveConcurrency) -> Any:
    """Return a model: Gemini through its own library, everything else through LiteLLM."""
    be_quiet()
    access = _Access(settings, concurrency)
    provider = find_provider_at(settings.url)
    if provider is not None and provider.name == "gemini":
        return _gemini(access)
    from google.adk.models.lite_llm import LiteLlm

    class PatientLiteLlm(LiteLlm):
        """LiteLLM's model, whose calls are limited and tried again as Assay does it."""

        async def generate_content_async(self, llm_request: Any, stream: bool = False) -> Any:
            _import_litellm()
            call = super().generate_content_async
            yield await _persistent(access, lambda: _first(call(llm_request, False)))

    return PatientLiteLlm(
        model=f"openai/{settings.name}",
        api_base=settings.url,
        api_key=settings.key or "none",
        max_retries=0,
        num_retries=0,
        # The limit on the whole of a call is ours; this one only must not come before it.
        timeout=settings.timeout + 10.0,
    )


@cache
def _import_litellm() -> None:
    """Before the time of the first call is taken, and not at all where every answer is kept."""
    import litellm
    import openai.resources

    assert openai.resources
    litellm.suppress_debug_info = True
    # Half a million permanent objects: scanning them again at exit takes seconds.
    gc.freeze()


async def close_clients() -> None:
    """Close the connections that LiteLLM keeps open; each belongs to one event loop."""
    if "litellm" not in sys.modules:
        return
    from litellm.llms.custom_httpx import async_client_cleanup

    library: Any = sys.modules["litellm"]
    close: Any = async_client_cleanup.close_litellm_async_clients
    await close()
    library.in_memory_llm_clients_cache.flush_cache()


def _gemini(access: _Access) -> Any:
    from google.adk.models.google_llm import Gemini

    class PatientGemini(Gemini):
        """Gemini, whose calls are limited and tried again as Assay does it."""

        async def generate_content_async(self, llm_request: Any, stream: bool = False) -> Any:
            call = super().generate_content_async
            yield await _persistent(access, lambda: _first(call(llm_request, False)))

    name = access.settings.name.removeprefix("gemini/")
    return PatientGemini(model=name, client_kwargs={"api_key": access.settings.key})


async def _first(responses: Any) -> Any:
    async for response in responses:
        return response
    raise Transient("the answer is empty")


async def _persistent(access: _Access, call: Any) -> Any:
    settings = access.settings

    async def attempt() -> Any:
        async with access.concurrency.slot():
            started = time.monotonic()
            try:
                async with asyncio.timeout(settings.timeout):
                    response = await call()
            except Exception as error:
                failure = _translate(error, settings)
                if isinstance(failure, Transient) and failure.overloaded:
                    pause = failure.wait or 0.0
                    patient = pause <= settings.patience
                    access.concurrency.record_overload(started, pause if patient else 0.0)
                raise failure from None
            access.concurrency.record_success()
            return response

    return await persist(attempt, settings.patience, settings.name)


def _translate(error: Exception, settings: ModelSettings) -> Exception:
    if isinstance(error, Transient | AssayError):
        return error
    return _silence(settings) if isinstance(error, TimeoutError) else _failure(error, settings)


def _failure(error: Exception, settings: ModelSettings) -> Exception:
    """Translate an exception of a provider's library: transient, a mistake, or a refusal."""
    status = getattr(error, "status_code", None) or getattr(error, "code", None)
    told = _message(error, settings)
    kind = type(error).__name__
    if "Timeout" in kind:
        return _silence(settings)
    if status in TRANSIENT and "insufficient_quota" not in told:
        return Transient(told, read_wait(_headers(error)), overloaded=status in OVERLOADED)
    if "Connection" in kind:
        return Transient(f"{settings.url} cannot be reached: {told}")
    if status in (401, 403):
        name = settings.key_name
        advice = f"look at the environment variable {name}" if name else "set ASSAY_MODEL_KEY"
        return InputError(f"the key was refused: {told}", where=settings.url, advice=advice)
    if status == 404:
        advice = "look at --model and --model-url; the address often ends in /v1"
        return InputError(
            f"there is no model {settings.name!r}: {told}", where=settings.url, advice=advice
        )
    return ModelFailed(f"the request was refused: {told}", where=settings.url)


def _silence(settings: ModelSettings) -> Transient:
    told = f"no answer from {settings.url} within {settings.timeout:g} s"
    return Transient(told, overloaded=True)


def _headers(error: Exception) -> Mapping[str, str]:
    """Return the headers of a failed response, where LiteLLM and where google-genai keep them."""
    response = getattr(error, "response", None)
    kept = getattr(error, "litellm_response_headers", None) or getattr(response, "headers", None)
    return {str(name).lower(): str(value) for name, value in (kept or {}).items()}


def _message(error: Exception, settings: ModelSettings) -> str:
    # The key is removed before the text is cut, so that no part of it remains.
    text: str = settings.redact(" ".join(str(error).split()))
    return text[:300] or type(error).__name__
