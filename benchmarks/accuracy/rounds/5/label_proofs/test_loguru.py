import datetime
import inspect
import logging
import os
import subprocess
import sys
import types

import loguru
import loguru_snippets as snippets
import pytest
from loguru import logger
from loguru._file_sink import FileSink

Logger = type(logger)


@pytest.fixture(autouse=True)
def clean():
    logger.remove()
    yield
    logger.remove()


def test_version():
    assert loguru.__version__ == "0.7.3"


def test_success_severity():
    assert logger.level("SUCCESS").no == 25


def test_catch_return_value():
    def fail(): raise RuntimeError
    assert logger.catch(default=-1)(fail)() == -1
    assert logger.catch(onerror=lambda e: -1)(fail)() is None
    with pytest.raises(TypeError):
        logger.catch(onerror=-1)(fail)()      # -1 is not callable
    for name in ("fallback", "return_value"):
        with pytest.raises(TypeError):
            logger.catch(**{name: -1})


def test_no_default_handler():
    def emitted(**env):
        return subprocess.run([sys.executable, "-c", "from loguru import logger; logger.info('x')"], capture_output=True, env={**os.environ, **env}).stderr
    assert emitted()
    assert emitted(LOGURU_AUTOINIT="0") == b""
    for name in ("LOGURU_NO_HANDLER", "LOGURU_DISABLE", "LOGURU_STDERR"):
        assert emitted(**{name: "0"})


def test_remove_twice():
    with pytest.raises(Exception) as e:
        snippets.rotate_handlers()
    assert type(e.value) is ValueError


def test_relevel_info():
    with pytest.raises(Exception) as e:
        logger.level("INFO", no=22)
    assert type(e.value) is ValueError        # the key says TypeError (as up to 0.7.2)
    assert logger.level("INFO").no == 20


def test_bind_or_contextualize():
    seen = []
    logger.add(lambda m: seen.append(dict(m.record["extra"])), format="{message}")
    bound = logger.bind(a=1)
    assert isinstance(bound, Logger) and bound is not logger
    bound.info("x"); logger.info("x")
    assert seen == [{"a": 1}, {}]             # A, C wrong: others untouched, and bind() does reach the extra dict
    seen.clear()
    import threading
    with logger.contextualize(b=2) as value:
        assert value is None
        logger.info("x")
        t = threading.Thread(target=lambda: logger.info("t")); t.start(); t.join()
    logger.info("x")
    assert seen == [{"b": 2}, {}, {}]         # only this thread, only in the block
    assert Logger.bind is not Logger.contextualize


def test_backtrace_meaning():
    def report(**options):
        out = []
        logger.remove()
        logger.add(out.append, format="{message}", colorize=False, **options)
        def inner(secret):
            return secret / 0
        def caught():
            try:
                inner(424242)
            except ZeroDivisionError:
                logger.exception("boom")
        def outermost_caller():
            caught()
        outermost_caller()
        return str(out[0])
    neither = report(backtrace=False, diagnose=False)
    back = report(backtrace=True, diagnose=False)
    diag = report(backtrace=False, diagnose=True)
    assert "in outermost_caller" in back and "in outermost_caller" not in neither   # A right
    values = "└ 424242"
    assert values not in back and values in diag                                     # B wrong: that is diagnose
    def broken(m): raise KeyError
    logger.remove(); logger.add(broken, backtrace=True, catch=False)
    with pytest.raises(KeyError):                                                    # C wrong: that is catch
        logger.info("x")
    out = []
    logger.remove(); logger.add(out.append, format="{message}", backtrace=True)
    logger.info("plain")
    assert out == ["plain\n"]                                                        # D wrong


def test_rotate_at_midnight(tmp_path):
    def limit(rotation):
        path = tmp_path / "app.log"
        with open(path, "a") as file:
            function = FileSink._make_rotation_function(rotation)
            message = types.SimpleNamespace(record={"time": datetime.datetime.now().astimezone()})
            assert function(message, file) is False
            return function._limit
    tomorrow = datetime.date.today() + datetime.timedelta(days=1)
    for right in ("00:00", "daily"):
        got = limit(right)
        assert got.time() == datetime.time(0, 0) and got.date() == tomorrow
        function = FileSink._make_rotation_function(right)
        assert function._step_forward(datetime.datetime(2024, 5, 5)) == datetime.datetime(2024, 5, 6)    # and a day later, again at midnight
    assert limit("24 hours").time() != datetime.time(0, 0)
    with pytest.raises(ValueError):
        logger.add(tmp_path / "x.log", rotation="midnight")


def test_missing_request_id():
    done = subprocess.run([sys.executable, "-B", "-c", "import loguru_snippets as s; s.main()"], capture_output=True, text=True,
                          cwd=os.path.dirname(snippets.__file__))
    assert done.returncode == 0
    assert done.stdout == "done\n"
    assert "Logging error in Loguru Handler" in done.stderr and "KeyError: 'request_id'" in done.stderr


def test_unsupported_compression(tmp_path):
    for name in ("gz", "tar.xz", "zip"):
        logger.add(tmp_path / name, compression=name)
    with pytest.raises(ValueError):
        logger.add(tmp_path / "r", compression="rar")


def test_sink_kinds(tmp_path):
    import asyncio
    logger.add(tmp_path / "p.log", format="{message}")
    got = []
    class H(logging.Handler):
        def emit(self, record): got.append(record.getMessage())
    logger.add(H(), format="{message}")
    awaited = []
    async def sink(m): awaited.append(str(m))
    async def run():
        logger.add(sink, format="{message}")
        logger.info("x")
        await logger.complete()
    asyncio.run(run())
    assert (tmp_path / "p.log").read_text() == "x\n" and got == ["x"] and awaited == ["x\n"]


# api_understanding
def test_scoped_extra_method():
    assert not hasattr(loguru, "Logger")      # the stub file declares it, the package does not have it
    with pytest.raises(ImportError):
        exec("from loguru import Logger")
    assert hasattr(Logger, "contextualize")   # the method's name itself is right


def test_read_back_logs(tmp_path):
    from loguru._logger import Logger as found
    assert inspect.isfunction(found.parse)
    (tmp_path / "f").write_text("a=1\na=2\n")
    assert list(logger.parse(str(tmp_path / "f"), r"a=(?P<v>\d)")) == [{"v": "1"}, {"v": "2"}]
