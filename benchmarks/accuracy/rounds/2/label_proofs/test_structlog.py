import importlib
import logging
import pathlib
import sys
import warnings

import pytest
import structlog
from structlog.dev import ConsoleRenderer

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "suites"))
import structlog_snippets as snippets


@pytest.fixture(autouse=True)
def defaults():
    structlog.reset_defaults()
    yield
    structlog.reset_defaults()


def test_version():
    assert importlib.metadata.version("structlog") == "26.1.0"


def test_import_add_log_level():
    from structlog.processors import add_log_level as d
    from structlog.stdlib import add_log_level as c

    assert c is d  # C and D
    with pytest.raises(ImportError):
        from structlog.dev import add_log_level  # not A
    with pytest.raises(ImportError):
        from structlog.levels import add_log_level  # not B


def test_timestamper_without_arguments():
    import time

    value = structlog.processors.TimeStamper()(None, "info", {})["timestamp"]
    assert type(value) is float  # B, not A, C, D
    assert abs(value - time.time()) < 60


def test_dropevent_base():
    assert structlog.DropEvent.__bases__ == (BaseException,)  # B
    assert not issubclass(structlog.DropEvent, Exception)  # not A, C, D


def test_captured_entries():
    assert snippets.entries() == [{"user": "ann", "event": "login", "log_level": "warning"}]  # A, no other


def test_filtered_level():
    assert snippets.configure() == (None, '{"event": "b"}')  # B, no other


def test_rename_event_key():
    renamer = structlog.processors.EventRenamer("message")
    assert renamer(None, "info", {"event": "x"}) == {"message": "x"}  # C
    for name in ("KeyRenamer", "EventMapper", "MessageAdder"):
        for module in (structlog, structlog.processors, structlog.stdlib, structlog.dev):
            assert not hasattr(module, name)


def test_console_padding():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        old = ConsoleRenderer(colors=False, pad_event=12)
    new = ConsoleRenderer(colors=False, pad_event_to=12)
    event = {"event": "hi", "x": 1}
    assert old(None, "info", dict(event)) == new(None, "info", dict(event)) == "hi".ljust(12) + " x=1"  # B and C
    for name in ("event_width", "min_event_length"):
        with pytest.raises(TypeError):
            ConsoleRenderer(**{name: 12})  # not A, D


def test_logfmt_booleans():
    line = structlog.processors.LogfmtRenderer()(None, "info", {"event": "start", "debug": True})
    assert line == "event=start debug"  # C, no other


def test_min_level_types():
    make = structlog.make_filtering_bound_logger
    assert make(logging.INFO) is make(20) is make("info")  # A, B, C alike, hence D
    logger = structlog.wrap_logger(structlog.ReturnLogger(), processors=[lambda *a: "out"], wrapper_class=make("info"))
    assert logger.debug("x") is None and logger.info("x") == "out"


def test_logger_caching():
    rendered = []

    def first(_, __, event):
        rendered.append("first")
        return "1"

    structlog.configure(processors=[first], logger_factory=structlog.ReturnLoggerFactory(), cache_logger_on_first_use=True)
    used, unused = structlog.get_logger(), structlog.get_logger()
    assert used is not unused  # not C
    assert used.info("x") == "1" and used.info("x") == "1"  # nothing is buffered: not A
    assert rendered == ["first", "first"]  # not D
    structlog.configure(processors=[lambda *a: "2"])
    assert used.info("x") == "1"  # B
    assert unused.info("x") == "2"
    # without caching, a later configuration takes effect
    structlog.reset_defaults()
    structlog.configure(processors=[first], logger_factory=structlog.ReturnLoggerFactory())
    log = structlog.get_logger()
    assert log.info("x") == "1"
    structlog.configure(processors=[lambda *a: "2"])
    assert log.info("x") == "2"


def test_json_output():
    assert structlog.processors.JSONRenderer()(None, "info", {"event": "x"}) == '{"event": "x"}'


def test_bind_context_local():
    assert not hasattr(structlog.threadlocal, "bind_contextvars")
    with pytest.raises(ImportError):
        from structlog.threadlocal import bind_contextvars
    structlog.contextvars.bind_contextvars(a=1)
    assert structlog.contextvars.merge_contextvars(None, "info", {}) == {"a": 1}
    structlog.contextvars.clear_contextvars()
