"""`slop_code` as a file, so that a problem's tests run without Assay's command.

Nobody gets it unasked: `assay submissions alias` writes it, and `--remove` takes it away.
"""

from __future__ import annotations

import importlib.util
import sysconfig
from pathlib import Path

from assay.documents import LARGEST_SOURCE, read_bytes
from assay.errors import InfrastructureError, InputError
from assay.submissions.slopcode import ALIAS

FILE = f"{ALIAS}.py"
_TEXT = f'''"""The names of SlopCodeBench, with Assay's code behind them.

Written by `assay submissions alias`; `assay submissions alias --remove` takes it away.
"""

from assay.submissions import slopcode

# From here on `{ALIAS}` is not this file but the package that Assay keeps under another name.
slopcode.install()
'''


def write_shim(folder: Path | None = None) -> Path:
    """Write the file where Python finds it, or to a folder; refuse to hide the real package."""
    file = _place(folder)
    if file.exists() and not _is_ours(file):
        raise InputError("is not of Assay's making", where=str(file), advice="nothing was changed")
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
        raise InputError("is not of Assay's making", where=str(file), advice="nothing was changed")
    file.unlink()
    return file


def _place(folder: Path | None) -> Path:
    return (folder or Path(sysconfig.get_path("purelib"))) / FILE


def _is_ours(file: Path) -> bool:
    return file.name == FILE and read_bytes(file, LARGEST_SOURCE) == _TEXT.encode()
