import enum
import importlib
import importlib.metadata
import inspect
import pathlib
import sys
import time

import pytest
import redis
from redis import exceptions as exc
from redis.connection import Connection

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "suites"))
import redis_snippets  # noqa: E402


def test_version():
    assert importlib.metadata.version("redis") == "8.1.0"


class FakeConnection(Connection):
    """A connection that needs no server."""

    sent = []
    disconnected = 0

    def connect(self, *a, **k):
        pass

    def can_read(self, *a, **k):
        return False

    def disconnect(self, *a, **k):
        type(self).disconnected += 1

    def send_packed_command(self, command, check_health=True):
        type(self).sent.append(b"".join(command) if not isinstance(command, bytes) else command)

    def read_response(self, *a, **k):
        return b"OK"


def pool(cls, **kw):
    FakeConnection.sent = []
    FakeConnection.disconnected = 0
    return cls(connection_class=FakeConnection, **kw)


def test_asyncio_import():
    from redis.asyncio import Redis as a
    from redis.asyncio.client import Redis as c
    assert a is c and inspect.iscoroutinefunction(a.aclose)
    with pytest.raises(ImportError):
        from redis import AsyncRedis  # noqa: F401
    with pytest.raises(ImportError):
        importlib.import_module("redis.aio")


def test_socket_timeout_default():
    assert inspect.signature(redis.Redis).parameters["socket_timeout"].default == 5
    assert redis.Redis().get_connection_kwargs()["socket_timeout"] == 5
    assert redis.Redis().connection_pool.make_connection().socket_timeout == 5


def test_empty_mapping():
    with pytest.raises(Exception) as e:
        redis_snippets.save_profile()
    assert type(e.value) is exc.DataError
    assert not issubclass(exc.DataError, (ValueError, TypeError, exc.ResponseError))


def test_url_with_two_dbs(capsys):
    client = redis.Redis.from_url("redis://localhost:6379/1?db=4")
    print(client.get_connection_kwargs()["db"])
    assert capsys.readouterr().out == "4\n"


def test_queued_length(capsys):
    redis_snippets.queue_commands()
    assert capsys.readouterr().out == "3\n"


def test_backoff_third_failure():
    from redis.backoff import ExponentialBackoff
    assert ExponentialBackoff(cap=10, base=1).compute(3) == 8


def test_blocking_pool_difference():
    plain = pool(redis.ConnectionPool, max_connections=1)
    plain.get_connection()
    t = time.monotonic()
    with pytest.raises(exc.ConnectionError):
        plain.get_connection()
    assert time.monotonic() - t < 0.2
    blocking = pool(redis.BlockingConnectionPool, max_connections=2, timeout=0.5)
    assert len(blocking._connections) == 0  # A is wrong: nothing is opened at creation
    first = blocking.get_connection()
    blocking.get_connection()
    t = time.monotonic()
    with pytest.raises(exc.ConnectionError):
        blocking.get_connection()
    assert time.monotonic() - t >= 0.45
    blocking.release(first)
    import threading
    got = []
    th = threading.Thread(target=lambda: got.append(blocking.get_connection()))
    th.start(), th.join()
    assert got == [first]  # C is wrong: another thread gets the same connection
    assert inspect.signature(redis.BlockingConnectionPool).parameters["timeout"].default == 20
    # D is wrong: serves any command
    c = redis.Redis(connection_pool=pool(redis.BlockingConnectionPool, max_connections=1, protocol=2))
    assert c.set("a", 1)


def test_lock_blocking_timeout():
    client = redis.Redis()
    seen = []
    client.set = lambda *a, **k: seen.append(k) and None  # never acquired
    lock = client.lock("l", timeout=7, sleep=0.05, blocking_timeout=0.3)
    t = time.monotonic()
    assert lock.acquire() is False
    assert 0.15 < time.monotonic() - t < 1.5  # gives up
    assert all(k["px"] == 7000 for k in seen) and len(seen) > 2  # the lifetime is `timeout`, the pause `sleep`
    seen.clear()
    client.lock("l", blocking_timeout=0.1).acquire()
    assert all(k["px"] is None for k in seen)  # A: blocking_timeout gives no lifetime
    assert "maximum amount of time in seconds to" in inspect.getdoc(redis.Redis.lock)


def test_pool_teardown():
    for name in ("disconnect", "close"):
        p = pool(redis.ConnectionPool)
        used, idle = p.get_connection(), p.get_connection()
        p.release(idle)
        FakeConnection.disconnected = 0
        getattr(p, name)()
        assert FakeConnection.disconnected == 2, name
        assert used in p._in_use_connections
    for name in ("purge", "shutdown"):
        assert not hasattr(redis.ConnectionPool, name)


def test_pipeline_without_transaction():
    for transaction in (True, False):
        p = redis.Redis(connection_pool=pool(redis.ConnectionPool, protocol=2)).pipeline(transaction=transaction)
        p.set("a", 1)
        p.set("b", 2)
        assert FakeConnection.sent == []  # B, D: buffered, writes are accepted
        conn = p.connection_pool.make_connection()
        commands = list(p.command_stack)
        if transaction:
            p._execute_transaction(conn, commands, True)
        else:
            assert len(p._execute_pipeline(conn, commands, True)) == 2
        assert len(FakeConnection.sent) == 1
        assert (b"MULTI" in FakeConnection.sent[0]) is transaction
        assert (b"EXEC" in FakeConnection.sent[0]) is transaction
    # C: an error stays in the list of results
    p = redis.Redis().pipeline(transaction=False)
    p.set("a", 1)
    p.parse_response = lambda *a, **k: (_ for _ in ()).throw(exc.ResponseError("no"))
    out = p._execute_pipeline(conn, list(p.command_stack), False)
    assert len(out) == 1 and isinstance(out[0], exc.ResponseError)
    with pytest.raises(exc.ResponseError):
        p._execute_pipeline(conn, list(p.command_stack), True)


def test_not_a_strategy():
    from redis.cluster import LoadBalancingStrategy as s
    assert issubclass(s, enum.Enum)
    assert {"ROUND_ROBIN", "RANDOM_REPLICA", "ROUND_ROBIN_REPLICAS"} <= set(s.__members__)
    assert "LEAST_CONNECTIONS" not in s.__members__


def test_api_static_credentials():
    from redis.credentials import UsernamePasswordCredentialProvider as u
    assert redis.UsernamePasswordCredentialProvider is u
    assert u("me", "secret").get_credentials() == ("me", "secret")


def test_api_backoff_interface():
    from redis import backoff
    assert not hasattr(backoff, "BaseBackoff")
    assert inspect.isabstract(backoff.AbstractBackoff)
    assert issubclass(backoff.ExponentialBackoff, backoff.AbstractBackoff)
