import asyncio
import importlib.metadata
import inspect
import pathlib
import pkgutil
import sys
import warnings

import pytest
import starlette.endpoints
import starlette.middleware
import starlette.staticfiles
import starlette.status
from starlette.applications import Starlette
from starlette.background import BackgroundTasks
from starlette.config import Config, EnvironError
from starlette.middleware.gzip import GZipMiddleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.responses import PlainTextResponse, RedirectResponse

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "suites"))
import starlette_snippets as snippets


def call(app, headers=()):
    sent = []

    async def receive():
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message):
        sent.append(message)

    scope = {"type": "http", "method": "GET", "path": "/", "raw_path": b"/", "query_string": b"", "headers": list(headers),
             "scheme": "http", "server": ("testserver", 80), "http_version": "1.1", "root_path": ""}
    asyncio.run(app(scope, receive, send))
    return sent


def test_version():
    assert importlib.metadata.version("starlette") == "1.10.0"


def test_startup_hook():
    import contextlib

    done = []

    async def connect():
        done.append(1)

    with pytest.raises(TypeError):
        Starlette(on_startup=[connect])  # not A
    assert not hasattr(Starlette, "on_event")  # not B
    assert not hasattr(Starlette, "add_event_handler")  # not D

    @contextlib.asynccontextmanager
    async def lifespan(app):
        await connect()
        yield

    messages = iter([{"type": "lifespan.startup"}, {"type": "lifespan.shutdown"}])

    async def receive():
        return next(messages)

    async def send(message):
        assert message["type"].endswith(".complete")

    asyncio.run(Starlette(lifespan=lifespan)({"type": "lifespan"}, receive, send))
    assert done == [1]  # C


def test_redirect_status():
    assert RedirectResponse(url="/login").status_code == 307  # D, no other


def test_status_422():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert starlette.status.HTTP_422_UNPROCESSABLE_ENTITY == 422  # A (deprecated, works)
    assert starlette.status.HTTP_422_UNPROCESSABLE_CONTENT == 422  # B
    for name in ("HTTP_422_VALIDATION_ERROR", "HTTP_422_INVALID_ENTITY"):
        with pytest.raises(AttributeError):
            getattr(starlette.status, name)  # not C, D


def test_repeated_query_parameter():
    assert snippets.tags() == ("c", ["a", "b", "c"])  # B, no other


def test_printing_a_secret(capsys):
    snippets.show()
    assert capsys.readouterr().out == "hunter2\n"  # C, no other
    assert repr(snippets.Secret("hunter2")) == "Secret('**********')"  # what the key mixes it up with


def test_missing_setting():
    with pytest.raises(Exception) as caught:
        Config(environ={})("DATABASE_URL")  # raises: not D
    assert type(caught.value) is KeyError  # B
    assert not isinstance(caught.value, (EnvironError, ValueError))  # not A, C


def test_host_header():
    async def app(scope, receive, send):
        await PlainTextResponse("ok")(scope, receive, send)

    guarded = TrustedHostMiddleware(app, allowed_hosts=["example.org"])
    assert call(guarded, [(b"host", b"example.org")])[0]["status"] == 200
    assert call(guarded, [(b"host", b"evil.test")])[0]["status"] == 400  # C
    source = "".join(
        pathlib.Path(starlette.middleware.__path__[0], f"{m.name}.py").read_text()
        for m in pkgutil.iter_modules(starlette.middleware.__path__)
    )
    assert "class TrustedHostMiddleware" in source
    assert "AllowedHostsMiddleware" not in source and "HostValidationMiddleware" not in source  # not B, D
    from starlette.middleware.httpsredirect import HTTPSRedirectMiddleware

    sent = call(HTTPSRedirectMiddleware(app), [(b"host", b"evil.test")])
    assert sent[0]["status"] == 307  # A redirects whatever the host


def test_failing_background_task():
    ran = []

    def second():
        ran.append(2)
        raise RuntimeError

    tasks = BackgroundTasks()
    tasks.add_task(ran.append, 1)
    tasks.add_task(second)
    tasks.add_task(ran.append, 3)
    with pytest.raises(RuntimeError):
        asyncio.run(tasks())
    assert ran == [1, 2]  # C: third never runs (not A, B), second not retried (not D)


def test_gzip_threshold():
    assert inspect.signature(GZipMiddleware).parameters["minimum_size"].default == 500

    def compressed(size):
        async def app(scope, receive, send):
            await PlainTextResponse("x" * size)(scope, receive, send)

        start = call(GZipMiddleware(app), [(b"accept-encoding", b"gzip")])[0]
        return (b"content-encoding", b"gzip") in start["headers"]

    assert not compressed(499) and compressed(500)  # B, no other


def test_serve_a_directory(tmp_path):
    assert starlette.staticfiles.StaticFiles(directory=tmp_path).directory == tmp_path


def test_websocket_message_hook():
    assert not hasattr(starlette.endpoints.WebSocketEndpoint, "on_message")
    assert hasattr(starlette.endpoints.WebSocketEndpoint, "on_receive")
