"""Bogus and honest proofs: files of sources, each below its name, outcome and target.

Lines that begin with `#:` are the code that the question shows, `#?` is its sentence and `#=` the
option. The files `blind_*` were written by somebody who had read the documentation and not the
code, and were run once before anything was mended: 24 of 33 bogus proofs settled as true, 9 of 10
true claims were refuted, 5 of 32 hostile proofs settled as true, 3 of 20 honest ones were refused.
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
    said = {line[:2]: line[3:] for line in lines if line.startswith(("#? ", "#= "))}
    shown = [line[3:] for line in lines if line.startswith("#: ")]
    source = "\n".join(line for line in lines if not line.startswith(("#: ", "#? ", "#= "))) + "\n"
    letter, statement = re.findall(r'"""Option (\w): (.*)\."""', source)[0]
    code = "".join(f"\n    {line}" for line in shown)
    options = {letter: said.get("#=", "This one."), "Z": "Another."}
    question = Question(name, f"{said.get('#?', 'What is true?')}\n{code}", options)
    claim = Claim(letter, statement, Relation.EQUIVALENT, fresh="fresh" in more)
    return Sample(
        name, more[0] if more else "", question, Proof(claim, f"test_option_{letter}.py", source)
    )
