"""Fixtures of the sandbox's tests: their own cache, a small package, a running proof runner."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from assay.sandbox.targets import Environment, Target
from tests.sandbox.support import SMALL, Background, Prove, build, start_runner, write_files


@pytest.fixture(scope="session")
def background() -> Iterator[Background]:
    background = Background()
    yield background
    background.stop()


@pytest.fixture(scope="session")
def shared_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("assay-cache")


@pytest.fixture
def cache(shared_cache: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The cache of this test session; what one test builds another may use."""
    monkeypatch.setenv("ASSAY_CACHE", str(shared_cache))
    return shared_cache


@pytest.fixture(scope="session")
def small_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_files(tmp_path_factory.mktemp("small"), SMALL)


@pytest.fixture(scope="session")
def small(small_folder: Path, shared_cache: Path) -> Environment:
    """The environment of the small package; needs the registry only for pytest itself."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ASSAY_CACHE", str(shared_cache))
        return build(Target(sources=(small_folder,)))


@pytest.fixture(scope="session")
def prove(small: Environment, background: Background) -> Iterator[Prove]:
    """Run one proof against the small package, isolated as well as this machine can."""
    runner, prove = start_runner(
        background, small, imports=["small_thing", "small_thing.strict"], concurrency=1
    )
    yield prove
    background.run(runner.close())
