import asyncio
import importlib
import inspect
import socket
import warnings

import aiohttp
import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer

import aiohttp_snippets


def test_version():
    assert aiohttp.__version__ == "3.14.5"


def test_default_total_timeout():
    async def main():
        async with aiohttp.ClientSession() as s:
            return s.timeout.total

    assert asyncio.run(main()) == 300


def test_json_from_html():
    async def page(request):
        return web.Response(text='{"ok": true}', content_type="text/html")

    async def main():
        app = web.Application()
        app.router.add_get("/", page)
        async with TestServer(app) as server:
            with pytest.raises(aiohttp.ContentTypeError) as e:
                await aiohttp_snippets.fetch(str(server.make_url("/")))
            assert not isinstance(e.value, (ValueError, aiohttp.ClientPayloadError))

    asyncio.run(main())


def test_import_wsmsgtype():
    from aiohttp import WSMsgType as a
    from aiohttp.web import WSMsgType as b

    assert a is b
    for name in ("aiohttp.websocket", "aiohttp.ws"):
        with pytest.raises(ModuleNotFoundError):
            importlib.import_module(name)


def test_run_app_port(monkeypatch):
    seen = []

    class Site(web.TCPSite):
        async def start(self):
            seen.append(self._port)
            raise web.GracefulExit()

    monkeypatch.setattr(web, "TCPSite", Site)
    web.run_app(web.Application(), print=None)
    assert seen == [8080]


def test_ignore_cookies():
    for missing in ("NullCookieJar", "EmptyCookieJar"):
        assert not hasattr(aiohttp, missing)

    async def page(request):
        r = web.json_response(dict(request.cookies))
        r.set_cookie("k", "v")
        return r

    async def second(jar):
        app = web.Application()
        app.router.add_get("/", page)
        async with TestServer(app) as server, aiohttp.ClientSession(cookie_jar=jar()) as s:
            url = str(server.make_url("/"))
            await (await s.get(url)).json()
            return await (await s.get(url)).json()

    assert asyncio.run(second(aiohttp.DummyCookieJar)) == {}
    assert asyncio.run(second(lambda: aiohttp.CookieJar(unsafe=True))) == {"k": "v"}


def test_number_as_session_timeout():
    with pytest.raises(ValueError):
        asyncio.run(aiohttp_snippets.main())


def test_middleware_decorator():
    assert not hasattr(web, "request_middleware") and not hasattr(web, "filter")
    assert not hasattr(web.Application(), "middleware")

    @web.middleware
    async def mw(request, handler):
        r = await handler(request)
        r.headers["X-M"] = "1"
        return r

    async def page(request):
        return web.Response()

    async def main():
        app = web.Application(middlewares=[mw])
        app.router.add_get("/", page)
        async with TestClient(TestServer(app)) as c:
            return (await c.get("/")).headers["X-M"]

    assert asyncio.run(main()) == "1"


def test_redirect_302():
    codes = {n: getattr(web, n).status_code for n in ("HTTPMovedPermanently", "HTTPFound", "HTTPSeeOther", "HTTPTemporaryRedirect")}
    assert codes == {"HTTPMovedPermanently": 301, "HTTPFound": 302, "HTTPSeeOther": 303, "HTTPTemporaryRedirect": 307}


def test_connection_refused():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]

    async def main():
        async with aiohttp.ClientSession() as session:
            await session.get(f"http://127.0.0.1:{port}/")

    with pytest.raises(aiohttp.ClientConnectorError) as e:
        asyncio.run(main())
    assert isinstance(e.value, aiohttp.ClientConnectionError)
    assert not isinstance(e.value, (aiohttp.ContentTypeError, aiohttp.InvalidURL))


def test_handler_returns_dict():
    async def info(request):
        return {"version": 1}

    async def main():
        app = web.Application()
        app.router.add_get("/info", info)
        async with TestClient(TestServer(app)) as c:
            return (await c.get("/info")).status

    assert asyncio.run(main()) == 500


def test_purpose_of_cleanup_ctx():
    events = []

    async def ctx(app):
        events.append("up")
        yield
        events.append("down")

    async def page(request):
        events.append("request")
        return web.Response()

    async def main():
        app = web.Application()
        app.cleanup_ctx.append(ctx)
        app.router.add_get("/", page)
        async with TestClient(TestServer(app)) as c:
            await c.get("/")
            await c.get("/")

    asyncio.run(main())
    assert events == ["up", "request", "request", "down"]


def test_api_server_websocket():
    import aiohttp.web_ws

    assert web.WebSocketResponse is aiohttp.web_ws.WebSocketResponse

    async def handler(request):
        ws = web.WebSocketResponse()
        await ws.prepare(request)
        await ws.send_str("hi")
        await ws.close()
        return ws

    async def main():
        app = web.Application()
        app.router.add_get("/", handler)
        async with TestClient(TestServer(app)) as c:
            ws = await c.ws_connect("/")
            return await ws.receive_str()

    assert asyncio.run(main()) == "hi"


def test_api_reuse_signal():
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("aiohttp.client_tracing")
    assert hasattr(aiohttp.TraceConfig, "on_connection_reuseconn")  # the name as such is right
