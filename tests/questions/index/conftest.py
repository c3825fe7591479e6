"""The index of the package that has one of everything, built once for all tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.questions.index import SymbolIndex, build_index
from assay.sandbox import Environment, Target
from tests.questions.index.support import FILES
from tests.sandbox.support import build, write_files


@pytest.fixture(scope="session")
def parcels_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("assay-cache")


@pytest.fixture
def cache(parcels_cache: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The cache that holds the package's index: it is built anew in every session."""
    monkeypatch.setenv("ASSAY_CACHE", str(parcels_cache))
    return parcels_cache


@pytest.fixture(scope="session")
def parcels(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    return build(Target(sources=(write_files(tmp_path_factory.mktemp("parcels"), FILES),)))


@pytest.fixture(scope="session")
def index(parcels: Environment, parcels_cache: Path) -> SymbolIndex:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ASSAY_CACHE", str(parcels_cache))
        return build_index(parcels, module_seconds=4)
