"""Words of identifiers and prose, and the search by halves."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.questions.index.indexer.layout import lines_of
from assay.questions.index.ranking import find_identifiers, split_identifier, stem, synonyms, terms
from assay.questions.index.store import SortedWords


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("maxLLMCalls", ["max", "llm", "calls"]),
        ("set_agent_state", ["set", "agent", "state"]),
        ("HTTPServer2", ["http", "server", "2"]),
        ("in-memory Runner", ["in", "memory", "runner"]),
        ("maxGröße", ["max", "größe"]),
    ],
)
def test_identifiers_are_split_where_they_are_joined(text: str, words: list[str]) -> None:
    assert split_identifier(text) == words


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("sequence", "sequential"), ("iterations", "iteration"), ("running", "run"),
        ("services", "service"), ("registry", "registries"), ("logger", "logging"),
        ("concurrently", "concurrent"), ("generating", "generation"),
    ],
)  # fmt: skip
def test_endings_of_grammar_are_cut(one: str, other: str) -> None:
    assert stem(one) == stem(other)


@given(st.text())
def test_terms_are_always_to_be_had(text: str) -> None:
    assert all(term and term == term.lower() for term in terms(text))


def test_synonyms_go_both_ways() -> None:
    assert stem("limit") in synonyms(stem("maximum"))
    assert stem("maximum") in synonyms(stem("limit"))
    assert not synonyms("zebra")


def test_what_is_spelled_as_code() -> None:
    text = "Does `Runner` or types.Part or LLMRegistry take max_calls? Not Part nor the API."
    assert find_identifiers(text) == ["Runner", "types.Part", "LLMRegistry", "max_calls"]


@given(st.sets(st.text(alphabet="abü_", min_size=1), max_size=30), st.text(alphabet="abü_"))
def test_a_sorted_file_knows_exactly_its_lines(
    tmp_path_factory: pytest.TempPathFactory, words: set[str], other: str
) -> None:
    path = Path(tmp_path_factory.mktemp("words"), "words.txt")
    path.write_bytes(lines_of(words))
    found = SortedWords(path)
    assert all(word in found for word in words)
    assert (other in found) == (other in words)
