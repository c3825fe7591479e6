"""Whatever a question says, every proof that is drafted for it is fit, and nothing crashes."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from assay.questions.claims import Library, write_proof
from assay.questions.lexical.parsed_question import parse_question
from assay.questions.lexical.reader import read_claims
from assay.questions.model import Question, Snippet
from assay.questions.proofs.proving import objections

PIECES = st.sampled_from(
    ["Which", "parameter of", "method of", "`Lamp`", "`lanterns.lamps`", "import", "is NOT a", "?",
     "`Lamp(brightness=-1)`", "raise", "return", "print", "the last line", "`refill`", "default",
     "class", "exception", "`from lanterns import Lamp`", "```python\nLamp(\n```", "\\", '"""',
     "\x00", "of these", "can be imported from", "signature of", "1)", "2)", "`--flag`",
     "`lamps light`",
     "`'''`", "ü", "`Lamp.light`", "when calling", "Lamp(colour='x')", "None", "`{`",
     "async def f(a):"]
)  # fmt: skip
TEXTS = st.text(max_size=80) | st.lists(PIECES, max_size=12).map(" ".join)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=150)
@given(TEXTS, st.lists(TEXTS, min_size=1, max_size=5), st.none() | TEXTS)
def test_any_question_gets_fit_proofs_or_none(
    library: Library, text: str, options: list[str], code: str | None
) -> None:
    letters = dict(zip("ABCDE", options, strict=False))
    question = Question("q", text, letters, Snippet(code) if code else None)
    parsed = parse_question(question, list(letters), library)
    readings = [one for found in read_claims(parsed).values() for one in found]
    for proof in (write_proof(one.option, one.claim, library, "lexical") for one in readings):
        assert objections(proof.source, ["lanterns"]) == [], proof.source
