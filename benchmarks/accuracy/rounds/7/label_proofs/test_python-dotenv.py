import importlib, inspect, io, os, subprocess, sys
from importlib.metadata import version
from pathlib import Path

import pytest
import dotenv
from dotenv import dotenv_values, find_dotenv, load_dotenv, set_key

sys.path.insert(0, str(Path(__file__).parents[1] / "suites"))
import dotenv_snippets as sn


@pytest.fixture(autouse=True)
def clean(monkeypatch):
    for k in ("APP_MODE", "QZ_HOST", "QZ_PORT", "PYTHON_DOTENV_DISABLED", "QZ_X"):
        monkeypatch.setenv(k, "x")
        monkeypatch.delenv(k)


def cli(*args, cwd, **env):
    return subprocess.run([sys.executable, "-m", "dotenv", *args], cwd=cwd, env={**os.environ, **env}, capture_output=True, text=True)


def test_version():
    assert version("python-dotenv") == "1.2.4"


def test_existing_variable():
    assert sn.effective_mode() == "production"


def test_key_without_value():
    assert str(dict(dotenv_values(stream=io.StringIO("FOO\nBAR=\n")))) == "{'FOO': None, 'BAR': ''}"


def test_default_quote_mode():
    assert inspect.signature(set_key).parameters["quote_mode"].default == "always"


def test_find_dotenv_error(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(IOError) as e:
        find_dotenv("no-such-file.env", raise_error_if_not_found=True, usecwd=True)
    assert type(e.value) is OSError is IOError
    assert not isinstance(e.value, (ValueError, LookupError))


@pytest.mark.parametrize("value", ["1", "true", "yes"])
def test_disable_loading(value, monkeypatch):
    monkeypatch.setenv("PYTHON_DOTENV_DISABLED", value)
    assert load_dotenv(stream=io.StringIO("QZ_X=1")) is False and "QZ_X" not in os.environ


def test_loading_otherwise(monkeypatch):
    monkeypatch.setenv("PYTHON_DOTENV_DISABLED", "0")
    assert load_dotenv(stream=io.StringIO("QZ_X=1")) is True and os.environ["QZ_X"] == "1"


def test_set_key_symlink(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("shared").mkdir()
    Path("shared/common.env").write_text("A=1\n")
    Path(".env").symlink_to("shared/common.env")
    assert set_key(".env", "TOKEN", "abc") == (True, "TOKEN", "abc")
    assert not Path(".env").is_symlink() and Path(".env").read_text() == "A=1\nTOKEN='abc'\n"
    assert Path("shared/common.env").read_text() == "A=1\n"


def test_import_dotenv_class():
    from dotenv.main import DotEnv
    assert inspect.isclass(DotEnv)
    for bad in ("from dotenv import DotEnv", "from dotenv.core import DotEnv", "from python_dotenv import DotEnv"):
        with pytest.raises(ImportError):
            exec(bad)


@pytest.mark.parametrize("fmt,ok", [("json", True), ("yaml", False), ("shell", True), ("export", True)])
def test_list_formats(tmp_path, fmt, ok):
    (tmp_path / ".env").write_text("A=1\n")
    r = cli("list", "--format", fmt, cwd=tmp_path)
    assert r.returncode == (0 if ok else 2)


def test_run_no_override(tmp_path):
    (tmp_path / ".env").write_text("QZ_X=file\n")
    cmd = [sys.executable, "-c", "import os; print(os.environ.get('QZ_X'))"]
    r = cli("run", "--no-override", *cmd, cwd=tmp_path, QZ_X="shell")
    assert (r.returncode, r.stdout.strip()) == (0, "shell")
    r = cli("run", *cmd, cwd=tmp_path, QZ_X="shell")
    assert (r.returncode, r.stdout.strip()) == (0, "file")


def test_posix_expansion(capsys):
    sn.show()
    assert capsys.readouterr().out == "http://localhost/ $QZ_PORT\n"


def test_interpolate_purpose(tmp_path, monkeypatch):
    src = "QZ_X='v'\nQZ_HOST=${QZ_X}\n"
    assert dict(dotenv_values(stream=io.StringIO(src), interpolate=False)) == {"QZ_X": "v", "QZ_HOST": "${QZ_X}"}
    assert dict(dotenv_values(stream=io.StringIO(src))) == {"QZ_X": "v", "QZ_HOST": "v"}
    assert "QZ_X" not in os.environ          # never exported, whatever interpolate is
    # parents are searched with either setting
    sub = tmp_path / "a" / "b"; sub.mkdir(parents=True)
    (tmp_path / ".env").write_text("QZ_X=parent\n")
    (sub / "prog.py").write_text("from dotenv import dotenv_values\nprint(dotenv_values(interpolate=False)['QZ_X'])\n")
    assert subprocess.run([sys.executable, str(sub / "prog.py")], capture_output=True, text=True).stdout.strip() == "parent"


def test_api_export_method():
    from dotenv.main import DotEnv
    assert DotEnv(None, stream=io.StringIO("QZ_X=1")).set_as_environment_variables() is True and os.environ["QZ_X"] == "1"


def test_api_parsed_statement():
    from dotenv.parser import Binding, parse_stream
    assert Binding._fields == ("key", "value", "original", "error")
    assert all(type(b) is Binding for b in parse_stream(io.StringIO("A=1\nB=2\n")))
