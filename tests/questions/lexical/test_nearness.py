"""Which documentation is nearest to a question: by a clear margin, or none."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from assay.questions.claims import nearness

TEXTS = {
    "output_key": "The key in session state to store the output of the agent.",
    "output_schema": "The output schema when the agent replies.",
    "planner": "Instructs the agent to make a plan and execute it step by step.",
}


def test_words_are_split_and_compared_by_how_they_begin() -> None:
    assert nearness.words("maxLLMCalls of run_config") == [
        "max",
        "llm",
        "calls",
        "of",
        "run",
        "config",
    ]
    assert nearness.is_same("compact", "compaction")
    assert not nearness.is_same("model", "modality")
    assert not nearness.is_same("in", "input")


def test_the_nearest_is_found_by_rare_words() -> None:
    query = (("saving", "store"), ("output",), ("session",), ("state",))
    assert nearness.nearest(TEXTS, query) == "output_key"


def test_without_a_margin_there_is_none() -> None:
    assert nearness.nearest(TEXTS, (("agent",),)) is None
    assert nearness.nearest(TEXTS, (("unheard",),)) is None
    assert nearness.nearest({}, (("agent",),)) is None


def test_what_proofs_carry_is_what_the_prover_uses() -> None:
    import math
    import re

    names: dict[str, object] = {"re": re, "math": math, "MARGIN": nearness.MARGIN}
    exec(nearness.source(), names)  # the text that is put into proofs
    carried = names["nearest"]
    query = (("plan",), ("step",))
    assert callable(carried)
    assert carried(TEXTS, query) == nearness.nearest(TEXTS, query) == "planner"


@given(
    st.dictionaries(st.text(max_size=12), st.text(max_size=40), max_size=6),
    st.lists(st.lists(st.text(min_size=1, max_size=8), min_size=1, max_size=3), max_size=4),
)
def test_the_nearest_is_one_of_them(texts: dict[str, str], query: list[list[str]]) -> None:
    assert nearness.nearest(texts, query) in {None, *texts}
