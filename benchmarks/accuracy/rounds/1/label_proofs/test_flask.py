import importlib.metadata, importlib.util, inspect, json, os, pathlib
import flask, pytest
from flask import Blueprint, Flask

SUITES = pathlib.Path(__file__).parent.parent / "suites"
spec = importlib.util.spec_from_file_location("flask_snippets", SUITES / "flask_snippets.py")
snip = importlib.util.module_from_spec(spec); spec.loader.exec_module(snip)


def test_version():
    assert importlib.metadata.version("flask") == "3.1.3"


def test_safe_html():  # Incorrect: B
    from markupsafe import Markup
    app = Flask("x")
    with app.app_context():
        assert flask.render_template_string("{{ v }}", v=Markup("<b>")) == "<b>"
        assert flask.render_template_string("{{ v }}", v="<b>") == "&lt;b&gt;"
    for stmt in ("from flask import Markup", "from jinja2 import Markup", "from flask.templating import Markup"):
        with pytest.raises(ImportError):
            exec(stmt, {})


def test_debug_server(tmp_path, monkeypatch):  # Ambiguous: A, B
    (tmp_path / "hello.py").write_text("from flask import Flask\napp = Flask(__name__)\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    import flask.cli
    from flask.cli import cli
    from click.testing import CliRunner

    def run(line):
        seen = {}
        with monkeypatch.context() as m:
            m.delenv("FLASK_DEBUG", raising=False); m.delenv("FLASK_APP", raising=False)
            m.delenv("FLASK_RUN_FROM_CLI", raising=False)
            def fake(host, port, app, **kw):
                seen.update(kw, debug=os.environ.get("FLASK_DEBUG"))
            m.setattr(flask.cli, "run_simple", fake)
            res = CliRunner().invoke(cli, line.split()[1:])
            os.environ.pop("FLASK_DEBUG", None); os.environ.pop("FLASK_RUN_FROM_CLI", None)
        return res.exit_code, seen

    for line in ("flask --app hello run --debug", "flask --app hello --debug run"):
        code, seen = run(line)
        assert code == 0 and seen["use_debugger"] and seen["use_reloader"] and seen["debug"] == "1", line
    code, seen = run("flask --app hello run")
    assert code == 0 and not seen["use_debugger"]
    for line in ("flask --app hello run --env development", "flask run hello --debug"):
        code, seen = run(line)
        assert code == 2 and not seen, line


def test_custom_json():
    from flask.json.provider import DefaultJSONProvider
    class Money:
        pass
    class P(DefaultJSONProvider):
        @staticmethod
        def default(o):
            return "money" if isinstance(o, Money) else DefaultJSONProvider.default(o)
    app = Flask("x"); app.json = P(app)
    @app.get("/")
    def v():
        return {"m": Money()}
    assert app.test_client().get("/").json == {"m": "money"}
    assert not hasattr(flask.json, "JSONEncoder") and not hasattr(Flask, "json_encoder")   # A
    class E(json.JSONEncoder):
        def default(self, o):
            return "money"
    app2 = Flask("x"); app2.config["JSON_ENCODER"] = E                                      # C
    with app2.app_context(), pytest.raises(TypeError):
        app2.json.dumps(Money())
    assert not hasattr(app, "json_default")                                                 # D


def test_session_without_key():
    with pytest.raises(RuntimeError, match="secret key") as e:
        snip.visit()
    assert not isinstance(e.value, KeyError)


def test_redirect_code():
    assert flask.redirect("/login").status_code == 302
    app = Flask("x")
    with app.app_context():
        assert flask.redirect("/login").status_code == 302


def test_form_memory():  # Incorrect: B
    assert Flask("x").config["MAX_FORM_MEMORY_SIZE"] == 500_000


def test_nested_env(monkeypatch, capsys):
    monkeypatch.setenv("MYAPP_DB__HOST", "db.local")
    app = Flask(__name__)
    app.config.from_prefixed_env("MYAPP")
    print(app.config["DB"])
    assert capsys.readouterr().out == "{'HOST': 'db.local'}\n"


def test_what_is_g():
    app = Flask("x")
    @app.get("/")
    def v():
        old = flask.g.get("n", 0)
        flask.g.n = old + 1
        assert "db" not in flask.g and not hasattr(flask.g, "DEBUG")
        return str(old)
    c = app.test_client()
    r = [c.get("/"), c.get("/")]
    assert [x.text for x in r] == ["0", "0"]
    assert not any("Set-Cookie" in x.headers for x in r)
    with pytest.raises(RuntimeError):
        flask.g.x = 1


def test_name_of_download(tmp_path):
    f = tmp_path / "a.txt"; f.write_text("x")
    app = Flask("x")
    with app.test_request_context():
        r = flask.send_file(f, as_attachment=True, download_name="report.txt")
        assert "filename=report.txt" in r.headers["Content-Disposition"]; r.close()
        for bad in ("attachment_filename", "filename", "save_as"):
            with pytest.raises(TypeError):
                flask.send_file(f, **{bad: "report.txt"})


def test_once_before_first():  # Incorrect: E
    for n in ("before_first_request", "before_serving", "on_startup"):
        assert not hasattr(Flask("x"), n)
    app = Flask("x"); n = []
    @app.before_request
    def b():
        n.append(1)
    @app.get("/")
    def v():
        return ""
    c = app.test_client(); c.get("/"); c.get("/")
    assert len(n) == 2


def test_dotted_blueprint():
    with pytest.raises(ValueError):
        Blueprint("admin.users", __name__)


def test_api_views_by_verb():
    from flask.views import MethodView
    class V(MethodView):
        def get(self): return "g"
        def post(self): return "p"
    app = Flask("x"); app.add_url_rule("/", view_func=V.as_view("v"))
    c = app.test_client()
    assert c.get("/").text == "g" and c.post("/").text == "p" and c.put("/").status_code == 405


def test_api_before_all_requests():  # Incorrect
    assert hasattr(Blueprint, "before_app_request")
    assert not hasattr(Flask, "before_app_request") and not hasattr(Flask("x"), "before_app_request")
