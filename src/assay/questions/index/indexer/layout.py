"""The modules and files of the distributions that were asked for, and the words in them."""

from __future__ import annotations

import importlib.machinery
import importlib.metadata
import json
import os
import re
import site
import sys
import urllib.parse
from collections.abc import Iterable
from typing import Any

_LEFT_OUT = {"__pycache__", "node_modules", "build", "dist"}
# At the top of a source folder these hold no part of the package, whatever Python could import.
_BESIDE = {
    "tests", "test", "docs", "doc", "examples", "example", "scripts", "benchmarks", "tools",
    "setup", "conftest", "noxfile", "tasks", "fabfile",
}  # fmt: skip
_SUFFIXES = sorted(importlib.machinery.all_suffixes(), key=len, reverse=True)


class Layout:
    """The target's modules with their files, its data, its console scripts, and what is foreign."""

    def __init__(self) -> None:
        self.modules: dict[str, str] = {}
        self.files: list[str] = []
        self.scripts: list[tuple[str, str]] = []
        self.versions: dict[str, str] = {}
        self.absent: list[str] = []
        self.foreign: list[str] = []

    def namespaces(self) -> list[str]:
        """Packages without a file of their own that lead to the target's modules."""
        parents = {
            name[:position]
            for name in self.modules
            for position, letter in enumerate(name)
            if letter == "."
        }
        return sorted(parents - set(self.modules))


def layout_of(distributions: list[str]) -> Layout:
    """Look up the distributions in the interpreter's path; nothing of theirs is imported."""
    layout = Layout()
    for name in distributions:
        try:
            found = importlib.metadata.distribution(name)
        except importlib.metadata.PackageNotFoundError:
            layout.absent.append(name)
            continue
        layout.versions[name] = found.version
        _add_files(layout, found)
        layout.scripts.extend(
            (point.name, point.value)
            for point in found.entry_points
            if point.group == "console_scripts"
        )
    layout.foreign = _foreign({_normal(name) for name in distributions})
    return layout


def _add_files(layout: Layout, found: Any) -> None:
    folder = _source_folder(found)
    if folder is not None:
        for name in _walk(folder):
            _add(layout, folder, name, is_source=True)
        return
    base = str(found.locate_file(""))
    for listed in found.files or ():
        _add(layout, base, str(listed), is_source=False)


def _source_folder(found: Any) -> str | None:
    """Return the folder of an editable or copied source, whose files no record lists."""
    if found.files is None:
        return str(found.locate_file(""))
    try:
        address = json.loads(found.read_text("direct_url.json") or "{}")
    except ValueError:
        return None
    if not address.get("dir_info", {}).get("editable"):
        return None
    folder = urllib.parse.unquote(urllib.parse.urlparse(address.get("url", "")).path)
    inner = os.path.join(folder, "src")
    return inner if os.path.isdir(inner) else folder


def _walk(folder: str) -> list[str]:
    found: list[str] = []
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(
            name
            for name in folders
            if name not in _LEFT_OUT and not name.startswith(".") and "-info" not in name
        )
        inner = os.path.relpath(place, folder)
        found.extend(os.path.normpath(os.path.join(inner, name)) for name in sorted(names))
    return found


def _add(layout: Layout, base: str, name: str, *, is_source: bool) -> None:
    parts = name.split("/")
    if parts[0] == ".." or "__pycache__" in parts or parts[0].endswith((".dist-info", ".data")):
        return
    if is_source and parts[0].split(".")[0] in _BESIDE:
        return
    path = os.path.join(base, name)
    layout.files.append(path)
    module = module_name(parts)
    if module:
        layout.modules.setdefault(module, path)


def module_name(parts: list[str]) -> str | None:
    """Return the module that a file defines, None if none can be imported."""
    for suffix in _SUFFIXES:
        if parts[-1].endswith(suffix):
            names = [*parts[:-1], parts[-1][: -len(suffix)]]
            if names[-1] == "__init__":
                names.pop()
            if names and all(name.isidentifier() for name in names):
                return ".".join(names)
            return None
    return None


def _normal(name: str) -> str:
    return name.lower().replace("_", "-").replace(".", "-")


def _foreign(own: set[str]) -> list[str]:
    """Return the outermost packages and modules of every other distribution that is installed."""
    names: set[str] = set()
    for found in importlib.metadata.distributions():
        if _normal(str(found.metadata["Name"])) not in own:
            names.update(_outermost(found.read_text("RECORD") or ""))
    return sorted(names)


def _outermost(record: str) -> set[str]:
    paths = [line.split(",")[0].split("/") for line in record.splitlines()]
    packages = {
        "/".join(parts[:-1]) for parts in paths if parts[-1] == "__init__.py" and len(parts) > 1
    }
    outer = {name for name in packages if not _is_inner(name, packages)}
    single = {module_name(parts) or "" for parts in paths if len(parts) == 1}
    return {name.replace("/", ".") for name in outer if ".." not in name} | (single - {""})


def _is_inner(name: str, packages: set[str]) -> bool:
    parts = name.split("/")
    return any("/".join(parts[:length]) in packages for length in range(1, len(parts)))


_IDENTIFIER = re.compile(r"[^\W\d]\w+")
_LARGEST = 32 << 20
_LONGEST = 120


def scan_identifiers(paths: Iterable[str]) -> set[str]:
    """Return the identifiers in the files, of two characters or more."""
    found: set[str] = set()
    for path in paths:
        try:
            with open(path, "rb") as file:
                text = file.read(_LARGEST).decode("utf-8", "ignore")
        except OSError:
            continue
        found.update(_IDENTIFIER.findall(text))
    return {word for word in found if len(word) <= _LONGEST}


def list_site_folders() -> list[str]:
    """Return where everything is installed, the target included."""
    folders = dict.fromkeys([*site.getsitepackages(), *sys.path])
    return [one for one in folders if os.path.basename(one) in ("site-packages", "dist-packages")]


def sources_below(folders: Iterable[str]) -> Iterable[str]:
    """Yield every file of Python source below the folders."""
    for folder in folders:
        for place, _, names in os.walk(folder):
            for name in names:
                if name.endswith((".py", ".pyi")):
                    yield os.path.join(place, name)


def lines_of(words: set[str]) -> bytes:
    """Sorted by their bytes, one per line, so that a reader can search by halves."""
    lines = sorted(word.encode("utf-8", "ignore") for word in words)
    return b"".join(line + b"\n" for line in lines)
