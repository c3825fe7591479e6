"""Runs the tests that a problem has for its own loader and verifier."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from assay.errors import InputError
from assay.processes import clean_environment

_START = (
    "import json, sys; sys.path[:] = json.loads(sys.argv.pop(1)); "
    "import pytest; sys.exit(pytest.main(sys.argv[1:]))"
)
_CONFIGURATIONS = ("pytest.ini", "pyproject.toml", "tox.ini", "setup.cfg")
# What pytest's exit codes mean here: no tests and a wrong option are the user's, its own failure
# is the machine's.
_EXIT_CODES = {0: 0, 1: 1, 2: 130, 3: 3, 4: 2}


def run_own_tests(folder: Path, arguments: Sequence[str]) -> int:
    """Run `test_*.py` of a problem by pytest; the exit code, in the meaning Assay gives to it."""
    if importlib.util.find_spec("pytest") is None:
        raise InputError("pytest is not installed", advice="pip install pytest")
    named = [word for word in arguments if _is_place(folder, word)]
    tests = [] if named else own_test_files(folder)
    if not named and not tests:
        raise InputError(
            "the problem has no tests of its own",
            where=str(folder),
            advice="write test_verifier.py beside verifier.py; see docs/verifiers.md",
        )
    words = [*_options(folder), *map(str, tests), *arguments]
    path = json.dumps([entry for entry in sys.path if entry])
    completed = subprocess.run(  # noqa: S603 - the user's own tests, with the user's own options
        [sys.executable, "-P", "-s", "-c", _START, path, *words],
        cwd=folder,
        env=clean_environment() | _terminal(),
        check=False,
    )
    return _exit_code(completed.returncode, folder)


def own_test_files(folder: Path) -> list[Path]:
    """The tests beside the verifier, and those in `tests`; not those of solutions."""
    files = sorted(folder.glob("test_*.py"))
    return [*files, folder / "tests"] if (folder / "tests").is_dir() else files


def _is_place(folder: Path, word: str) -> bool:
    return not word.startswith("-") and (folder / word.partition("::")[0]).exists()


def _options(folder: Path) -> list[str]:
    words = ["-p", "assay.submissions.python_problems.plugin", "-p", "no:cacheprovider"]
    words += [f"--rootdir={folder}"]
    if not any((folder / name).is_file() for name in _CONFIGURATIONS):
        # Otherwise pytest would take the settings of a project the folder happens to lie in.
        words += ["-c", os.devnull]
    return words


def _terminal() -> dict[str, str]:
    names = ("TERM", "COLUMNS", "NO_COLOR", "FORCE_COLOR", "TMPDIR")
    return {name: os.environ[name] for name in names if name in os.environ}


def _exit_code(code: int, folder: Path) -> int:
    if code == 5:
        raise InputError("no test was selected", where=str(folder), advice="look at -k and -m")
    return _EXIT_CODES.get(code, 3)
