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
    assert run("list", "--json") == ("", "")


def test_build_list_remove() -> None:
    key, progress = run("build", "idna==3.7")
    assert "resolving\ninstalling 1 packages\n" in progress
    again, progress = run("build", "idna==3.7")
    assert (again, progress) == (key, "")
    (line,) = run("list")[0].splitlines()
    assert line.startswith(key[:12])
    assert "idna==3.7 (1 packages, Python 3." in line
    facts = json.loads(run("list", "--json")[0])
    assert (facts["key"], facts["described"]) == (key.strip(), "idna==3.7")
    assert run("remove", key[:8])[0].endswith("kB freed\n")
    assert run("list")[0] == ""


def test_a_wrong_requirement_is_told_with_advice() -> None:
    result = CliRunner().invoke(targets, ["build", "./here"])
    assert result.exit_code == 1
    assert "--allow-direct" in str(result.exception)
