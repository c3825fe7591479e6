"""What others may write: nothing of the corpus is accepted, and a short search finds no more."""

from __future__ import annotations

import json
import logging
from pathlib import Path

import pytest

from tests.fuzz.__main__ import search
from tests.fuzz.loaders import LOADERS

CORPUS = Path(__file__).parents[1] / "corpus"
PLACES: dict[str, str] = json.loads((CORPUS / "places.json").read_text())
# The same every time: enough to see that the search works. `make fuzz` looks for what is new.
INPUTS_EACH = 50


@pytest.mark.parametrize("name", PLACES)
def test_an_input_of_the_corpus_is_refused_with_its_place(name: str, tmp_path: Path) -> None:
    messages = LOADERS[name.partition("/")[0]].load(tmp_path, (CORPUS / name).read_bytes())
    first = messages[0].replace(f"{tmp_path}/", "")
    assert first.startswith(f"{PLACES[name]}: ")
    assert len(first) > len(PLACES[name]) + len(": is")


def test_every_file_of_the_corpus_has_its_place() -> None:
    files = {f"{path.parent.name}/{path.name}" for path in CORPUS.glob("*/*")}
    assert files == set(PLACES)
    assert max(path.stat().st_size for path in CORPUS.glob("*/*")) < 50_000


@pytest.mark.parametrize("name", LOADERS)
def test_a_sound_input_is_accepted(name: str, tmp_path: Path) -> None:
    assert LOADERS[name].load(tmp_path, LOADERS[name].sound()) == []


@pytest.mark.parametrize("name", LOADERS)
def test_a_short_search_with_a_fixed_seed_finds_nothing(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    try:
        assert search(13, [name], inputs=INPUTS_EACH) == 0, "run it again with: make fuzz"
    finally:
        logging.disable(logging.NOTSET)
