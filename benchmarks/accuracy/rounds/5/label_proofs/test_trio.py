import importlib.util
import pathlib
import sys
import threading
import time

import pytest
import trio
import trio.testing

SUITES = pathlib.Path(__file__).parent.parent / "suites"


def snippets():
    spec = importlib.util.spec_from_file_location("trio_snippets", SUITES / "trio_snippets.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_version():
    assert trio.__version__ == "0.35.0"


def test_give_up_on_thread():
    release = threading.Event()

    async def with_argument(**kwargs):
        with trio.move_on_after(0.05) as scope:
            await trio.to_thread.run_sync(release.wait, **kwargs)
        return scope.cancelled_caught

    assert trio.run(lambda: with_argument(abandon_on_cancel=True)) is True
    release.set()
    for wrong in ({"cancellable": True}, {"daemon": True}, {"shield": False}):
        with pytest.raises(TypeError):
            trio.run(lambda: with_argument(**wrong))


def test_start_subprocess():
    assert not hasattr(trio, "open_process")
    assert not hasattr(trio.Process, "spawn")
    command = [sys.executable, "-c", "import time; time.sleep(1)"]

    async def main():
        process = await trio.lowlevel.open_process(command)
        assert isinstance(process, trio.Process)
        assert process.poll() is None
        process.kill()
        await process.wait()
        before = time.monotonic()
        result = await trio.run_process(command)
        assert time.monotonic() - before >= 1
        assert not isinstance(result, trio.Process)

    trio.run(main)


def test_cancelled_caught():
    async def main():
        with trio.CancelScope() as scope:
            scope.cancel()
        # requested, but nothing caught: A is cancel_called
        assert scope.cancel_called and not scope.cancelled_caught
        with trio.CancelScope() as scope:
            scope.cancel()
            await trio.sleep(1)
        assert scope.cancelled_caught
        # D: the outer scope is cancelled, the inner one catches nothing
        with trio.CancelScope() as outer:
            with trio.CancelScope() as inner:
                outer.cancel()
                await trio.sleep(1)
        assert outer.cancelled_caught and not inner.cancelled_caught
        # C: swallowed by the code inside
        with trio.CancelScope() as scope:
            scope.cancel()
            try:
                await trio.sleep(1)
            except trio.Cancelled:
                pass
        assert not scope.cancelled_caught

    trio.run(main)


def test_five_seconds():
    async def main(make):
        reached = False
        with make():
            await trio.sleep(60)
            reached = True
        assert not reached
        return trio.current_time()

    def run(make):
        async def timed():
            start = trio.current_time()
            return await main(make) - start
        return trio.run(timed, clock=trio.testing.MockClock(autojump_threshold=0))

    assert run(lambda: trio.move_on_after(5)) == pytest.approx(5)
    assert run(lambda: trio.CancelScope(relative_deadline=5)) == pytest.approx(5)
    with pytest.raises(trio.TooSlowError):
        run(lambda: trio.fail_after(5))
    assert not hasattr(trio, "timeout_after")


def test_single_failing_child(capsys):
    trio.run(snippets().main)
    assert capsys.readouterr().out == "group of 1\n"


def test_autojump_threshold():
    # documentation: "if ... all tasks have been blocked for this many real seconds ... jumps ahead to the next scheduled timeout"
    assert "all tasks have been blocked for this many real seconds" in " ".join(trio.testing.MockClock.__doc__.split())
    clock = trio.testing.MockClock(autojump_threshold=0.2)
    before = time.monotonic()

    async def main():
        await trio.sleep(1000)  # longer than the threshold: allowed (B)
        assert trio.current_time() == pytest.approx(1000)
        clock.jump(7)
        assert trio.current_time() == pytest.approx(1007)  # not the threshold (D)

    trio.run(main, clock=clock)
    assert 0.15 <= time.monotonic() - before < 5
    assert clock.rate == 0.0  # (A) is another attribute


def test_drain_a_channel(capsys):
    trio.run(snippets().drain)
    assert capsys.readouterr().out == "['a', 'b']\nend\n"


def test_start_or_start_soon():
    log = []

    async def child(task_status=trio.TASK_STATUS_IGNORED):
        log.append(threading.get_ident())
        await trio.sleep(0.01)
        task_status.started("ready")
        await trio.sleep(0.05)
        log.append("finished")
        return "result"

    async def main():
        async with trio.open_nursery() as nursery:
            assert await nursery.start(child) == "ready"
            assert log == [threading.get_ident()]
        assert log[-1] == "finished"
        log.clear()
        async with trio.open_nursery() as nursery:
            assert nursery.start_soon(child) is None
            assert log == []

    trio.run(main)


def test_no_checkpoint():
    async def worker():
        pass

    async def main():
        with trio.testing.assert_checkpoints():
            await trio.sleep(0)
        with trio.testing.assert_checkpoints():
            await trio.lowlevel.checkpoint()
        event = trio.Event()
        event.set()
        with trio.testing.assert_checkpoints():
            await event.wait()
        async with trio.open_nursery() as nursery:
            with trio.testing.assert_no_checkpoints():
                nursery.start_soon(worker)

    trio.run(main)


def test_thread_limit():
    async def main():
        return trio.to_thread.current_default_thread_limiter().total_tokens

    assert trio.run(main) == 40


def test_half_closeable():
    base = trio.abc.HalfCloseableStream
    assert issubclass(trio.SocketStream, base)
    for other in (trio.SSLStream, trio.testing.MemorySendStream, trio.testing.MemoryReceiveStream):
        assert not issubclass(other, base)
        assert not hasattr(other, "send_eof")


def test_api_glue_two_streams():
    async def main():
        send, receive = trio.testing.memory_stream_one_way_pair()
        both = trio.StapledStream(send, receive)
        assert isinstance(both, trio.abc.Stream)
        await both.send_all(b"x")
        assert await both.receive_some() == b"x"

    trio.run(main)


def test_api_several_errors():
    assert not hasattr(trio, "MultiError")

    async def fail():
        raise ValueError

    async def main():
        async with trio.open_nursery() as nursery:
            nursery.start_soon(fail)
            nursery.start_soon(fail)

    with pytest.raises(ExceptionGroup) as info:
        trio.run(main)
    assert type(info.value) is ExceptionGroup and len(info.value.exceptions) == 2
