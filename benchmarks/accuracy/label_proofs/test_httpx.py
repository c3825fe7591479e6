"""Shows on httpx 0.28.1 what labels.yaml says of each question on it: a test per question.

Run it with plain pytest where `httpx==0.28.1` is installed, without its extra `http2`.
"""

import importlib
import inspect
import json
import time
from contextlib import suppress

import httpx
import pytest

CLIENT = inspect.signature(httpx.Client.__init__).parameters


def can_import(module, name):
    with suppress(ImportError):
        return hasattr(importlib.import_module(module), name)
    return False


def raised_by(call):
    with pytest.raises(Exception) as caught:
        call()
    return caught.type


def those(names, holds):
    return [name for name in names if holds(name)]


def test_follow_redirects():
    names = ["allow_redirects", "follow_redirects", "redirect", "autofollow"]
    assert those(names, CLIENT.__contains__) == ["follow_redirects"]


def test_timeout_default():
    assert inspect.signature(httpx.get).parameters["timeout"].default == httpx.Timeout(5.0)


def test_status_error():
    response = httpx.Response(404, request=httpx.Request("GET", "https://example.org"))
    assert raised_by(response.raise_for_status) is httpx.HTTPStatusError
    assert not issubclass(httpx.HTTPStatusError, httpx.RequestError | ValueError)


def test_async_client_import():
    modules = ["httpx", "httpx.aio", "httpx.asyncio", "httpx.client"]
    assert those(modules, lambda one: can_import(one, "AsyncClient")) == ["httpx"]


def test_not_an_attribute():
    names = ["status_code", "ok", "is_success", "headers"]
    assert those(names, lambda one: not hasattr(httpx.Response(200), one)) == ["ok"]


def test_many_requests():
    assert hasattr(httpx, "Client")
    assert hasattr(httpx, "get")
    assert not hasattr(httpx, "Session")


def test_http2_switch():
    names = ["http2", "http_version", "use_http2", "protocol"]
    assert those(names, CLIENT.__contains__) == ["http2"]
    with pytest.raises(ImportError, match="h2"):
        httpx.Client(http2=True)


def test_session_class():
    names = ["Session", "HTTPSession", "ClientSession", "Client"]
    assert those(names, lambda one: hasattr(httpx, one)) == ["Client"]


def test_url_parameter():
    assert httpx.URL("https://example.org/search?page=1").params["page"] == "1"


def test_connect_timeout_parent():
    classes = [httpx.TimeoutException, httpx.ConnectError, httpx.NetworkError, httpx.StreamError]
    bases = those(classes, lambda one: issubclass(httpx.ConnectTimeout, one))
    assert bases == [httpx.TimeoutException]


def test_reason_phrase():
    assert httpx.Response(204).reason_phrase == "No Content"


def test_digest_class():
    names = ["DigestAuth", "HTTPDigestAuth", "auth", "DigestAuthentication"]
    assert those(names, lambda one: hasattr(httpx, one)) == ["DigestAuth"]


def test_redirect_limit():
    assert CLIENT["max_redirects"].default == 20


def test_unknown_scheme():
    kind = raised_by(lambda: httpx.get("ftp://example.org/file"))
    assert kind is httpx.UnsupportedProtocol
    assert not issubclass(kind, httpx.InvalidURL | httpx.ConnectError | ValueError)


def test_mock_transport_import():
    modules = ["httpx.testing", "httpx", "httpx.mock", "httpx.transports.mock"]
    assert those(modules, lambda one: can_import(one, "MockTransport")) == ["httpx"]


def test_relative_urls():
    names = ["base_url", "root_url", "url_prefix", "prefix_url"]
    assert those(names, CLIENT.__contains__) == ["base_url"]


def test_header_lookup():
    assert httpx.Headers({"Content-Type": "text/plain"})["content-type"] == "text/plain"


def test_status_codes():
    options = {
        "equal to the number": httpx.codes.OK == 200,
        "found by the number": httpx.codes(200) is httpx.codes.OK,
        "equal to its digits": httpx.codes.OK == "200",
        "below 400": httpx.codes.NOT_FOUND < 400,
    }
    assert those(options, options.get) == ["equal to the number", "found by the number"]


def test_proxy_argument():
    names = ["proxies", "proxy_url", "http_proxy", "proxy"]
    assert those(names, CLIENT.__contains__) == ["proxy"]
    assert not [one for one in CLIENT.values() if one.kind is inspect.Parameter.VAR_KEYWORD]


def test_not_a_parameter():
    names = ["verify", "cert", "follow_redirects", "allow_redirects"]
    assert those(names, lambda one: one not in CLIENT) == ["allow_redirects"]


def test_broken_json():
    kind = raised_by(httpx.Response(200, text="no json").json)
    assert kind is json.JSONDecodeError
    assert issubclass(kind, ValueError)


def test_slow_answer():
    import socket

    with socket.create_server(("127.0.0.1", 0)) as server:
        started = time.monotonic()
        url = f"http://127.0.0.1:{server.getsockname()[1]}"
        assert raised_by(lambda: httpx.get(url, timeout=0.2, trust_env=False)) is httpx.ReadTimeout
        assert time.monotonic() - started < 5
    assert {base.__module__ for base in httpx.ReadTimeout.__mro__} == {"httpx", "builtins"}
