"""Pass ratios: how many of how many samples must pass."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple, Self

from assay.errors import InputError
from assay.model.cases import Outcome


class Ratio(NamedTuple):
    """`needed` of `samples` must pass."""

    needed: int
    samples: int

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read "N/M" with 1 ≤ N ≤ M."""
        found = isinstance(text, str) and re.fullmatch(
            r"\s*(\d{1,9})\s*/\s*(\d{1,9})\s*", text, re.ASCII
        )
        ratio = cls(int(found[1]), int(found[2])) if found else None
        if ratio is None or not 1 <= ratio.needed <= ratio.samples:
            raise InputError(
                f"{text!r} is not a success ratio",
                advice="write N/M with 1 ≤ N ≤ M, for example 8/10",
            )
        return ratio

    def __str__(self) -> str:
        return f"{self.needed}/{self.samples}"

    def outcome(self, samples: Sequence[Outcome]) -> tuple[Outcome, str]:
        """Return the outcome of a case whose samples have all been taken, and why.

        An error is neither a pass nor a failure: if the ratio was missed only because of errors,
        nothing is known about the subject.
        """
        counts = Counter(samples)
        passed, errors = counts[Outcome.PASSED], counts[Outcome.ERROR]
        open_samples = counts[Outcome.UNVERIFIED]
        reason = f"{passed} of {len(samples)} samples passed, {self} needed"
        if passed >= self.needed:
            return Outcome.PASSED, reason
        if passed + open_samples + errors < self.needed:
            return Outcome.FAILED, reason
        if passed + open_samples < self.needed:
            return Outcome.ERROR, f"{reason}, {errors} ended in an error"
        return Outcome.UNVERIFIED, f"{reason}, {open_samples} could not be verified"
