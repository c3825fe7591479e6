"""An image made from the files of this machine: a shell, some commands, and its Python.

No registry can be reached from tests, so the files come from where they are. What a program loads
is asked of the loader (`ldd`).
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tarfile
from pathlib import Path

NAME = "localhost/assay-test:1"
_COMMANDS = ("sh", "cat", "ls", "id", "sleep", "env", "mkdir", "rm", "touch", "mount", "su")
_LEFT_OUT = re.compile(
    r"/(__pycache__|test|tests|idlelib|lib2to3|ensurepip|tkinter|config-[^/]*)(/|$)"
)
_PASSWD = (
    "root:x:0:0:root:/root:/bin/sh\napp:x:1234:1235::/:/bin/sh\nnobody:x:65534:65534::/:/bin/sh\n"
)
_GROUP = "root:x:0:\napp:x:1235:\nnogroup:x:65534:\n"


def find_python() -> str | None:
    """Return the system's Python, whose libraries are all below /usr."""
    for name in ("python3.13", "python3.12", "python3.11", "python3"):
        found = Path("/usr/bin", name)
        if found.exists():
            return str(found)
    return None


def write_archive(target: Path) -> Path:
    """Write the file system of the image as an archive."""
    python = find_python()
    assert python is not None
    library = subprocess.run(
        [python, "-I", "-c", "import sysconfig; print(sysconfig.get_path('stdlib'))"],
        capture_output=True, text=True, check=True,
    ).stdout.strip()  # fmt: skip
    programs = [path for name in _COMMANDS if (path := shutil.which(name, path="/usr/bin:/bin"))]
    modules = [str(path) for path in Path(library).rglob("*.so")]
    unfinished = target.with_suffix(".part")
    with tarfile.open(unfinished, "w") as archive:
        for folder in ("usr", "usr/bin", "bin", "etc", "tmp", "proc", "sys", "dev", "root"):
            _add_folder(archive, folder)
        for path in programs:
            archive.add(Path(path).resolve(), f"usr/bin/{Path(path).name}")
        _add_link(archive, "bin/sh", "/usr/bin/sh")
        archive.add(Path(python).resolve(), "usr/bin/python3")
        _add_link(archive, "usr/bin/python", "python3")
        archive.add(library, library.lstrip("/"), filter=_keep)
        for path in sorted(_list_libraries([*programs, python, *modules])):
            archive.add(Path(path).resolve(), path.lstrip("/"))
        for name, text in (("etc/passwd", _PASSWD), ("etc/group", _GROUP)):
            _add_text(archive, name, text)
    return unfinished.rename(target)


def _list_libraries(files: list[str]) -> set[str]:
    shown = subprocess.run(["ldd", *files], capture_output=True, text=True).stdout
    return set(re.findall(r"(/\S+\.so\S*)(?= \()", shown))


def _keep(entry: tarfile.TarInfo) -> tarfile.TarInfo | None:
    return None if _LEFT_OUT.search(entry.name) else entry


def _add_folder(archive: tarfile.TarFile, name: str) -> None:
    entry = tarfile.TarInfo(name)
    entry.type, entry.mode = tarfile.DIRTYPE, 0o1777 if name == "tmp" else 0o755
    archive.addfile(entry)


def _add_link(archive: tarfile.TarFile, name: str, target: str) -> None:
    entry = tarfile.TarInfo(name)
    entry.type, entry.linkname = tarfile.SYMTYPE, target
    archive.addfile(entry)


def _add_text(archive: tarfile.TarFile, name: str, text: str) -> None:
    import io

    entry = tarfile.TarInfo(name)
    entry.size, entry.mode = len(text), 0o644
    archive.addfile(entry, io.BytesIO(text.encode()))
