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
from typing import Any, NamedTuple

from assay.errors import AssayError, InputError
from assay.models import (
    OVERLOADED,
    TRANSIENT,
    AdaptiveConcurrency,
    ModelSettings,
    Refused,
    Transient,
    find_provider_at,
    persist,
    read_wait,
    trace_call,
)

# Prices come from Assay, and no usage data is sent to anyone.
_QUIET = {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "OTEL_SDK_DISABLED": "true"}
_TALKATIVE = ("google_adk", "google_genai", "LiteLLM", "opentelemetry")


def be_quiet() -> None:
    """Prepare the first import: no prices from the network, no telemetry, no logs on screen."""
    for name, value in _QUIET.items():
        os.environ.setdefault(name, value)
    for name in _TALKATIVE:
        # Assay reports failures itself, once, with advice.
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)


# Marks an answer that was cut off, or whose tool calls are not JSON: it is sent back, not kept.
UNUSABLE = "assay_unusable"
_BROKEN = {
    "MAX_TOKENS": "the answer was cut off at a limit",
    "MALFORMED_FUNCTION_CALL": "the arguments of a tool call were not a JSON object",
}


# The tools by which typed answers are handed in where no schema is enforced.
ANSWER_TOOLS = frozenset({"submit_reading", "submit_review", "update_benchmark_case"})


class _Form(NamedTuple):
    """In which form a provider takes a request: with a schema, with tools, as JSON."""

    schema: bool
    tools: bool
    json: bool


# From what serves best to what every provider takes; a refused form is not tried again.
_FORMS = (
    _Form(True, True, True),
    _Form(False, True, False),
    _Form(False, False, True),
    _Form(False, False, False),
)


class _Access:
    """One model: its settings, the limit on calls, and the form of request that it takes."""

    def __init__(self, settings: ModelSettings, concurrency: AdaptiveConcurrency) -> None:
        self.settings = settings
        self.concurrency = concurrency
        self.form = 0

    async def ask(self, llm_request: Any, call: Any, shape: Any) -> Any:
        """Return the answer to a request, in the first form that is not refused."""
        for place in range(self.form, len(_FORMS)):
            sent = shape(llm_request, _FORMS[place])
            try:
                response = await _persistent(self, lambda sent=sent: _first(call(sent, False)))
            except Refused:
                if place == len(_FORMS) - 1 or not _is_reducible(llm_request):
                    raise
                continue
            self.form = place
            return _soften(response)
        raise AssertionError("the last form either answers or raises")


def _is_reducible(llm_request: Any) -> bool:
    config = llm_request.config
    return bool(config.tools or config.response_json_schema)


def _soften(response: Any) -> Any:
    """Return a broken answer as a text that says so, for its author to do better."""
    code = getattr(response.error_code, "value", response.error_code)
    reason = getattr(response.finish_reason, "value", response.finish_reason)
    told = _BROKEN.get(str(code)) or _BROKEN.get(str(reason))
    if told is None:
        return response
    from google.genai import types

    parts = (response.content.parts or []) if response.content else []
    text = "".join(part.text for part in parts if part.text and not part.thought)
    content = types.Content(role="model", parts=[types.Part(text=f"{text}\n[{told}]")])
    return response.model_copy(
        update={
            "content": content,
            "error_code": None,
            "error_message": None,
            "finish_reason": types.FinishReason.STOP,
            "custom_metadata": {UNUSABLE: True},
        }
    )


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
            yield await access.ask(llm_request, super().generate_content_async, _shape_openai)

    effort = {"reasoning_effort": settings.effort} if settings.effort else {}
    return PatientLiteLlm(
        **({"extra_body": effort} if effort else {}),
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
            yield await access.ask(llm_request, super().generate_content_async, _shape_gemini)

    name = access.settings.name.removeprefix("gemini/")
    return PatientGemini(model=name, client_kwargs={"api_key": access.settings.key})


def _shape_openai(llm_request: Any, form: _Form) -> Any:
    """Return a request with its schema as OpenAI-compatible servers take it."""
    config = llm_request.config
    schema = config.response_json_schema
    wanted: dict[str, Any] | None = None
    if schema and form.schema:
        named = {"name": schema.get("title", "answer"), "schema": schema, "strict": False}
        wanted = {"type": "json_schema", "json_schema": named}
    elif schema and form.json:
        wanted = {"type": "json_object"}
    return _replace_config(llm_request, form, response_schema=wanted, response_json_schema=None)


def _shape_gemini(llm_request: Any, form: _Form) -> Any:
    schema = llm_request.config.response_json_schema
    typed = {"response_json_schema": schema if form.schema else None}
    if schema and form.json:
        typed["response_mime_type"] = "application/json"
    return _replace_config(llm_request, form, **typed)


def _replace_config(llm_request: Any, form: _Form, **update: Any) -> Any:
    tools = llm_request.config.tools if form.tools else None
    if tools and form.schema and llm_request.config.response_json_schema:
        tools = [one for one in map(_without_answer_tools, tools) if one.function_declarations]
    update["tools"] = tools or None
    if not tools:
        update["tool_config"] = None
    config = llm_request.config.model_copy(update=update)
    return llm_request.model_copy(update={"config": config})


def _without_answer_tools(tool: Any) -> Any:
    declared = [one for one in tool.function_declarations if one.name not in ANSWER_TOOLS]
    return tool.model_copy(update={"function_declarations": declared})


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

    with trace_call(settings) as call_span:
        response = await persist(attempt, settings.patience, settings.name)
        told = response.usage_metadata
        call_span.input_tokens = getattr(told, "prompt_token_count", None)
        call_span.output_tokens = getattr(told, "candidates_token_count", None)
        reason = getattr(response.finish_reason, "value", response.finish_reason)
        call_span.finish_reason = None if reason is None else str(reason).lower()
    return response


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
    return Refused(f"the request was refused: {told}", where=settings.url)


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
