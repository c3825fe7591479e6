"""The real command in this process, so that google-adk and LiteLLM are imported once."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from assay.cli.main import _report_error, cli
from assay.sandbox.cache import cache_folder

KEYS = ("GEMINI_API_KEY", "GOOGLE_API_KEY", "OPENAI_API_KEY", "ASSAY_MODEL", "ASSAY_MODEL_URL")


class Ended(NamedTuple):
    """How a command ended."""

    code: int
    out: str
    err: str


Run = Callable[..., Ended]


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache with the environments and indexes of the machine, and answers of its own."""
    shared = cache_folder()
    own = tmp_path / "cache"
    own.mkdir()
    for name in ("environments", "indexes", "kits", "locks"):
        (shared / name).mkdir(parents=True, exist_ok=True)
        (own / name).symlink_to(shared / name)
    monkeypatch.setenv("ASSAY_CACHE", str(own))
    return own


@pytest.fixture
def assay_here(
    tmp_path: Path,
    cache: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> Run:
    """Runs a command of `assay` in a folder of its own, as the real one does."""
    for name in KEYS:
        monkeypatch.delenv(name, raising=False)
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    folder = tmp_path / "work"
    folder.mkdir()
    monkeypatch.chdir(folder)

    def run(*words: str | Path) -> Ended:
        try:
            code = cli.main([str(word) for word in words], "assay", standalone_mode=False)
        except BaseException as error:
            code = _report_error(error)
        assert not list(temporary.iterdir())
        if litellm := sys.modules.get("litellm"):
            # A client that is left would be collected in the middle of some other test.
            assert not litellm.in_memory_llm_clients_cache.cache_dict
        return Ended(code if isinstance(code, int) else 0, *capfd.readouterr())

    return run
