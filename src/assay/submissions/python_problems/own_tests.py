"""A problem's tests for its own loader and verifier, and a `slop_code` module file for them."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import sysconfig
from collections.abc import Sequence
from pathlib import Path

from assay.documents import LARGEST_SOURCE, read_bytes
from assay.errors import InfrastructureError, InputError
from assay.processes import clean_environment
from assay.submissions.slopcode import ALIAS

_START = (
    "import json, sys; sys.path[:] = json.loads(sys.argv.pop(1)); "
    "import pytest; sys.exit(pytest.main(sys.argv[1:]))"
)
_CONFIGURATIONS = ("pytest.ini", "pyproject.toml", "tox.ini", "setup.cfg")
# What pytest's exit codes mean here: no tests and a wrong option are the user's, its own failure
# is the machine's.
_EXIT_CODES = {0: 0, 1: 1, 2: 130, 3: 3, 4: 2}


def run_own_tests(folder: Path, arguments: Sequence[str]) -> int:
    """Run `test_*.py` of a problem with pytest; return Assay's exit code."""
    if importlib.util.find_spec("pytest") is None:
        raise InputError("pytest is not installed", advice="pip install pytest")
    named = [word for word in arguments if _is_place(folder, word)]
    tests = [] if named else own_test_files(folder)
    if not named and not tests:
        raise InputError(
            "the problem does not have its own tests",
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
    """Return the tests beside the verifier, and those in `tests`; not those of solutions."""
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


FILE = f"{ALIAS}.py"
_TEXT = f'''"""The names of SlopCodeBench, with Assay's code behind them.

Written by `assay submissions alias`; `assay submissions alias --remove` takes it away.
"""

from assay.submissions import slopcode

# From here on `{ALIAS}` is not this file but the package that Assay keeps under another name.
slopcode.install()
'''


def write_shim(folder: Path | None = None) -> Path:
    """Write the file where Python finds it, or to a folder; never hide the real package."""
    file = _place(folder)
    if file.exists() and not _is_ours(file):
        raise InputError("was not made by Assay", where=str(file), advice="nothing was changed")
    found = importlib.util.find_spec(ALIAS)
    origin = Path(found.origin) if found is not None and found.origin else None
    if found is not None and (origin is None or not _is_ours(origin)):
        raise InputError(
            f"`{ALIAS}` is installed already, and would be hidden",
            where=str(origin or next(iter(found.submodule_search_locations or []), "")),
            advice="tests of problems find it without Assay",
        )
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(_TEXT, encoding="utf-8")
    except OSError as error:
        raise InfrastructureError(
            f"cannot be written: {error.strerror}",
            where=str(file),
            advice="write it elsewhere with --to FOLDER, and set PYTHONPATH to that folder",
        ) from error
    return file


def remove_shim(folder: Path | None = None) -> Path:
    """Remove the file, if it is the one that was written."""
    file = _place(folder)
    if not file.is_file():
        raise InputError("there is no such file", where=str(file), advice="nothing was changed")
    if not _is_ours(file):
        raise InputError("was not made by Assay", where=str(file), advice="nothing was changed")
    file.unlink()
    return file


def _place(folder: Path | None) -> Path:
    return (folder or Path(sysconfig.get_path("purelib"))) / FILE


def _is_ours(file: Path) -> bool:
    return file.name == FILE and read_bytes(file, LARGEST_SOURCE) == _TEXT.encode()
