"""Shows on click 8.3.1 what labels.yaml says of each question on it: a test per question.

Run it with plain pytest where `click==8.3.1` is installed and nothing else is needed of it.
"""

import inspect
import os
import pathlib
import subprocess
import sys
import warnings
from importlib.metadata import distribution

import click
import click.testing
import pytest


def those(names, holds):
    return [name for name in names if holds(name)]


def accepts(decorator, **settings):
    """Whether a command can be made with a decorator that has these settings."""
    try:
        click.command()(decorator("--thing", **settings)(lambda thing: None))
    except TypeError:
        return False
    return True


def run(command, *arguments):
    return click.testing.CliRunner().invoke(command, arguments)


def test_required_option():
    names = ["mandatory", "required", "needed", "optional"]
    assert those(names, lambda one: accepts(click.option, **{one: True})) == ["required"]
    assert "required" not in inspect.signature(click.option).parameters


def test_repeated_option():
    settings = [{"multiple": True}, {"repeat": True}, {"many": True}, {"action": "append"}]
    assert those(settings, lambda one: accepts(click.option, **one)) == settings[:1]


def test_completion_variable(tmp_path):
    program = tmp_path / "hello.py"
    program.write_text("import click\n\nclick.command()(lambda: None)(prog_name='hello')\n")
    variables = ["_HELLO_COMPLETE=bash_source", "HELLO_COMPLETION=bash"]
    variables += ["CLICK_COMPLETE=hello", "COMPLETE_HELLO=source_bash"]

    def prints_script(variable):
        name, _, value = variable.partition("=")
        environment = {**os.environ, name: value}
        told = subprocess.run([sys.executable, program], env=environment, capture_output=True)
        return b"_hello_completion()" in told.stdout

    assert those(variables, prints_script) == variables[:1]


def test_windows_colours():
    needs = distribution("click").requires
    names = ["termcolor", "colorama", "rich", "blessings"]
    assert those(names, lambda one: any(need.startswith(one) for need in needs)) == ["colorama"]


def test_test_runner():
    assert hasattr(click.testing, "CliRunner")
    assert not hasattr(click.testing, "CommandRunner")
    assert not [one for one in ("Runner", "test") if hasattr(click, one)]


def test_nested_command():
    group = click.group()(lambda: None)
    assert isinstance(group.command()(lambda: None), click.Command)
    assert not [one for one in ("subcommand", "register") if hasattr(group, one)]
    assert not hasattr(click, "subcommand")


def test_context_object():
    context = click.Context(click.Command("c"))
    names = ["obj", "data", "user", "state_object"]
    assert those(names, lambda one: hasattr(context, one)) == ["obj"]


def test_context_attribute():
    context = click.Context(click.Command("c"))
    names = ["invoked_subcommand", "current_subcommand", "next_command", "subcommand_name"]
    assert those(names, lambda one: hasattr(context, one)) == ["invoked_subcommand"]
    assert not hasattr(click.Context, "invoked_subcommand")


def test_usage_exit_code():
    assert run(click.Command("c"), "--nothing").exit_code == click.UsageError.exit_code == 2


def test_bad_value():
    assert issubclass(click.BadParameter, click.UsageError)
    assert not hasattr(click, "InvalidValue")


def test_path_objects():
    command = click.Command(
        "c",
        params=[click.Argument(["path"], type=click.Path(path_type=pathlib.Path))],
        callback=lambda path: click.echo(isinstance(path, pathlib.Path)),
    )
    assert run(command, "here").output == "True\n"
    assert not hasattr(click, "PathLib")
    for wrong in ({"as_pathlib": True}, {"kind": "pathlib"}):
        with pytest.raises(TypeError, match="unexpected keyword"):
            click.Path(**wrong)


def test_install_command():
    assert distribution("click").version == "8.3.1"


def test_deprecated_name():
    def is_deprecated(name):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            getattr(click, name)
        return bool(caught)

    names = ["Command", "BaseCommand", "Group", "Context"]
    assert those(names, is_deprecated) == ["BaseCommand"]


def test_printing():
    assert hasattr(click, "echo")
    assert not hasattr(click, "print")


def test_hidden_input():
    names = ["hide_input", "hidden", "password", "echo"]
    parameters = inspect.signature(click.prompt).parameters
    assert those(names, parameters.__contains__) == ["hide_input"]


def test_not_a_type():
    names = ["Choice", "IntRange", "Regex", "DateTime"]
    assert those(names, lambda one: not hasattr(click, one)) == ["Regex"]


def test_aborting():
    names = ["Abort", "Exit", "Interrupt", "Cancelled"]
    assert those(names, lambda one: hasattr(click, one)) == ["Abort"]

    def interrupt():
        raise KeyboardInterrupt

    def abort():
        raise click.Abort

    ends = [run(click.Command("c", callback=one)) for one in (interrupt, abort)]
    assert {(one.exit_code, one.output.strip()) for one in ends} == {(1, "Aborted!")}


def test_all_of_them():
    for kind in (click.INT, click.Choice(["a", "b"]), float):
        assert accepts(click.option, type=kind)


def test_short_help():
    settings = {"help_option_names": ["-h", "--help"]}
    command = click.command(context_settings=settings)(lambda: None)
    assert run(command, "-h").output == run(command, "--help").output
    assert run(command, "-h").exit_code == 0
    for wrong in ({"short_help_flag": True}, {"help_flags": ["-h"]}):
        with pytest.raises(TypeError, match="unexpected keyword"):
            click.command(**wrong)(lambda: None)
    assert not hasattr(click, "help")


def test_progress():
    names = ["progressbar", "progress", "tqdm", "track"]
    assert those(names, lambda one: hasattr(click, one)) == ["progressbar"]
