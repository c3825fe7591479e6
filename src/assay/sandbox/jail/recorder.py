"""A pytest plugin that records what happened, test by test, on a separate channel.

It records the raised exception beside the outcome that pytest made of it, so that a hook or plugin
that rewrites an outcome is detected. The judgement is made outside.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Generator
from typing import Any

import pytest

# Enough to see why a test failed, without flooding the report.
_TEXT = 20_000
_MESSAGE = 4_000
_BROAD = (Exception, BaseException)


def shorten(text: str, limit: int = _TEXT) -> str:
    """Keep the head and the tail of a long text, and note how much was cut."""
    if len(text) <= limit:
        return text
    half = limit // 2
    return f"{text[:half]}\n… {len(text) - 2 * half} characters cut …\n{text[-half:]}"


class EventWriter:
    """Writes events to a descriptor that only the supervisor reads, each line with its token."""

    def __init__(self, descriptor: int, token: str) -> None:
        self._descriptor = descriptor
        self._token = token
        self._owner = os.getpid()
        self._waiting = b""

    def send(self, event: str, **fields: Any) -> None:
        """Send an event, after the deferred ones."""
        self.put(event, **fields)
        if os.getpid() != self._owner:
            return  # a test forked and came back through pytest: that is not this proof's report
        while self._waiting:
            self._waiting = self._waiting[os.write(self._descriptor, self._waiting) :]

    def put(self, event: str, **fields: Any) -> None:
        """Defer an event until the next `send`: every write wakes the supervisor."""
        text = json.dumps({"event": event, **fields}, default=repr)
        self._waiting += f"{self._token} {text}\n".encode("ascii", "backslashreplace")


def describe_exception(error: BaseException, proof: str) -> dict[str, Any]:
    """Describe what was raised, at which line of the proof, and whether by its own code."""
    frames = []
    trace = error.__traceback__
    while trace is not None:
        frames.append((trace.tb_frame.f_code.co_filename, trace.tb_lineno))
        trace = trace.tb_next
    lines = [line for name, line in frames if name == proof]
    kind = type(error)
    return {
        "type": f"{kind.__module__}.{kind.__qualname__}",
        "bases": [base.__name__ for base in kind.__mro__],
        "message": shorten(_text_of(error), _MESSAGE),
        "line": lines[-1] if lines else None,
        "raised_in": frames[-1][0] if frames else None,
        "in_proof": bool(frames) and _is_own(frames[-1][0], proof),
        "by_check": bool(frames) and _is_check(frames[-1][0], proof),
    }


def _text_of(error: BaseException) -> str:
    try:
        return str(error)
    except Exception as problem:
        return f"<no text: {type(problem).__name__}>"


def _is_own(filename: str, proof: str) -> bool:
    """Return whether code is the proof's: its file, or text it ran by `exec` or `eval`."""
    return filename == proof or (filename.startswith("<") and not filename.startswith("<frozen"))


def _is_check(filename: str, proof: str) -> bool:
    """Return whether a file may raise because a check failed, not because of what is checked."""
    if filename == proof:
        return True
    folders = filename.replace("\\", "/").split("/")[:-1]
    return "_pytest" in folders or folders[-1:] == ["unittest"]


class Recorder:
    """The plugin of one proof; created before the fork and configured in it."""

    def __init__(self) -> None:
        self._channel = EventWriter(-1, "")
        self._proof = ""
        self._challenge: Any = None
        self._caught: list[dict[str, Any]] = []
        self._manager: Any = None
        self._plugins: set[str] = set()

    def begin(self, channel: EventWriter, proof: str, challenge: Any = None) -> None:
        self._channel = channel
        self._proof = proof
        self._challenge = challenge

    def watch_raises(self) -> None:
        """Record what every `raises` catches: pytest only reports that it was satisfied."""
        import unittest.case

        self._wrap(type(pytest.raises(ValueError)), _get_expected)
        context: Any = vars(unittest.case)["_AssertRaisesContext"]
        self._wrap(context, lambda context: context.expected)

    def _wrap(self, context_class: Any, expected_of: Callable[[Any], Any]) -> None:
        original = context_class.__exit__

        def leave(context: Any, kind: Any, error: Any, trace: Any) -> Any:
            __tracebackhide__ = True
            # Before, because unittest takes the traceback away.
            described = describe_exception(error, self._proof) if error is not None else {}
            swallowed = original(context, kind, error, trace)
            if swallowed and described:
                expected = expected_of(context) or ()
                expected = expected if isinstance(expected, tuple) else (expected,)
                broad = not expected or any(one in _BROAD for one in expected)
                self._caught.append({**described, "broad": broad})
            return swallowed

        context_class.__exit__ = leave

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self, session: Any) -> None:
        self._manager = session.config.pluginmanager
        self._plugins = set(_plugin_names(self._manager))

    def list_new_plugins(self) -> list[str]:
        """Return the plugins that can affect outcomes and were added since the proof was read."""
        if self._manager is None:
            return []
        return sorted(set(_plugin_names(self._manager)) - self._plugins)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_make_collect_report(self, collector: Any) -> Generator[None, Any, Any]:
        report = yield
        if report.outcome != "passed":
            call = getattr(report, "call", None)
            error = call.excinfo.value if call is not None and call.excinfo else None
            if isinstance(error, pytest.Collector.CollectError) and error.__cause__ is not None:
                error = error.__cause__
            self._channel.put(
                "collect",
                outcome=report.outcome,
                error=describe_exception(error, self._proof) if error is not None else None,
                text=shorten(str(getattr(report, "longreprtext", ""))),
            )
        return report

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: Any) -> None:
        if self._challenge is not None:
            # The effects of the challenge on its process must not reach another test.
            items.sort(key=lambda item: _function(item) == self._challenge.holds)

    # The innermost: what `capsys` and `caplog` see ends with the wrappers around it.
    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_runtest_call(self, item: Any) -> Generator[None, Any, Any]:
        try:
            return (yield)
        finally:
            challenge = self._challenge
            if challenge is not None and _function(item) == challenge.holds:
                self._challenge = None  # once, whatever number of parameters a test has
                caught = list(self._caught)
                self._channel.put("challenge", **challenge.run(item.module, item.funcargs))
                self._caught[:] = caught

    @pytest.hookimpl(trylast=True)
    def pytest_collection_finish(self, session: Any) -> None:
        tests = [[_name(item), _function(item), item.location[1]] for item in session.items]
        self._channel.put("collected", tests=tests)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: Any) -> None:
        self._caught.clear()
        self._channel.send("start", test=_name(item))

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_makereport(self, item: Any, call: Any) -> Generator[None, Any, Any]:
        report = yield
        error = call.excinfo.value if call.excinfo else None
        self._channel.put(
            "phase",
            test=_name(item),
            phase=report.when,
            outcome=report.outcome,
            raised=_judge_raised(error),
            expected_failure=hasattr(report, "wasxfail"),
            error=describe_exception(error, self._proof) if error is not None else None,
            text=shorten(report.longreprtext) if error is not None else "",
            output=shorten("".join(text for _, text in report.sections)),
            seconds=call.duration,
            caught=list(self._caught),
        )
        self._caught.clear()
        return report


def _get_expected(context: Any) -> Any:
    # Its name changed with pytest 8.4, and a target may bring an older one.
    found = getattr(context, "expected_exceptions", None)
    return found if found is not None else getattr(context, "expected_exception", None)


def _judge_raised(error: BaseException | None) -> str:
    """Return the outcome that an exception implies, before any hook can change it."""
    if error is None:
        return "passed"
    return "skipped" if isinstance(error, pytest.skip.Exception) else "failed"


def _name(item: Any) -> str:
    return str(item.nodeid).partition("::")[2] or str(item.name)


def _function(item: Any) -> str:
    return _name(item).partition("[")[0]


def _plugin_names(manager: Any) -> list[str]:
    return [
        f"{name} ({getattr(plugin, '__name__', type(plugin).__qualname__)})"
        for name, plugin in manager.list_name_plugin()
        if plugin is not None
    ]
