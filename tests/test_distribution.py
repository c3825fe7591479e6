"""The wheel: it builds to the same bytes, is small once installed, and the examples run with it."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

_ROOT = Path(__file__).parents[1]
_PYTHONS = ("3.11", "3.12", "3.13", "3.14")
_LARGEST = 110 << 20
# What each command of a subject prints and ends with, in an environment with nothing but the base.
_COMMANDS = {
    "assay questions verify examples/questions/pydantic.yaml --case adapter-refusal": (
        1,
        "Failed: 0 of 1 case passed",
    ),
    "assay submissions verify -s examples/submissions/ledger -p examples/submissions/ledger": (
        0,
        "not written: reports.parquet; install the extra assaykit[parquet]",
    ),
    "assay agents verify examples/agents/kiosk.hocon": (0, "Passed: 1 of 1 case passed"),
    "assay run examples/evaluation/prices.py": (1, "Failed: 6 of 8 cases passed"),
}


def _build(folder: Path) -> Path:
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", folder],
        cwd=_ROOT,
        env={**os.environ, "SOURCE_DATE_EPOCH": "1577836800"},
        check=True,
        capture_output=True,
    )
    (wheel,) = folder.glob("*.whl")
    return wheel


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _build(tmp_path_factory.mktemp("wheel"))


@functools.cache
def _find_python(version: str) -> str | None:
    """Return an interpreter of that version which starts; pyenv's are not on the path."""
    named = shutil.which(f"python{version}")
    kept = Path.home().glob(f".pyenv/versions/{version}.*/bin/python{version}")
    for each in (*([named] if named else []), *map(str, kept)):
        done = subprocess.run([each, "-c", "import ssl"], capture_output=True, check=False)
        if done.returncode == 0:
            return each
    return None


def test_two_builds_have_the_same_bytes(wheel: Path, tmp_path: Path) -> None:
    assert _build(tmp_path).read_bytes() == wheel.read_bytes()


@pytest.mark.parametrize("version", _PYTHONS)
def test_the_examples_run_where_only_the_wheel_is_installed(
    version: str, wheel: Path, tmp_path: Path
) -> None:
    python = _find_python(version)
    if python is None:
        pytest.skip(f"there is no Python {version} on this machine")
    place = tmp_path / "environment"
    uv = [str(Path(sys.executable).parent / "uv")]
    quiet = {"check": True, "capture_output": True}
    subprocess.run([*uv, "venv", "--quiet", "--python", python, place], **quiet)  # type: ignore[call-overload]
    installs = [*uv, "pip", "install", "--quiet", "--python", place / "bin" / "python", wheel]
    subprocess.run(installs, **quiet)  # type: ignore[call-overload]
    assert _measure(place) < _LARGEST
    shutil.copytree(_ROOT / "examples", tmp_path / "examples")
    (tmp_path / "assay.toml").touch()
    for command, (code, text) in _COMMANDS.items():
        done = subprocess.run(
            [place / "bin" / "assay", *command.split()[1:]],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode, text in done.stdout + done.stderr) == (code, True), done


def _measure(folder: Path) -> int:
    files = (file for file in folder.rglob("*") if file.is_file() and not file.is_symlink())
    return sum(file.stat().st_size for file in files)
