import subprocess, sys
from importlib.metadata import version
from pathlib import Path

import pytest
import falcon
from falcon import testing

sys.path.insert(0, str(Path(__file__).parents[1] / "suites"))
import falcon_snippets as sn


class Things:
    def on_get(self, req, resp):
        resp.media = []


def app_with(resource, uri="/things", **kw):
    app = falcon.App(**kw)
    app.add_route(uri, resource)
    return testing.TestClient(app)


def test_version():
    assert version("falcon") == "4.4.0"


def test_create_application():
    assert issubclass(falcon.API, falcon.App)
    for cls in (falcon.App, falcon.API):
        app = cls()
        app.add_route("/things", Things())
        assert testing.TestClient(app).simulate_get("/things").json == []
    assert not hasattr(falcon, "WSGIApp") and not hasattr(falcon, "Application")


def test_string_body():
    seen = []

    class S:
        def on_get(self, req, resp):
            resp.text = "hello"

        def on_put(self, req, resp):
            for name in ("body", "content", "payload"):
                try:
                    setattr(resp, name, "hello")
                except AttributeError as e:
                    seen.append((name, e))

    c = app_with(S())
    assert c.simulate_get("/things").text == "hello"
    assert c.simulate_put("/things").text == ""
    assert "body" in [n for n, _ in seen]
    with pytest.raises(AttributeError, match="no longer supported"):
        falcon.Response().body


def test_import_asgi_app():
    from falcon.asgi import App
    assert isinstance(App, type) and App is not falcon.App
    for bad in ("from falcon.aio import App", "from falcon import ASGIApp as App", "from falcon.app_asgi import App"):
        with pytest.raises(ImportError):
            exec(bad)


def test_routes_only(tmp_path):
    (tmp_path / "prog.py").write_text("import falcon\nclass R:\n    def on_get(self, req, resp): pass\nclass M:\n    def process_request(self, req, resp): pass\napp = falcon.App(middleware=[M()])\napp.add_route('/a', R())\n")

    def run(*opts):
        code = "import sys; sys.path.insert(0, '.'); from falcon.cmd.inspect_app import main; main()"
        return subprocess.run([sys.executable, "-c", code, *opts, "prog:app"], cwd=tmp_path, capture_output=True, text=True)

    full, only = run(), run("--route_only")
    assert full.returncode == only.returncode == 0
    assert "Middleware" in full.stdout and "Middleware" not in only.stdout and "/a" in only.stdout
    for bad in ("--routes", "--only=routes", "--no-middleware"):
        assert run(bad).returncode == 2


def test_extra_slash():
    c = app_with(Things())
    assert c.simulate_get("/things").status == "200 OK"
    assert c.simulate_get("/things/").status == "404 Not Found"


def test_cookie_attributes():
    assert sn.cookie_header() == "sid=1; HttpOnly; Secure"


def test_not_an_error():
    assert not issubclass(falcon.HTTPMovedPermanently, falcon.HTTPError)
    assert issubclass(falcon.HTTPMovedPermanently, falcon.HTTPStatus)
    for cls in (falcon.HTTPNotFound, falcon.MediaNotFoundError, falcon.HTTPMissingParam):
        assert issubclass(cls, falcon.HTTPError)


def test_failing_middleware():
    calls = []

    class Base:
        def process_request(self, req, resp):
            if type(self).__name__ == "B":
                raise falcon.HTTPForbidden()

        def process_response(self, req, resp, resource, req_succeeded):
            calls.append(type(self).__name__)

    A, B, C = (type(n, (Base,), {}) for n in "ABC")
    r = app_with(Things(), middleware=[A(), B(), C()]).simulate_get("/things")
    assert r.status == "403 Forbidden" and calls == ["C", "B", "A"]


def test_process_resource():
    calls = []

    class Log:
        def process_request(self, req, resp):
            calls.append("request")

        def process_resource(self, req, resp, resource, params):
            assert isinstance(resource, R) and params == {"id": "7"}       # routed already
            calls.append("resource")

    class R:
        def on_get(self, req, resp, id):
            calls.append("responder")

    c = app_with(R(), "/r/{id}", middleware=[Log()])
    assert calls == []                                                     # A wrong
    c.simulate_get("/r/7")
    assert calls == ["request", "resource", "responder"]
    calls.clear()
    assert c.simulate_get("/nope").status_code == 404 and calls == ["request"]


def test_place_for_authentication():
    """Judgement: three of the places work."""
    def deny(req, resp, resource=None, params=None):
        raise falcon.HTTPUnauthorized()

    class M:
        def process_resource(self, req, resp, resource, params):
            deny(req, resp)

    @falcon.before(deny)
    class Hooked(Things):
        def on_get(self, req, resp):
            pass

    class Own:
        def on_get(self, req, resp):
            deny(req, resp)

    for c in (app_with(Things(), middleware=[M()]), app_with(Hooked()), app_with(Own())):
        assert c.simulate_get("/things").status_code == 401


def test_api_run_before_responder():
    import falcon.hooks
    assert falcon.before is falcon.hooks.before
    calls = []

    def hook(req, resp, resource, params):
        calls.append("hook")

    class R:
        @falcon.before(hook)
        def on_get(self, req, resp):
            calls.append("responder")

    @falcon.before(hook)
    class S:
        def on_get(self, req, resp):
            calls.append("responder")

    for r in (R(), S()):
        calls.clear()
        app_with(r).simulate_get("/things")
        assert calls == ["hook", "responder"]


def test_api_link_header():
    import falcon.response
    assert falcon.response.Response is falcon.Response
    resp = falcon.Response()
    assert not hasattr(resp, "add_link")
    with pytest.raises(AttributeError, match="append_link"):
        resp.add_link("/next", "next")
    resp.append_link("/next", "next")
    resp.append_link("/prev", "prev")
    assert "/next" in resp.get_header("link") and "/prev" in resp.get_header("link")
