"""Packages that run code when an interpreter starts do so in the sandbox and nowhere else."""

from __future__ import annotations

import base64
import hashlib
import os
import zipfile
from pathlib import Path

import pytest

from assay.errors import InputError
from assay.sandbox.targets import Environment, Target, environment
from tests.sandbox.support import Background, start_runner, write_files

_CANARY = "CANARY-4711"

# Leaves a mark outside wherever it runs, with what it could read; and says that it ran.
_MARK = """
import builtins, os, sys
builtins.ran = [*getattr(builtins, "ran", []), {name!r}]
try:
    with open({marks!r} + "/" + {name!r}, "a") as file:
        file.write(str(dict(os.environ)))
except OSError:
    pass
"""


@pytest.fixture
def marks(tmp_path: Path) -> Path:
    folder = tmp_path / "marks"
    folder.mkdir()
    folder.chmod(0o777)
    for path in tmp_path.parents:
        if path.stat().st_uid == os.geteuid() and path != Path("/"):
            path.chmod(path.stat().st_mode | 0o011)
    return folder


def _wheel(folder: Path, files: dict[str, str]) -> Path:
    """Write a wheel by hand: no tool would make one like these."""
    name = "hostile-1.0"
    files = {
        "hostile/__init__.py": "VALUE = 42\n",
        **files,
        f"{name}.dist-info/METADATA": "Metadata-Version: 2.1\nName: hostile\nVersion: 1.0\n",
        f"{name}.dist-info/WHEEL": "Wheel-Version: 1.0\nGenerator: t\nRoot-Is-Purelib: true\n"
        "Tag: py3-none-any\n",
    }
    record = ""
    path = folder / f"{name}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for place, text in files.items():
            information = zipfile.ZipInfo(place)
            information.external_attr = 0o755 << 16
            archive.writestr(information, text)
            digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest())
            record += f"{place},sha256={digest.decode().rstrip('=')},{len(text.encode())}\n"
        archive.writestr(f"{name}.dist-info/RECORD", record + f"{name}.dist-info/RECORD,,\n")
    return path


def _mark(marks: Path, name: str) -> str:
    return _MARK.format(marks=str(marks), name=name)


def _pth(marks: Path, name: str) -> str:
    return f"import sys; exec({_mark(marks, name)!r})\n"


@pytest.fixture
def hostile(
    tmp_path: Path, marks: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> Environment:
    monkeypatch.setenv("SECRET_OF_THE_USER", _CANARY)
    lib = f"import sys\n{_mark(marks, 'os')}\n"
    wheel = _wheel(
        tmp_path,
        {
            "start.pth": _pth(marks, "pth"),
            "sitecustomize.py": _mark(marks, "sitecustomize"),
            "usercustomize.py": _mark(marks, "usercustomize"),
            # In the place of the settings of the interpreter, and of its standard library; in the
            # place of the interpreter itself uv installs nothing.
            "hostile-1.0.data/data/pyvenv.cfg": f"home = {tmp_path}/home/bin\n",
            "hostile-1.0.data/data/lib/python3.11/os.py": lib,
            "hostile-1.0.data/data/lib/python3.11/encodings/__init__.py": lib,
        },
    )
    target = Target(requirements=(f"hostile @ file://{wheel}",))
    return environment(target, allow_direct=True)


def test_what_a_wheel_brings_runs_in_the_sandbox_only(
    hostile: Environment, marks: Path, background: Background
) -> None:
    assert not list(marks.iterdir()), "code of a package ran while it was installed"
    runner, prove = start_runner(background, hostile, imports=["hostile"], concurrency=1)
    try:
        outcome = prove(
            "import builtins, sys, hostile\n"
            "def test_start():\n"
            "    assert hostile.VALUE == 42\n"
            "    assert 'pth' in builtins.ran and 'sitecustomize' in builtins.ran\n"
        )
    finally:
        background.run(runner.close())
    assert outcome.passed, outcome
    assert not list(marks.iterdir()), "code of a package ran outside of the sandbox"


def test_modules_are_compiled_and_nothing_else_is_taken_out_of_the_sandbox(
    hostile: Environment,
) -> None:
    site = next((hostile.python.parent.parent / "lib").glob("python*/site-packages"))
    assert list((site / "hostile" / "__pycache__").glob("__init__.*.pyc"))


_SETUP = """
{mark}
from setuptools import setup
setup(name="built-thing", version="1.0", py_modules=["built_thing"])
"""


def test_a_build_runs_in_the_sandbox_and_sees_no_secret(
    tmp_path: Path, marks: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET_OF_THE_USER", _CANARY)
    source = write_files(
        tmp_path / "built",
        {
            "pyproject.toml": '[build-system]\nrequires = ["setuptools"]\n'
            '[project]\nname = "built-thing"\nversion = "1.0"\n'
            'dynamic = ["dependencies"]\n',
            "setup.py": _SETUP.format(mark=_mark(marks, "setup")),
            "built_thing.py": "VALUE = 1\n",
        },
    )
    target = Target(sources=(source,))
    with pytest.raises(InputError, match="only known once it is built"):
        environment(target)
    environment(target, allow_build=True)
    assert not list(marks.iterdir()), "a build ran outside of the sandbox"


def test_an_index_with_a_password_is_not_shown_to_a_build(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UV_INDEX_URL", f"http://user:{_CANARY}@127.0.0.1:9/simple")
    target = Target(requirements=("built-thing==1.0",))
    with pytest.raises(InputError, match="UV_INDEX_URL holds a password") as caught:
        environment(target, allow_build=True)
    assert _CANARY not in str(caught.value)


@pytest.mark.parametrize(
    "line",
    ["evil @ file:///tmp/evil.whl", "evil @ https://127.0.0.1:9/evil.whl", "--index-url=x", "./x"],
)
def test_requirements_of_a_source_folder_follow_the_rules_of_a_suite(
    tmp_path: Path, cache: Path, line: str
) -> None:
    project = f'[project]\nname = "thing"\nversion = "1"\ndependencies = ["{line}"]\n'
    source = write_files(tmp_path / "thing", {"pyproject.toml": project})
    with pytest.raises(InputError, match=r"is not a requirement|points to an address") as caught:
        environment(Target(sources=(source,)))
    assert str(source) in str(caught.value)
