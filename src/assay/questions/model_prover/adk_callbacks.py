"""Model access for google-adk agents, with Assay's own cache, budget, usage and retries.

The cache, the budget and the accounting are attached to the model callbacks of an agent.
"""

from __future__ import annotations

import time
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

from assay.errors import AssayError
from assay.models import (
    CACHED,
    AdaptiveConcurrency,
    Budget,
    ModelFailed,
    ModelSettings,
    ResponseCache,
    Usage,
    count_usage,
    meter_usage,
)
from assay.questions.model_prover.adk_models import UNUSABLE, patient_model
from assay.questions.model_prover.fences import (
    fence_results,
    format_result,
    hide_mark,
    mark,
    split_at_marks,
)
from assay.questions.model_prover.prompts import OPENING
from assay.questions.model_prover.transcripts import Transcript
from assay.tracebacks import describe

_ENDED = "No turns are left."
# Which role of [models.roles] an agent has, where it is not its name.
_ROLES = {
    "proof_engineer": "engineer",
    "remediation_engineer": "fixer",
    "solver": "engineer",
    "proctor": "reviewer",
}


class ModelAccess:
    """The models of a run, their budget and caches, shared by all agents.

    Answers of agents that know a key are kept apart from those of agents that do not.
    """

    def __init__(
        self,
        settings: ModelSettings,
        *,
        cache: ResponseCache | None = None,
        keyed_cache: ResponseCache | None = None,
        budget: Budget | None = None,
    ) -> None:
        self.settings = settings
        self.cache = cache or ResponseCache()
        self.keyed_cache = keyed_cache or ResponseCache(self.cache.folder.with_name("fixes"))
        self.budget = budget or Budget(settings.max_cost, settings.max_tokens)
        self.concurrency = AdaptiveConcurrency(settings.concurrency)
        self._models: dict[str, Any] = {}

    def settings_of(self, agent: str) -> ModelSettings:
        """Return the settings of an agent's role."""
        return self.settings.of_role(_ROLES.get(agent, agent))

    def model_of(self, agent: str) -> Any:
        """Return an agent's model as google-adk takes it; made when it is first asked for."""
        if agent not in self._models:
            self._models[agent] = patient_model(self.settings_of(agent), self.concurrency)
        return self._models[agent]

    def account(self, usage: Usage) -> None:
        self.budget.spend(usage)
        meter_usage(usage)


@dataclass
class AgentSession:
    """State shared by cooperating agents: access, transcript, and the first failure.

    google-adk re-raises an exception through many layers; `failure` is the original one. `turns` is
    how many calls each of the agents may still make. `number` is that of the pass over a question
    and `sample` that of the opinion: each has answers of its own. `schemas` are those of answers,
    by agent; `looked_up` is what tools answered, by call.
    """

    access: ModelAccess
    transcript: Transcript
    is_keyed: bool = False
    number: int = 0
    sample: int = 0
    turns: int | None = None
    schemas: dict[str, dict[str, Any]] = field(default_factory=dict)
    looked_up: dict[str, str] = field(default_factory=dict)
    failure: AssayError | None = None
    _asked: dict[str, tuple[Any, float]] = field(default_factory=dict)
    _cached: list[Any] = field(default_factory=list)

    @property
    def cache(self) -> ResponseCache:
        return self.access.keyed_cache if self.is_keyed else self.access.cache

    @property
    def is_out_of_turns(self) -> bool:
        return self.turns is not None and self.turns <= 0

    def callbacks(self) -> dict[str, Any]:
        """Return the callbacks of an agent of this session."""
        return {
            "before_model_callback": self._before_model,
            "after_model_callback": self._after_model,
            "on_model_error_callback": self._model_failed,
            "before_tool_callback": self._before_tool,
            "after_tool_callback": self._after_tool,
            "on_tool_error_callback": self._tool_failed,
        }

    def begin_task(self) -> None:
        """Begin a task whose answers may turn out to be of no use."""
        self._cached.clear()

    def forget_task(self) -> None:
        """Forget the answers of the task, so that it is asked again the next time."""
        for request in self._cached:
            self.cache.remove(request, self.sample)
        self._cached.clear()

    def fail(self, failure: AssayError) -> None:
        self.failure = self.failure or failure

    def _before_model(self, callback_context: Any, llm_request: Any) -> Any:
        agent = callback_context.agent_name
        settings = self.access.settings_of(agent)
        llm_request.config.response_json_schema = self.schemas.get(agent)
        llm_request.contents = fence_results(llm_request.contents)
        request = {**_request(settings, llm_request), "pass": self.number}
        self._tell_request(agent, llm_request)
        llm_request.contents = mark(llm_request.contents)
        if self.turns is not None:
            if self.turns <= 0:
                return _text_response(_ENDED)
            self.turns -= 1
        kept = None if settings.refresh else self.cache.get(request, self.sample)
        if kept is not None and (response := _parse_response(kept)) is not None:
            self._cached.append(request)
            self.access.account(CACHED)
            self._tell_answer(agent, response, CACHED, 0.0)
            return response
        try:
            self.access.budget.check()
        except AssayError as reached:
            self.fail(reached)
            raise
        self._asked[agent] = request, time.monotonic()
        return None

    def _after_model(self, callback_context: Any, llm_response: Any) -> Any:
        agent = callback_context.agent_name
        settings = self.access.settings_of(agent)
        llm_response = _without_key(llm_response, settings)
        request, started = self._asked.pop(agent)
        usage = _usage(llm_response, request, settings)
        self.access.account(usage)
        self._tell_answer(agent, llm_response, usage, time.monotonic() - started)
        if llm_response.error_code:
            told = llm_response.error_message or llm_response.error_code
            failure = ModelFailed(
                f"the answer cannot be used: {told}",
                where=f"{agent}: {settings.name}",
            )
            self.fail(failure)
            raise failure
        if not (llm_response.custom_metadata or {}).get(UNUSABLE):
            self.cache.put(request, self.sample, _to_keep(llm_response))
            self._cached.append(request)
        return llm_response

    def _model_failed(self, callback_context: Any, llm_request: Any, error: Exception) -> None:
        self._asked.pop(callback_context.agent_name, None)
        settings = self.access.settings_of(callback_context.agent_name)
        where = f"{callback_context.agent_name}: {settings.name}"
        if not isinstance(error, AssayError):
            told = settings.redact(describe(error))
            error = ModelFailed(f"the model cannot be asked: {told}", where=where)
        self.fail(error)

    def _before_tool(self, tool: Any, args: dict[str, Any], tool_context: Any) -> None:
        self.transcript.add("tool call", tool_context.agent_name, name=tool.name, value=args)

    def _after_tool(
        self, tool: Any, args: dict[str, Any], tool_context: Any, tool_response: Any
    ) -> None:
        agent = tool_context.agent_name
        self.transcript.add("tool result", agent, name=tool.name, value=tool_response)
        given = ", ".join(f"{name}={value!r}" for name, value in args.items())
        self.looked_up[f"{tool.name}({given})"] = format_result(tool_response)

    def _tool_failed(
        self, tool: Any, args: dict[str, Any], tool_context: Any, error: Exception
    ) -> dict[str, Any] | None:
        if isinstance(error, AssayError):
            self.fail(error)
            return None
        # A tool that does not exist, or arguments that are none: the model may correct itself.
        told = {"error": f"{type(error).__name__}: {error}"}
        self.transcript.add("tool result", tool_context.agent_name, name=tool.name, value=told)
        return told

    def _tell_request(self, agent: str, llm_request: Any) -> None:
        self.transcript.instruct(agent, str(llm_request.config.system_instruction or ""))
        last = llm_request.contents[-1] if llm_request.contents else None
        texts = [part.text for part in (last.parts or []) if part.text] if last else []
        if texts:
            self.transcript.add("prompt", agent, text=hide_mark("\n\n".join(texts)))

    def _tell_answer(self, agent: str, response: Any, usage: Usage, seconds: float) -> None:
        parts = (response.content.parts or []) if response.content else []
        self.transcript.add(
            "answer",
            agent,
            text="\n".join(part.text for part in parts if part.text),
            tokens=usage.tokens,
            cached=bool(usage.cached_calls),
            seconds=round(seconds, 3),
        )


# --- Requests and answers as JSON --------------------------------------------------------------


def _request(settings: ModelSettings, llm_request: Any) -> dict[str, Any]:
    """Return the cache identity of an answer: what is sent but for marks, and where to."""
    told = llm_request.model_dump(mode="json", include={"contents", "config"}, exclude_none=True)
    told["config"].pop("labels", None)
    own = {"url": settings.url, "model": settings.name, "effort": settings.effort}
    return {**own, **split_at_marks(_without_ids(told))}


def _without_ids(value: Any) -> Any:
    """Calls of tools have ids that are made up anew each time."""
    if isinstance(value, list):
        return [_without_ids(one) for one in value]
    if not isinstance(value, dict):
        return value
    return {
        key: _without_ids({k: v for k, v in one.items() if k != "id"})
        if key in ("function_call", "function_response") and isinstance(one, dict)
        else _without_ids(one)
        for key, one in value.items()
    }


def _without_key(response: Any, settings: ModelSettings) -> Any:
    """Return an answer without the key, in case a provider echoes it."""
    whole = response.model_dump_json(exclude_none=True)
    redacted = settings.redact(whole)
    return response if redacted == whole else type(response).model_validate_json(redacted)


def _to_keep(response: Any) -> dict[str, Any]:
    fields = {"content", "finish_reason"}
    told: dict[str, Any] = response.model_dump(mode="json", include=fields, exclude_none=True)
    return told


def _parse_response(value: Any) -> Any:
    from google.adk.models.llm_response import LlmResponse

    try:
        return LlmResponse.model_validate(value)
    except ValueError:
        return None


def _text_response(text: str) -> Any:
    from google.adk.models.llm_response import LlmResponse
    from google.genai import types

    return LlmResponse(content=types.Content(role="model", parts=[types.Part(text=text)]))


def _usage(response: Any, request: Any, settings: ModelSettings) -> Usage:
    told = response.usage_metadata
    counts = {
        "prompt_tokens": getattr(told, "prompt_token_count", None),
        "completion_tokens": getattr(told, "candidates_token_count", None),
        "total_tokens": getattr(told, "total_token_count", None),
    }
    parts = (response.content.parts or []) if response.content else []
    answer = "".join(part.model_dump_json(exclude_none=True) for part in parts)
    return count_usage(counts, request, answer, settings.price)


_APP, _USER = "assay", "assay"


async def run_workflow(workflow: Any, session: AgentSession) -> dict[str, Any]:
    """Run a workflow to its end; raise its original failure."""
    from google.adk.runners import InMemoryRunner
    from google.genai import types

    runner = InMemoryRunner(node=workflow, app_name=_APP)
    opened = await runner.session_service.create_session(app_name=_APP, user_id=_USER)
    opening = types.Content(role="user", parts=[types.Part(text=OPENING)])
    events = runner.run_async(user_id=_USER, session_id=opened.id, new_message=opening)
    try:
        async with aclosing(events):
            async for _ in events:
                if session.failure is not None:
                    break
    except Exception as error:
        failure: Any = session.failure or getattr(error, "error", error)
        if not isinstance(failure, AssayError):
            raise
        session.fail(failure)
    if session.failure is not None:
        # Without the intermediate layers of the traceback.
        raise session.failure.with_traceback(None) from None
    ended = await runner.session_service.get_session(
        app_name=_APP, user_id=_USER, session_id=opened.id
    )
    return dict(ended.state) if ended else {}
