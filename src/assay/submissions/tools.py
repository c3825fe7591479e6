"""What submissions find in the sandbox beside the system's programs: a Python, and uv."""

from __future__ import annotations

import os
import shutil
import stat
import sys
from dataclasses import dataclass
from pathlib import Path

from assay.errors import InfrastructureError
from assay.sandbox import Base, Bind, find_uv

_SYSTEM_PATH = ("/usr/local/bin", "/usr/bin", "/bin")
_SYSTEM_FOLDERS = ("/usr/", "/bin/", "/lib/", "/lib64/")
_QUIET = {
    "UV_PYTHON_DOWNLOADS": "never",
    "UV_LINK_MODE": "copy",
    "UV_NO_PROGRESS": "1",
    "GIT_CONFIG_NOSYSTEM": "1",
}


@dataclass(frozen=True)
class Tools:
    """Binds, and variables that make programs find what is bound."""

    folder: str
    """Where `python` and `uv` are, as a program sees it."""
    binds: tuple[Bind, ...]
    setup_binds: tuple[Bind, ...]
    cache: str
    uv_cache: str
    more_path: tuple[str, ...] = ()

    def path(self, own: str | None) -> str:
        """The PATH of a program: these tools, what the environment asks for, then the system."""
        asked = own.split(":") if own else []
        return ":".join(dict.fromkeys([self.folder, *asked, *self.more_path, *_SYSTEM_PATH]))

    @property
    def variables(self) -> dict[str, str]:
        """For cases, which have no network: what set-up has made is what there is."""
        own = {"UV_CACHE_DIR": self.uv_cache, "UV_OFFLINE": "1", "UV_NO_SYNC": "1"}
        return _QUIET | own

    @property
    def setup_variables(self) -> dict[str, str]:
        """For set-up commands, which may download: a cache that outlives a single command."""
        names = {"XDG_CACHE_HOME": "", "UV_CACHE_DIR": "/uv", "PIP_CACHE_DIR": "/pip"}
        return _QUIET | {name: f"{self.cache}{end}" for name, end in names.items()}


def find_tools(base: Base, level: str) -> Tools:
    """Lay the tools out beside the base."""
    holder = base.path.parent
    folder, cache = holder / "tools", holder / "cache"
    for path in (folder, cache):
        path.mkdir(mode=0o755)
    if base.user is not None:
        os.chown(cache, base.user, base.user)
    python = _python(others=level == "landlock" and base.user is not None)
    for name in ("python", "python3"):
        (folder / name).symlink_to(python)
    uv = _put_uv(folder, copied=level == "landlock" and base.user is not None)
    has_namespaces = level == "namespaces"
    seen = "/tools" if has_namespaces else str(folder)
    seen_cache = "/cache" if has_namespaces else str(cache)
    binds = [Bind(str(folder), seen), *uv]
    more = _prefix(python)
    if more is not None:
        binds.append(Bind(str(more), str(more)))
    return Tools(
        folder=seen,
        binds=tuple(binds),
        setup_binds=(Bind(str(cache), seen_cache, True),),
        cache=seen_cache,
        uv_cache="/tmp/uv" if has_namespaces else ".uv-cache",  # noqa: S108 - a program's own
        more_path=() if more is None else (str(more / "bin"),),
    )


def _python(*, others: bool) -> Path:
    """The Python that Assay runs on, or the system's where other users cannot reach that one."""
    own = Path(getattr(sys, "_base_executable", None) or sys.executable).resolve()
    if not others or _is_public(own):
        return own
    found = shutil.which("python3", path=":".join(_SYSTEM_PATH))
    if found is None:
        raise InfrastructureError(
            f"programs cannot reach the Python {own} without namespaces",
            advice="install a Python for the system, or make that one readable for everybody",
        )
    return Path(found).resolve()


def _is_public(path: Path) -> bool:
    """Whether everybody may go all the way to a file and run it."""
    return all(one.stat().st_mode & stat.S_IXOTH for one in (path, *path.parents))


def _prefix(python: Path) -> Path | None:
    """The folder that holds all of a Python, unless programs see it anyway."""
    return None if str(python).startswith(_SYSTEM_FOLDERS) else python.parent.parent


def _put_uv(folder: Path, *, copied: bool) -> list[Bind]:
    """Make uv one of the tools; submissions that do not need it can do without."""
    try:
        uv = Path(find_uv()).resolve()
    except InfrastructureError:
        return []
    if copied and not _is_public(uv):
        shutil.copy(uv, folder / "uv")
        return []
    (folder / "uv").symlink_to(uv)
    return [] if str(uv).startswith(_SYSTEM_FOLDERS) else [Bind(str(uv), str(uv))]
