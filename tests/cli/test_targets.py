"""`assay targets` shows what is built, builds and removes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from assay.cli.targets import targets
from assay.errors import InfrastructureError


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def run(*arguments: str) -> tuple[str, str]:
    result = CliRunner().invoke(targets, arguments)
    if isinstance(result.exception, InfrastructureError):
        pytest.skip(f"needs a package registry: {result.exception.what.splitlines()[0]}")
    assert result.exit_code == 0, result.output
    return result.stdout, result.stderr


def test_nothing_is_built_at_first(own_cache: Path) -> None:
    assert run("list") == ("", f"nothing is built in {own_cache}\n")
    assert json.loads(run("list", "--json")[0]) == {"targets": []}


def test_build_list_remove() -> None:
    key, progress = run("build", "idna==3.7")
    assert "resolving\ninstalling 1 packages\n" in progress
    again, progress = run("build", "idna==3.7")
    assert (again, progress) == (key, "")
    (line,) = run("list")[0].splitlines()
    assert line.startswith(key[:12])
    assert "idna==3.7 (1 packages, Python 3." in line
    (facts,) = json.loads(run("list", "--json")[0])["targets"]
    assert (facts["key"], facts["described"]) == (key.strip(), "idna==3.7")
    assert json.loads(run("build", "idna==3.7", "--json")[0]) == {"key": key.strip()}
    assert run("remove", key[:8])[0].endswith("kB freed\n")
    run("build", "idna==3.7")
    (removed,) = json.loads(run("remove", key[:8], "--json")[0])["removed"]
    assert removed["key"] == key[:8]
    assert removed["bytes"] > 1000
    assert run("list")[0] == ""


def test_verify_names_the_files_that_were_changed_after_a_build(own_cache: Path) -> None:
    run("build", "idna==3.7")
    assert all(line.endswith(": unchanged") for line in run("verify")[0].splitlines())
    (core,) = own_cache.glob("environments/*/venv/lib/*/site-packages/idna/core.py")
    text = core.read_text("utf-8")
    core.unlink()  # uv may share the file with its own cache
    core.write_text(f"{text}# changed\n", "utf-8")
    (own_cache / "kits").mkdir(exist_ok=True)
    result = CliRunner().invoke(targets, ["verify"])
    assert isinstance(result.exception, InfrastructureError)
    assert "1 files changed" in result.stdout
    assert "site-packages/idna/core.py" in result.stdout


def test_a_kit_that_was_changed_judges_nothing(own_cache: Path) -> None:
    run("build", "idna==3.7")
    (judge,) = own_cache.glob("kits/*/pytest/__init__.py")
    text = judge.read_text("utf-8")
    judge.unlink()
    judge.write_text(f"{text}# changed\n", "utf-8")
    result = CliRunner().invoke(targets, ["build", "idna==3.7"])
    assert isinstance(result.exception, InfrastructureError)
    assert "changed after this folder was built" in result.exception.what


def test_a_wrong_requirement_is_told_with_advice() -> None:
    result = CliRunner().invoke(targets, ["build", "./here"])
    assert result.exit_code == 1
    assert "--allow-direct" in str(result.exception)
