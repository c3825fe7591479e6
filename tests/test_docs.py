"""The documentation is true: its examples run, and every command and option is in it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from pydantic import BaseModel

from assay.cli import cli
from assay.cli.main import COMMANDS
from assay.config import Config
from tests.preloaded import write_shim
from tests.waiting import PATIENCE

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
EXIT = re.compile(r"# exit (\d+)$")
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(page: Path) -> list[tuple[str, str]]:
    return BLOCK.findall(page.read_text(encoding="utf-8"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_examples_run_as_written(
    page: Path, tmp_path: Path, preloaded: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    if page.name == "checks.md":
        pytest.skip("its examples are doctests and run in tests/checks/test_docs.py")
    folders = [str(Path(sys.executable).parent)]
    if page.name != "README.md":
        # What people try first starts as it does for them; elsewhere imports are paid for once.
        folders.insert(0, str(tmp_path_factory.mktemp("bin")))
        write_shim(Path(folders[0]) / "assay", preloaded)
    environment = {
        **os.environ,
        "PATH": os.pathsep.join([*folders, os.environ["PATH"]]),
        "PYTHONPATH": str(tmp_path),
        "NO_COLOR": "1",
    }
    if "examples/" in page.read_text(encoding="utf-8"):
        # A copy, because a run may keep proofs beside a suite.
        shutil.copytree(ROOT / "examples", tmp_path / "examples")
    for kind, text in blocks(page):
        if kind in ("python", "yaml", "hocon") and text.startswith("# file: "):
            name = text.partition("\n")[0].removeprefix("# file: ")
            (tmp_path / name).write_text(text)
        elif kind == "python":
            subprocess.run([sys.executable, "-c", text], cwd=tmp_path, env=environment, check=True)
        elif kind == "console":
            for command, shown in commands(text):
                result = subprocess.run(
                    command, shell=True, cwd=tmp_path, env=environment, text=True,
                    stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=PATIENCE,
                )  # fmt: skip
                expected = EXIT.search(command)
                allowed = (int(expected[1]),) if expected else (0, 1, 3)
                assert result.returncode in allowed, result.stdout
                for line in shown:
                    assert line in result.stdout, f"$ {command}\n{result.stdout}"


def commands(text: str) -> Iterator[tuple[str, list[str]]]:
    """Each command of a console block with the lines the page shows of its output."""
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, *shown = part.rstrip("\n").split("\n")
        yield command, shown


def all_options() -> Iterator[str]:
    def walk(command: click.Command, path: str) -> Iterator[str]:
        for parameter in command.params:
            if isinstance(parameter, click.Option):
                yield from (f"{path} {option}" for option in parameter.opts)
        if isinstance(command, click.Group):
            context = click.Context(command)
            for name in command.list_commands(context):
                below = command.get_command(context, name)
                assert below is not None
                yield f"{path} {name}"
                yield from walk(below, f"{path} {name}")

    return walk(cli, "assay")


@pytest.mark.parametrize("words", sorted(set(all_options())))
def test_every_command_and_option_is_in_the_reference(words: str) -> None:
    reference = (ROOT / "docs" / "reference.md").read_text(encoding="utf-8")
    last = words.split()[-1]
    assert (last if last.startswith("-") else words) in reference


def all_keys(model: type[BaseModel] = Config, above: str = "") -> Iterator[str]:
    for name, field in model.model_fields.items():
        kind = field.annotation
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            yield from all_keys(kind, f"{above}{name}.")
        else:
            yield f"{above}{name}"


@pytest.mark.parametrize("key", list(all_keys()))
def test_every_key_of_the_configuration_is_documented_and_in_the_template(key: str) -> None:
    assert f"| `{key}` |" in (ROOT / "docs" / "reference.md").read_text(encoding="utf-8")
    template = ROOT / "src" / "assay" / "cli" / "templates" / "assay.toml"
    table, _, name = key.rpartition(".")
    assert f"# {name} = " in template.read_text(encoding="utf-8")
    assert not table or f"# [{table}]" in template.read_text(encoding="utf-8")


def test_the_help_lines_of_commands_are_those_of_the_commands() -> None:
    context = click.Context(cli)
    for name, (_, line) in COMMANDS.items():
        command = cli.get_command(context, name)
        assert command is not None
        assert (command.help or "").partition("\n\n")[0].replace("\n", " ").strip() == line


def test_links_between_pages_lead_somewhere() -> None:
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_the_readme_shows_exactly_the_two_commands() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^make \w+$", readme, re.MULTILINE)) == {"make demo", "make test"}
