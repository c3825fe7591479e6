"""Bogus and honest proofs: files of sources, each below its name, outcome and target.

Lines that begin with `#:` are the code that the question shows.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from assay.questions.model import Question
from assay.questions.proofs.claims import Claim, Proof, Relation

_FOLDER = Path(__file__).parent


class Sample(NamedTuple):
    """One proof of the corpus; a bogus one has no outcome that it ought to have."""

    name: str
    expected: str
    question: Question
    proof: Proof


def read_corpus(*files: str) -> list[Sample]:
    """Return the proofs of these files."""
    parts = [part for file in files for part in (_FOLDER / file).read_text().split("=== ")[1:]]
    return [_sample(*part.split("\n", 1)) for part in parts]


def _sample(head: str, text: str) -> Sample:
    name, *more = head.split()
    lines = text.splitlines()
    shown = [line[3:] for line in lines if line.startswith("#: ")]
    source = "\n".join(line for line in lines if not line.startswith("#: ")) + "\n"
    letter, statement = re.findall(r'"""Option (\w): (.*)\."""', source)[0]
    code = "".join(f"\n    {line}" for line in shown)
    question = Question(name, f"What is true?\n{code}", {letter: "This one.", "Z": "Another."})
    claim = Claim(letter, statement, Relation.EQUIVALENT)
    return Sample(
        name, more[0] if more else "", question, Proof(claim, f"test_option_{letter}.py", source)
    )
