"""Rule about keys that stand at one place too often to be chance."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence

from assay.findings import Finding
from assay.questions.lint_rules.rules import Linted, rule
from assay.questions.lint_rules.words import is_compound
from assay.questions.model import Question
from assay.questions.suite.suite import Suite

_ENOUGH = 20
_UNLIKELY = 0.01


@rule(
    "answer-position-bias",
    "warning",
    "The right answers favour a position",
    "Whoever always picks the letter that is keyed most does better than chance, and so do models "
    'that prefer it. Shuffle the options. Keys such as "None of the above" are not counted.',
)
def answer_position_bias(linted: Linted) -> Iterator[Finding]:
    for suite in linted.suites:
        letters, counts = _positions(suite)
        total = sum(counts.values())
        if total < _ENOUGH or len(letters) < 2:
            continue
        probability = chance([counts[letter] for letter in letters])
        if probability < _UNLIKELY:
            shown = ", ".join(f"{letter} {counts[letter]}" for letter in letters)
            yield Finding(
                "answer-position-bias",
                f"of {total} keys {shown}: chance would do that in {probability:.1g} of all suites",
                suite.places["benchmarks"],
                "shuffle the options of each question",
            )


def _positions(suite: Suite) -> tuple[tuple[str, ...], Counter[str]]:
    """How often each letter is keyed, in the questions with the most usual set of options.

    Options about other options have their fixed place and are left out, as are their keys.
    """
    groups: dict[tuple[str, ...], Counter[str]] = {}
    for entry in suite.entries:
        question, key = entry.question, entry.key
        if not isinstance(question, Question) or key is None:
            continue
        letters = tuple(one for one, text in question.options.items() if not is_compound(text))
        if key.answer in letters:
            groups.setdefault(letters, Counter())[key.answer] += 1
    return max(groups.items(), key=lambda group: group[1].total(), default=((), Counter()))


def chance(counts: Sequence[int]) -> float:
    """The probability of counts at least this uneven if each place were as likely (chi-square)."""
    expected = sum(counts) / len(counts)
    statistic = sum((count - expected) ** 2 / expected for count in counts)
    return _chi_square_tail(statistic, len(counts) - 1)


def _chi_square_tail(statistic: float, degrees: int) -> float:
    """P(X > statistic), by the recurrence that goes two degrees of freedom at a time."""
    half = statistic / 2
    if degrees % 2:
        tail, term, power = math.erfc(math.sqrt(half)), math.sqrt(half) / math.gamma(1.5), 1.5
    else:
        tail, term, power = 0.0, 1.0, 1.0
    factor = math.exp(-half)
    for _ in range(degrees // 2):
        tail += factor * term
        term *= half / power
        power += 1
    return tail
