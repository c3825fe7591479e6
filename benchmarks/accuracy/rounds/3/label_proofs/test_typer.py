import inspect
import subprocess
import sys
from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

import typer_snippets

runner = CliRunner()


def script(tmp_path, text, *args):
    f = tmp_path / "prog.py"
    f.write_text(text)
    return subprocess.run([sys.executable, str(f), *args], capture_output=True, text=True)


def test_version():
    assert typer.__version__ == "0.29.0"


def test_abort_exit_code(tmp_path):
    r = script(tmp_path, "import typer\ndef main():\n    raise typer.Abort()\nif __name__ == '__main__':\n    typer.run(main)\n")
    assert r.returncode == 1


def test_base_of_exit():
    assert typer.Exit.__bases__ == (RuntimeError,)
    assert not issubclass(typer.Exit, (SystemExit, typer.TyperException))
    assert not any(c.__module__.split(".")[0] == "click" for c in typer.Exit.__mro__)


def test_locals_in_tracebacks():
    assert inspect.signature(typer.Typer.__init__).parameters["pretty_exceptions_show_locals"].default is False


def test_name_of_command():
    def run(*a):
        return runner.invoke(typer_snippets.app, list(a))

    assert run("delete-user", "ann").stdout == "deleted ann\n"
    for bad in ("delete_user", "deleteuser", "--delete-user"):
        r = run(bad, "ann")
        assert r.exit_code == 2 and "deleted" not in r.output


def test_stop_unless_confirmed():
    def a():
        typer.confirm("Delete everything?", abort=True)
        print("went on")

    def b():
        if not typer.confirm("Delete everything?"):
            raise typer.Abort()
        print("went on")

    def c():
        typer.confirm("Delete everything?", required=True)

    def d():
        typer.prompt("Delete everything?", confirmation_prompt=True)
        print("went on")

    def run(f, text):
        app = typer.Typer()
        app.command()(f)
        return runner.invoke(app, [], input=text)

    for f in (a, b):
        r = run(f, "n\n")
        assert r.exit_code == 1 and "went on" not in r.output
        assert "went on" in run(f, "y\n").output
    assert isinstance(run(c, "n\n").exception, TypeError)
    assert "went on" in run(d, "n\nn\n").output


def test_out_of_range():
    app = typer.Typer()
    app.command()(typer_snippets.main)
    r = runner.invoke(app, ["--level", "11"])
    assert (r.exit_code, r.output) == (0, "10\n")


def test_async_command(tmp_path):
    r = script(
        tmp_path,
        'import typer\n\napp = typer.Typer()\n\n@app.command()\nasync def hello():\n    print("hello")\n\nif __name__ == "__main__":\n    app()\n',
    )
    assert r.stdout == "" and "never awaited" in r.stderr


def test_read_from_environment():
    params = inspect.signature(typer.Option).parameters
    assert "envvar" in params and not {"env", "environ", "from_env"} & set(params)

    def f(x: Annotated[str, typer.Option(envvar="MY_X")] = "d"):
        print(x)

    app = typer.Typer()
    app.command()(f)
    assert runner.invoke(app, [], env={"MY_X": "e"}).output == "e\n"
    assert runner.invoke(app, ["--x", "c"], env={"MY_X": "e"}).output == "c\n"


def test_eager_option():
    def run(eager, *args):
        order = []

        def note(value: str):
            order.append("name")
            return value

        def show(value: bool):
            order.append("version")
            if value:
                print("1.0")
                raise typer.Exit()

        def f(
            name: Annotated[str, typer.Option(callback=note)] = "x",
            version: Annotated[bool, typer.Option("--version", callback=show, is_eager=eager)] = False,
        ):
            print(name)

        app = typer.Typer()
        app.command()(f)
        return order, runner.invoke(app, list(args)).stdout

    assert run(True, "--name", "bob", "--version") == (["version"], "1.0\n")  # eager: first, and exits early
    assert run(False, "--name", "bob", "--version") == (["name", "version"], "1.0\n")
    assert run(True, "--name", "bob") == (["version", "name"], "bob\n")  # D: no prompt
    assert run(True)[1] == "x\n"


def test_stderr_in_tests():
    with pytest.raises(TypeError):
        CliRunner(mix_stderr=False)
    with pytest.raises(TypeError):
        CliRunner(capture="stderr")

    def f():
        typer.echo("out")
        typer.echo("err", err=True)

    app = typer.Typer()
    app.command()(f)
    r = CliRunner().invoke(app, [])
    assert (r.stdout, r.stderr) == ("out\n", "err\n")


def test_cli_pick_app(tmp_path):
    f = tmp_path / "two.py"
    f.write_text(
        "import typer\none = typer.Typer()\ntwo = typer.Typer()\n"
        "@one.command()\ndef a():\n    print('one')\n@two.command()\ndef b():\n    print('two')\n"
    )

    def run(*args):
        return subprocess.run([sys.executable, "-m", "typer", *args], capture_output=True, text=True, cwd=tmp_path)

    assert run("--app", "two", "two.py", "run").stdout == "two\n"
    assert run("--app", "one", "two.py", "run").stdout == "one\n"
    for bad in ("--object", "--name"):
        assert run(bad, "two", "two.py", "run").returncode == 2
    assert run("--func", "two", "two.py", "run").stdout != "two\n"


def test_api_text_file_for_writing(tmp_path):
    import typer.models

    assert typer.FileTextWrite is typer.models.FileTextWrite

    def f(out: Annotated[typer.FileTextWrite, typer.Option()]):
        out.write("x")

    app = typer.Typer()
    app.command()(f)
    p = tmp_path / "o.txt"
    assert runner.invoke(app, ["--out", str(p)]).exit_code == 0 and p.read_text() == "x"


def test_api_no_completion():
    params = inspect.signature(typer.Typer.__init__).parameters
    assert "enable_completion" not in params and "add_completion" in params
    with pytest.raises(TypeError):
        typer.Typer(enable_completion=False)
