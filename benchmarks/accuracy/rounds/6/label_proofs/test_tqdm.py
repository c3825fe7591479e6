import asyncio
import importlib
import importlib.metadata
import inspect
import io
import logging
import pathlib
import subprocess
import sys
import types
from unittest import mock

import pytest
import tqdm as pkg
from tqdm import tqdm, trange

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "suites"))
import tqdm_snippets  # noqa: E402


def test_version():
    assert importlib.metadata.version("tqdm") == "4.70.1"


def test_bar_over_range():
    for bar in (trange(100, file=io.StringIO()), tqdm(range(100), file=io.StringIO())):
        assert type(bar) is tqdm and bar.total == 100 and len(list(bar)) == 100
    with pytest.raises(TypeError):
        list(tqdm(100, file=io.StringIO()))
    assert not hasattr(tqdm, "range")


def test_mininterval_default():
    assert inspect.signature(tqdm.__init__).parameters["mininterval"].default == 0.1
    assert tqdm(file=io.StringIO()).mininterval == 0.1


def test_unknown_keyword():
    with pytest.raises(Exception) as e:
        tqdm(range(3), label="Loading")
    assert type(e.value) is pkg.TqdmKeyError
    assert not isinstance(e.value, (TypeError, pkg.TqdmTypeError, AttributeError))


def test_reset_bar(capsys):
    tqdm_snippets.reuse_bar()
    assert capsys.readouterr().out == "4 0 20\n"


def test_gather_order(capsys):
    asyncio.run(tqdm_snippets.main())
    assert capsys.readouterr().out == "['a', 'b', 'c']\n"


def test_disable_none():
    class Tty(io.StringIO):
        def isatty(self):
            return True
    assert tqdm(range(3), file=io.StringIO(), disable=None).disable is True
    assert not tqdm(range(3), file=Tty(), disable=None).disable
    assert not tqdm(file=Tty(), disable=None).disable  # C: the total does not matter


def test_thread_or_process():
    import concurrent.futures as cf
    from tqdm.contrib.concurrent import process_map, thread_map
    # D: which executor is used
    for fn, name in ((thread_map, "ThreadPoolExecutor"), (process_map, "ProcessPoolExecutor")):
        with mock.patch.object(cf, name, side_effect=RuntimeError("used " + name)):
            with pytest.raises(RuntimeError, match="used " + name):
                fn(abs, [-1], file=io.StringIO())
    # A, C: both give lists and take several iterables
    for fn in (thread_map, process_map):
        assert fn(pow, [2, 3], [3, 2], max_workers=1, file=io.StringIO()) == [8, 9]
    # B: one bar each
    for fn in (thread_map, process_map):
        bars = []

        class Counting(tqdm):
            def __init__(self, *a, **k):
                bars.append(self)
                super().__init__(*a, **k)
        Counting.__qualname__ = "Counting"
        globals()["Counting"] = Counting
        fn(abs, [-1, -2], max_workers=2, tqdm_class=Counting, file=io.StringIO())
        assert len(bars) == 1


def test_smoothing_meaning():
    doc = " ".join(tqdm.__doc__.split())
    assert "Ranges from 0 (average speed) to 1 (current/instantaneous speed)" in doc

    def rate(smoothing):
        clock = [0.0]
        with mock.patch.object(tqdm, "monitor_interval", 0):
            bar = tqdm(total=100, smoothing=smoothing, file=io.StringIO(), mininterval=0, miniters=1)
            bar._time = lambda: clock[0]
            bar.start_t = bar.last_print_t = 0.0
            clock[0] = 10.0
            bar.update(10)   # 1 per second
            clock[0] = 11.0
            bar.update(10)   # 10 per second
            d = bar.format_dict
            bar.disable = True
            return d["rate"] if d["rate"] is not None else d["n"] / d["elapsed"]
    assert abs(rate(0) - 20 / 11) < 1e-6
    assert abs(rate(1) - 10) < 1e-6


def run_cli(*args):
    return subprocess.run([sys.executable, "-m", "tqdm", *args], input=b"ab\ncde\n", capture_output=True)


def test_cli_bytes():
    p = run_cli("--bytes")
    assert p.returncode == 0 and p.stdout == b"ab\ncde\n" and b"7.00" in p.stderr and b"B/s" in p.stderr
    for bad in ("--count-bytes", "--binary"):
        p = run_cli(bad)
        assert p.returncode != 0 and b"TqdmKeyError" in p.stderr
    p = run_cli("--unit=B")
    assert p.returncode == 0 and b"2B [" in p.stderr  # two lines, only labelled as B


def test_log_messages():
    from tqdm.contrib import logging as tl
    log = logging.getLogger("r6b")
    log.propagate = False
    log.handlers = [logging.StreamHandler(sys.stderr)]
    before = log.handlers
    with mock.patch.object(tqdm, "write") as w:
        with tl.logging_redirect_tqdm(loggers=[log]):
            log.warning("hello")
    assert w.call_args[0][0] == "hello" and log.handlers is before
    assert not hasattr(tl, "redirect_logging") and not hasattr(tl, "capture_logs")
    with pytest.raises(ImportError):
        importlib.import_module("tqdm.logging")


def test_api_file_progress():
    import tqdm.std
    assert tqdm.std.tqdm is pkg.tqdm and isinstance(inspect.getattr_static(pkg.tqdm, "wrapattr"), classmethod)
    with pkg.tqdm.wrapattr(io.BytesIO(b"x" * 10), "read", total=10, file=io.StringIO()) as f:
        assert f.read() == b"x" * 10


def test_api_async_gather():
    from tqdm.asyncio import tqdm_asyncio
    assert not hasattr(pkg.tqdm, "gather") and hasattr(tqdm_asyncio, "gather")
    assert not isinstance(pkg.tqdm, types.ModuleType)
