import contextlib
import http.server
import importlib
import importlib.util
import inspect
import pathlib
import socket
import threading

import pytest
import requests
from requests.adapters import HTTPAdapter

SUITES = pathlib.Path(__file__).parent.parent / "suites"


@pytest.fixture(autouse=True)
def no_proxies(monkeypatch):
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


def snippets():
    spec = importlib.util.spec_from_file_location("requests_snippets", SUITES / "requests_snippets.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@contextlib.contextmanager
def server(handle):
    class Handler(http.server.BaseHTTPRequestHandler):
        def log_message(self, *args):
            pass

    for method in ("GET", "HEAD", "OPTIONS", "DELETE", "POST"):
        setattr(Handler, "do_" + method, handle)
    httpd = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=httpd.serve_forever, daemon=True)
    thread.start()
    try:
        yield "http://127.0.0.1:%d" % httpd.server_port
    finally:
        httpd.shutdown()
        httpd.server_close()


def test_version():
    assert requests.__version__ == "2.34.2"


def test_url_without_scheme():
    with pytest.raises(requests.exceptions.MissingSchema) as info:
        requests.get("example.org/data.json")
    e = requests.exceptions
    assert not isinstance(info.value, (e.InvalidSchema, e.ConnectionError, e.URLRequired))


def test_silent_server(monkeypatch):
    assert socket.getdefaulttimeout() is None
    assert inspect.signature(requests.Session.request).parameters["timeout"].default is None
    seen = []
    original = HTTPAdapter.send

    def send(self, request, **kwargs):
        seen.append(kwargs["timeout"])
        return original(self, request, **kwargs)

    monkeypatch.setattr(HTTPAdapter, "send", send)
    listener = socket.create_server(("127.0.0.1", 0))
    sockets = []
    import urllib3.connection as connection

    connect = connection.HTTPConnection._new_conn

    def new_conn(self):
        sock = connect(self)
        sockets.append(sock)
        return sock

    monkeypatch.setattr(connection.HTTPConnection, "_new_conn", new_conn)
    outcome = []

    def get():
        try:
            requests.get("http://127.0.0.1:%d/" % listener.getsockname()[1])
        except Exception as error:
            outcome.append(error)

    thread = threading.Thread(target=get, daemon=True)
    thread.start()
    peer, _ = listener.accept()
    peer.recv(65536)
    thread.join(6)  # (A)
    assert thread.is_alive() and not outcome
    assert seen == [None]
    assert sockets[0].gettimeout() is None  # blocking, no limit: (B), (C)
    peer.close()
    thread.join(10)
    assert isinstance(outcome[0], requests.exceptions.ConnectionError)
    listener.close()


def test_unknown_status_name(capsys):
    print(requests.codes["imaginary"])
    assert capsys.readouterr().out == "None\n"


def test_new_session():
    assert type(requests.Session()) is requests.Session
    assert type(requests.session()) is requests.Session
    assert not hasattr(requests, "new_session") and not hasattr(requests, "connect")


def test_body_is_not_json():
    r = requests.Response()
    r.status_code = 200
    r._content = b"oops"
    e = requests.exceptions
    for caught in (e.JSONDecodeError, ValueError):
        with pytest.raises(caught):
            r.json()
    with pytest.raises(ValueError) as info:
        r.json()
    assert not isinstance(info.value, (e.HTTPError, e.ContentDecodingError))


def test_stream_parameter():
    release = threading.Event()
    bodies = []

    def handle(self):
        length = self.headers.get("Content-Length")
        if length:
            bodies.append((self.headers.get("Transfer-Encoding"), self.rfile.read(int(length))))
            release.set()
        self.send_response(200)
        self.send_header("Content-Length", "6")
        self.end_headers()
        self.wfile.flush()
        release.wait(20)
        self.wfile.write(b"a\nb\ncd")

    with server(handle) as url:
        r = requests.get(url, stream=True)  # returns although the body has not been sent
        assert r.status_code == 200 and not release.is_set() and r._content is False
        release.set()
        assert r.content == b"a\nb\ncd"
        # (A) a body of a request is not chunked
        requests.post(url, data=b"12345", stream=True).content
        assert bodies == [(None, b"12345")]
        # (B) bytes, not lines of text
        r = requests.get(url, stream=True)
        assert list(r.iter_content(4)) == [b"a\nb\n", b"cd"]
        # without: the body is there on return
        assert requests.get(url)._content == b"a\nb\ncd"


def test_trust_env(monkeypatch, tmp_path):
    netrc = tmp_path / "netrc"
    netrc.write_text("machine example.org login me password secret\n")
    netrc.chmod(0o600)
    monkeypatch.setenv("NETRC", str(netrc))
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy.test:3128")
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", "/ca.pem")
    url = "https://example.org/$HOME"
    for trust in (True, False):
        session = requests.Session()
        assert session.trust_env is True
        session.trust_env = trust
        settings = session.merge_environment_settings(url, {}, None, None, None)
        assert (settings["proxies"].get("https") == "http://proxy.test:3128") is trust
        assert (settings["verify"] == "/ca.pem") is trust
        assert settings["verify"] in ("/ca.pem", True)
        prepared = session.prepare_request(requests.Request("GET", url))
        assert ("Authorization" in prepared.headers) is trust
        assert prepared.url == url  # (C)
        assert session.should_strip_auth("https://a.test/", "https://b.test/") is True  # (D)


def test_query_string(capsys):
    snippets().show_url()
    assert capsys.readouterr().out == "https://example.org/items?page=2&tag=a&tag=b\n"


def test_header_none():
    assert snippets().merged_headers() == ("red", None)


def test_no_redirects():
    def handle(self):
        if self.path == "/":
            self.send_response(302)
            self.send_header("Location", "/there")
        else:
            self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    with server(handle) as url:
        assert requests.head(url + "/").status_code == 302
        for follow in (requests.get, requests.options, requests.delete):
            response = follow(url + "/")
            assert response.status_code == 200 and len(response.history) == 1


def test_import_adapter():
    from requests.adapters import HTTPAdapter  # noqa: F401

    for wrong in (
        "from requests import HTTPAdapter",
        "from requests.transport import HTTPAdapter",
        "from urllib3 import HTTPAdapter",
    ):
        with pytest.raises(ImportError):
            exec(wrong, {})


def test_api_ready_to_send():
    assert requests.PreparedRequest is requests.models.PreparedRequest
    assert type(requests.Request("GET", "http://example.org").prepare()) is requests.PreparedRequest


def test_api_unsupported_scheme():
    assert not hasattr(requests.exceptions, "InvalidScheme")
    with pytest.raises(requests.exceptions.InvalidSchema):
        requests.get("foo://example.org")
