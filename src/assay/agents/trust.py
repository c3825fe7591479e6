"""Rules for which code a test file may run and which servers may receive the secrets of a test.

A test file is untrusted data. It may name a `python` agent in its own project, but no code of the
standard library or of an installed package, where almost any function can affect the machine. A run
folder is untrusted too: it names the server of the run, but only the user can allow that server to
receive secrets.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import os
import sys
import sysconfig
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType
from typing import Any
from urllib.parse import urlsplit

from assay.agents.connections.addresses import is_local
from assay.config import USER_CONFIG, check_named_code, find_project, load_user_config
from assay.errors import InputError, nearest
from assay.tracebacks import format_exception

_INSTALLED = frozenset({"site-packages", "dist-packages"})
_HOSTS = "ASSAY_AGENT_HOSTS"


@dataclass(frozen=True)
class Trust:
    """What the user and the project allow for code and servers named by files."""

    paths: tuple[Path, ...] | None = None
    """Folders that `python` agents come from; None for those of each test file."""
    modules: frozenset[str] = frozenset()
    """Modules that the user allows by name, with all below them, wherever they are."""
    is_complete: bool = False
    """Whether the user trusts all files: nothing is looked at."""
    resumed_from: Path | None = None
    """The user's project, if a run folder, which anybody may have written, says what to run."""

    def for_file(self, path: Path) -> CodeRules | None:
        """Return the rules for the agent that a test file names; None if there are none."""
        if self.is_complete:
            return None
        folders = find_code_folders(path) if self.paths is None else self.paths
        return CodeRules(folders, self.modules)

    def check_server(
        self, url: str, *, is_verified: bool, environment: Mapping[str, str] = os.environ
    ) -> None:
        """Raise an InputError if secrets must not go to the server at an address.

        `is_verified` means that the server's certificate is checked in the usual way.
        """
        parts = urlsplit(url)
        if self.is_complete or self.resumed_from is None or is_local(parts.hostname or ""):
            return
        if not is_verified:
            raise InputError(
                f"no key or header is sent to {parts.netloc}: the run folder turns off the "
                "usual check of its certificate",
                advice="if that is what you want, pass --trust",
            )
        named = environment.get(_HOSTS, "").replace(",", " ").split()
        if parts.netloc in [*named, *load_user_config(environment).agents.hosts]:
            return
        raise InputError(
            f"no key or header is sent to {parts.netloc}: the run folder names it, not you",
            advice=f"if you trust it, pass --trust, set {_HOSTS}={parts.netloc}, or write it under "
            f'[agents] as hosts = ["{parts.netloc}"] in {USER_CONFIG}',
        )

    def check_project(self, file: Path) -> None:
        """Raise an InputError if a run folder names a file whose code the user did not name."""
        if self.is_complete or self.resumed_from is None:
            return
        check_named_code(file, self.resumed_from)


def make_trust(
    paths: Iterable[Path] | None,
    modules: Iterable[str] = (),
    *,
    is_complete: bool = False,
    resumed_from: Path | None = None,
) -> Trust:
    """Return the trust settings from the configuration, options and the user's own file."""
    allowed = {*modules, *load_user_config().agents.allow}
    for name in allowed:
        if not all(part.isidentifier() for part in name.split(".")):
            raise InputError(f"{name!r} is not the name of a module", advice="leave out `:` and on")
    given = None if paths is None else tuple(Path(path).resolve() for path in paths)
    root = None if resumed_from is None else find_project(resumed_from)
    return Trust(given, frozenset(allowed), is_complete, root)


def find_code_folders(file: Path) -> tuple[Path, ...]:
    """Return the folders that agents of a test file come from: its project's root and its own."""
    folder = Path(os.path.realpath(file)).parent
    return tuple(dict.fromkeys((find_project(folder), folder)))


@dataclass(frozen=True)
class CodeRules:
    """Where the agent of one test file may come from."""

    folders: tuple[Path, ...]
    modules: frozenset[str] = frozenset()

    def load(self, name: str) -> Any:
        """Return the object `package.module:name`; never import code outside the project."""
        module_name, path = split_name(name)
        self._extend_search()
        found: Any = None
        for part in _list_prefixes(module_name):
            if not self._is_allowed(part):
                self._check_spec(part)
            found = import_module(part)
            self._check_module(found, part)
        for attribute in path.split("."):
            if attribute.startswith("__"):
                raise InputError(f"{attribute!r} is not part of an agent", where=name)
            found = get_attribute(found, attribute, module_name)
            self._check_value(found, name)
        return found

    def find_refusal(self, name: str) -> str | None:
        """Return why an agent would be refused, as far as that is known without running code."""
        top = split_name(name)[0].partition(".")[0]
        if self._is_allowed(top):
            return None
        self._extend_search()
        try:
            self._check_spec(top)
        except InputError as error:
            return error.what
        return None

    def _is_allowed(self, module: str) -> bool:
        return any(prefix in self.modules for prefix in _list_prefixes(module))

    def _extend_search(self) -> None:
        """Extend the module search path; with the current directory if it is in the project."""
        for folder in reversed(self._list_places()):
            if folder not in sys.path:
                sys.path.insert(0, folder)

    def _list_places(self) -> list[str]:
        here = Path.cwd()
        return [str(one) for one in ((here,) if self._holds(here) else ()) + self.folders]

    def _holds(self, path: Path) -> bool:
        return any(path.resolve().is_relative_to(folder) for folder in self.folders)

    def _check_spec(self, name: str) -> None:
        """Raise an InputError if importing a module would run code from elsewhere.

        Packages above it are imported already, so that this runs nothing itself.
        """
        try:
            spec = importlib.util.find_spec(name)
        except (ImportError, ValueError):
            spec = None
        if "." not in name:
            self._check_namesake(name, spec)
        if spec is None:
            raise InputError(
                "is not in the project",
                where=name,
                advice=f"looked in {', '.join(map(str, self.folders))}; {_ADVICE}",
            )
        self._check_file(name, spec.origin, is_namespace=_is_namespace(spec))

    def _check_namesake(self, name: str, spec: ModuleSpec | None) -> None:
        """Refuse a module hidden by another of the same name: the wrong agent would be tested."""
        own = PathFinder.find_spec(name, self._list_places())
        if own is None or own.origin is None or spec is None:
            return
        if spec.origin is None or not _is_same(own.origin, spec.origin):
            raise InputError(
                f"is {own.origin} here, but Python already has another module of that name: "
                f"{spec.origin or 'a folder'}",
                where=name,
                advice="rename it, or run the test files one by one",
            )

    def _check_module(self, module: ModuleType, name: str) -> None:
        if self._is_allowed(module.__name__):
            return
        spec = getattr(module, "__spec__", None)
        is_namespace = spec is not None and _is_namespace(spec)
        self._check_file(name, getattr(module, "__file__", None), is_namespace=is_namespace)

    def _check_file(self, name: str, file: str | None, *, is_namespace: bool) -> None:
        """Raise an InputError unless the file of a module is really in one of the folders."""
        if is_namespace:
            # A folder without code; its submodules are checked separately.
            return
        what = "is built into Python"
        if file is not None and os.path.isabs(file):  # noqa: PTH117 - a text, not a path yet
            path = Path(os.path.realpath(file))
            if _is_installed(path):
                what = "belongs to the standard library or to an installed package"
            elif self._holds(path):
                return
            else:
                what = f"is {path}, which is not in {', '.join(map(str, self.folders))}"
        raise InputError(f"{what}; a test file cannot run it", where=name, advice=_ADVICE)

    def _check_value(self, found: Any, name: str) -> None:
        """Refuse objects that the project's code only imports: they are not agents."""
        if isinstance(found, ModuleType):
            self._check_module(found, f"{name} ({found.__name__})")
        elif inspect.isroutine(found) or inspect.isclass(found):
            home = getattr(found, "__module__", None) or ""
            if home.partition(".")[0] in sys.stdlib_module_names and not self._is_allowed(home):
                raise InputError(
                    f"is {home}.{getattr(found, '__qualname__', '?')} of the standard library; "
                    "a test file cannot run it",
                    where=name,
                    advice=f"write your own function that calls it; or {_ADVICE}",
                )


_ADVICE = (
    "agents come from the project of the test file, or from python_paths under [agents] in "
    "assay.toml; allow another module yourself with --allow-agent MODULE"
)


def split_name(name: str) -> tuple[str, str]:
    """Return the module and the path in it of `package.module:function`."""
    module, _, path = name.partition(":")
    if not module or not path:
        raise InputError(
            f"{name!r} does not name a Python agent", advice="write package.module:function"
        )
    return module, path


def import_module(name: str) -> ModuleType:
    """Import a module; whatever it raises is an InputError."""
    try:
        return importlib.import_module(name)
    except Exception as error:
        raise InputError(f"cannot be imported: {format_exception(error)}", where=name) from error


def get_attribute(found: Any, name: str, where: str) -> Any:
    """Return an attribute, or raise an error that suggests the nearest name."""
    if not hasattr(found, name):
        public = [word for word in dir(found) if not word.startswith("_")]
        raise InputError(f"has no {name!r}", where=where, advice=nearest(name, public))
    return getattr(found, name)


def _list_prefixes(module: str) -> Iterator[str]:
    """Yield a, a.b and a.b.c of a.b.c."""
    parts = module.split(".")
    for length in range(1, len(parts) + 1):
        yield ".".join(parts[:length])


def _is_same(one: str, other: str) -> bool:
    return os.path.realpath(one) == os.path.realpath(other)


def _is_namespace(spec: ModuleSpec) -> bool:
    return spec.origin is None and spec.submodule_search_locations is not None


def _is_installed(path: Path) -> bool:
    """Return whether a file is of the standard library or of an installed package."""
    if _INSTALLED & set(path.parts):
        return True
    stdlib = {sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib")}
    return any(path.is_relative_to(os.path.realpath(folder)) for folder in stdlib)
