"""The engine and the image of these tests: made once, private, and removed at the end."""

from __future__ import annotations

import fcntl
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.containers.support import import_image, new_store, why_not


@pytest.fixture(scope="session")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """The variables that choose a podman with the image of the tests; skips where there is none."""
    if (reason := why_not()) is not None:
        pytest.skip(reason)
    shared = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        shared = shared.parent
    with new_store() as variables, pytest.MonkeyPatch.context() as patch:
        for name, value in variables.items():
            patch.setenv(name, value)
        with (shared / "image.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            import_image(Path(shared / "image.tar"))
        yield variables


@pytest.fixture
def podman_store(store: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """The same, for one test: what this process knows of engines is forgotten before it."""
    from assay.containers import engine, owners

    for name, value in store.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(engine, "_known", {})
    monkeypatch.setattr(owners, "_swept", set())
    # Folders of other processes come and go in the machine's.
    scratch = Path(store["CONTAINERS_CONF"]).parent / "scratch"
    scratch.mkdir(exist_ok=True)
    monkeypatch.setenv("TMPDIR", str(scratch))
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    return store
