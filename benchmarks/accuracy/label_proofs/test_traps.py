"""Shows on httpx 0.28.1 what labels.yaml says of each trap on it: a test per question.

Run it with plain pytest where `httpx==0.28.1` is installed, without its extra `http2`.
"""

import importlib
import inspect
import json
from contextlib import suppress

import httpx
import pytest

CLIENT = inspect.signature(httpx.Client.__init__).parameters
URL = "https://www.example.org/"


def can_import(module, name):
    with suppress(ImportError):
        return hasattr(importlib.import_module(module), name)
    return False


def raised_by(call):
    with pytest.raises(BaseException) as caught:
        call()
    return caught.type


def those(names, holds):
    return [name for name in names if holds(name)]


def exported(*names):
    return those(names, lambda one: hasattr(httpx, one))


def answering(status):
    return httpx.Client(transport=httpx.MockTransport(lambda request: httpx.Response(status)))


def test_same_error_other_reason():
    for given in ({}, {"all://": "http://127.0.0.1"}):
        with pytest.raises(TypeError, match="unexpected keyword argument 'proxies'"):
            httpx.Client(proxies=given)


def test_same_default_other_meaning():
    assert CLIENT["follow_redirects"].default is False
    assert answering(302).get(URL).status_code == 302


def test_direct_parent():
    assert httpx.ReadTimeout.__bases__ == (httpx.TimeoutException,)


def test_immediate_base():
    assert httpx.ConnectError.__bases__ == (httpx.NetworkError,)


def test_import_for_a_purpose():
    names = ["Client", "AsyncClient", "Request", "AsyncRequests"]
    assert exported(*names) == names[:3]
    assert inspect.iscoroutinefunction(httpx.AsyncClient.get)
    assert not inspect.iscoroutinefunction(httpx.Client.get)


def test_import_under_a_name():
    assert exported("Client", "Http") == ["Client"]


def test_warning_and_no_error():
    assert callable(httpx.Response(200).raise_for_status)
    assert raised_by(httpx.Response(200).raise_for_status) is RuntimeError


def test_without_a_request():
    with pytest.raises(RuntimeError, match="request instance has not been set"):
        httpx.Response(404).raise_for_status()


def test_sends_get():
    names = ["request", "send", "get", "fetch"]
    assert those(names, lambda one: hasattr(httpx.Client, one)) == names[:3]
    assert answering(200).get(URL).request.method == "GET"


def test_not_raised():
    assert raised_by(lambda: httpx.Headers({"a": "1"})["b"]) is KeyError
    assert not issubclass(KeyError, httpx.HTTPError)


def test_prints_more():
    url = httpx.URL("https://example.org:8443/a")
    assert (url.port, url.host) == (8443, "example.org")


def test_number_or_text():
    assert httpx.QueryParams({"page": 1})["page"] == "1"


def test_later_catch():
    def fetch():
        try:
            httpx.get("ftp://example.org")
        except httpx.UnsupportedProtocol:
            raise SystemExit(1) from None

    assert raised_by(fetch) is SystemExit


def test_both_needed():
    limits = httpx.Limits(max_connections=1, max_keepalive_connections=2, keepalive_expiry=3)
    assert (limits.max_connections, limits.max_keepalive_connections) == (1, 2)


def test_own_variable():
    with httpx.Client() as session:
        assert isinstance(session, httpx.Client)


def test_installed_extra():
    with pytest.raises(ImportError, match=r"pip install httpx\[http2\]"):
        httpx.Client(http2=True)


def test_annotation():
    assert type(httpx.Response(200, json=[1, 2]).json()) is list


def test_module_of_definition():
    modules = ["httpx", "httpx._config", "httpx.limits", "httpx.config"]
    assert those(modules, lambda one: can_import(one, "Limits")) == modules[:2]
    assert "Limits" in httpx.__all__


def test_both_classes():
    assert exported("Client", "AsyncClient") == ["Client", "AsyncClient"]
    assert not can_import("httpx.clients", "Client")


def test_only_class():
    assert exported("Client", "client") == ["Client"]
    assert not can_import("httpx.Client", "Client")


def test_correct_but_prefix():
    assert exported("get", "Client") == ["get", "Client"]
    with pytest.raises(ImportError):
        importlib.import_module("httpx.get")


def test_mock_server():
    names = ["MockTransport", "HTTPTransport", "FakeTransport"]
    assert exported(*names) == names[:2]
    assert not can_import("httpx.testing", "Transport")
    assert answering(204).get(URL).status_code == 204


def test_correct_import_timeouts():
    assert exported("TimeoutException", "ReadTimeout", "TimeoutError") == [
        "TimeoutException",
        "ReadTimeout",
    ]
    assert not issubclass(httpx.ConnectTimeout, httpx.ReadTimeout)


def test_class_for_timeouts():
    kinds = [httpx.ReadTimeout, httpx.ConnectTimeout, httpx.WriteTimeout, httpx.PoolTimeout]
    assert all(issubclass(one, httpx.TimeoutException) for one in kinds)


def test_default_none():
    assert CLIENT["auth"].default is None


def test_default_of_limits():
    assert CLIENT["limits"].default.max_connections == 100
    assert httpx.Limits().max_connections is None


def test_default_per_timeout():
    assert httpx.Client().timeout.connect == 5.0


def test_env_default(monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    assert httpx.Client(trust_env=False)._mounts == {}
    assert httpx.Client(trust_env=True)._mounts != {}
    assert httpx.Client(trust_env="no")._mounts != {}


def test_raises_before():
    assert raised_by(httpx.Response(200, content=b"abc").json) is json.JSONDecodeError


def test_needs_network():
    kind = raised_by(lambda: httpx.get("https://no-such-host.invalid", trust_env=False))
    assert kind is httpx.ConnectError


def test_given_name():
    client = httpx.Client()
    client.close()
    assert raised_by(lambda: client.get(URL)) is RuntimeError


def test_method_on_module():
    assert exported("request", "send", "Request", "method") == ["request", "Request"]
    assert inspect.isclass(httpx.Request)


def test_not_true():
    names = ["json", "text", "to_dict", "is_error"]
    assert those(names, lambda one: not hasattr(httpx.Response, one)) == ["to_dict"]


def test_cannot_be_passed():
    names = ["params", "headers", "json", "timeout"]
    parameters = inspect.signature(httpx.get).parameters
    assert those(names, lambda one: one not in parameters) == ["json"]


def test_removed_argument():
    names = ["proxies", "proxy", "mounts", "verify"]
    assert those(names, lambda one: one not in CLIENT) == ["proxies"]


def test_renamed_member():
    names = ["is_success", "ok", "success", "good"]
    assert those(names, lambda one: hasattr(httpx.Response, one)) == ["is_success"]


def test_network_status():
    assert answering(200).get(URL).status_code == 200


def test_network_plain():
    assert answering(200).get(URL).status_code == 200


def test_reading_a_file():
    assert raised_by(lambda: httpx.Client(base_url=json.loads("{}")["url"])) is KeyError


def test_environment():
    assert raised_by(lambda: httpx.Client(base_uri=URL)) is TypeError


def test_http2_outcome():
    assert raised_by(lambda: httpx.Client(http2=True)) is ImportError


def test_replaced():
    names = ["proxies", "adapters", "verify", "auth"]
    assert those(names, CLIENT.__contains__) == ["verify", "auth"]


def test_other_library():
    names = ["allow_redirects", "follow_redirects", "redirects", "max_redirects"]
    assert those(names, CLIENT.__contains__) == ["follow_redirects", "max_redirects"]


def test_would_raise_name():
    assert exported("Client", "Session", "URL", "Timeout") == ["Client", "URL", "Timeout"]


def test_does_not_exist():
    assert exported("Client", "Session", "URL", "Timeout") == ["Client", "URL", "Timeout"]


def test_misspelled():
    names = ["AsyncClient", "AsynClient", "Client", "Timeout"]
    assert those(names, lambda one: not can_import("httpx", one)) == ["AsynClient"]


def test_fails_import():
    names = ["AsyncClient", "Session", "Client", "Timeout"]
    assert those(names, lambda one: not can_import("httpx", one)) == ["Session"]


def test_invent():
    names = ["auth_flow", "authenticate", "sign", "apply"]
    assert those(names, lambda one: hasattr(httpx.Auth, one)) == ["auth_flow"]


def test_add_parameter():
    names = ["retries", "verify", "cert", "auth"]
    assert those(names, lambda one: one not in CLIENT) == ["retries"]


def test_transport_retries():
    classes = [httpx.HTTPTransport, httpx.Client, httpx.Timeout, httpx.Limits]
    takes = [one for one in classes if "retries" in inspect.signature(one).parameters]
    assert takes == [httpx.HTTPTransport]


def test_invalid_parameter():
    names = ["connect", "read", "total", "pool"]
    parameters = inspect.signature(httpx.Timeout).parameters
    assert those(names, lambda one: one not in parameters) == ["total"]


def test_raises_type_error():
    names = ["verify", "timeout", "allow_redirects", "http1"]
    assert those(names, lambda one: one not in CLIENT) == ["allow_redirects"]


def test_event_hooks():
    assert set(httpx.Client().event_hooks) == {"request", "response"}


def test_extension_key():
    assert httpx.Response(200, extensions={"http_version": b"HTTP/2"}).http_version == "HTTP/2"


def test_header_name():
    request = httpx.Request("GET", URL)
    signed = next(httpx.BasicAuth("name", "word").auth_flow(request))
    assert "Authorization" in signed.headers
