"""A podman of the tests' own: nothing of the user's engine is read or changed."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tests.containers.machine_image import NAME, find_python, write_archive

_STORAGE = '[storage]\ndriver = "{driver}"\ngraphroot = "{root}/root"\nrunroot = "{root}/run"\n'
_ENGINE = '[engine]\ntmp_dir = "{root}/tmp"\nvolume_path = "{root}/volumes"\n'


def why_not() -> str | None:
    """Return why podman cannot be tested here, or None."""
    if shutil.which("podman") is None:
        return "podman is not installed"
    if os.geteuid() != 0:
        return "containers are tested as root"
    if find_python() is None or shutil.which("ldd") is None:
        return "this machine has no Python in /usr/bin to make an image of"
    return None


@contextlib.contextmanager
def new_store() -> Iterator[dict[str, str]]:
    """Make a podman's store in a folder of its own; yield the variables that choose it."""
    # A short path: sockets are made below it.
    root = Path(tempfile.mkdtemp(prefix="assay-pod-"))
    variables = {
        "CONTAINERS_STORAGE_CONF": str(root / "storage.conf"),
        "CONTAINERS_CONF": str(root / "containers.conf"),
    }
    (root / "containers.conf").write_text(_ENGINE.format(root=root))
    (root / "storage.conf").write_text(_STORAGE.format(root=root, driver="overlay"))
    try:
        yield variables
    finally:
        environment = {**os.environ, **variables}
        for command in (["rm", "--all", "--force"], ["rmi", "--all", "--force"]):
            subprocess.run(["podman", *command], env=environment, capture_output=True)
        unmount_below(root)
        shutil.rmtree(root, ignore_errors=True)
        assert not list_mounts_below(root)


def list_mounts_below(root: Path) -> list[str]:
    lines = Path("/proc/self/mountinfo").read_text().splitlines()
    return [path for line in lines if (path := line.split()[4]).startswith(f"{root}/")]


def unmount_below(root: Path) -> None:
    for path in reversed(list_mounts_below(root)):
        subprocess.run(["umount", "--lazy", path], capture_output=True)


def import_image(archive: Path) -> None:
    """Make the image of the tests in the store that the environment names."""
    if not archive.exists():
        write_archive(archive)
    subprocess.run(["podman", "import", str(archive), NAME], check=True, capture_output=True)


def podman(*words: str) -> str:
    """Return what podman prints."""
    done = subprocess.run(["podman", *words], capture_output=True, text=True, check=True)
    return done.stdout


class Traces:
    """What containers may leave: themselves, images, volumes, mounts, processes, folders."""

    def __init__(self) -> None:
        self.containers = podman("ps", "--all", "--quiet").split()
        self.images = sorted(podman("images", "--all", "--quiet", "--no-trunc").split())
        self.volumes = podman("volume", "ls", "--quiet").split()
        root = Path(os.environ["CONTAINERS_CONF"]).parent
        self.mounts = [path for path in list_mounts_below(root) if path != f"{root}/root/overlay"]
        self.processes = _list_processes()
        self.folders = sorted(
            path.name for path in Path(tempfile.gettempdir()).glob("assay-work-*")
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Traces) and self.__dict__ == other.__dict__

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Traces({self.__dict__})"


def _list_processes() -> list[str]:
    """Return the commands of processes that belong to containers of this store."""
    root = str(Path(os.environ["CONTAINERS_CONF"]).parent)
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            command = (path / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            is_inside = f"{root}/" in (path / "mountinfo").read_text().partition("\n")[0]
            if is_inside or ("conmon" in command and root in command):
                found.append(command)
    return sorted(found)
