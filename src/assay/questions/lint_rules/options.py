"""Rules for the options of a question and its key."""

from __future__ import annotations

import string
from collections.abc import Iterator, Mapping

from assay.findings import Finding
from assay.questions.lint_rules.context import Linted, is_none_of_them, normalise, rule

_USUAL_SHARE = 0.8
_ENOUGH = 5


@rule(
    "key-not-an-option",
    "error",
    "The key is not among the options",
    "The question cannot be answered as keyed. Correct `correct_answer`, or add the option.",
)
def key_not_an_option(linted: Linted) -> Iterator[Finding]:
    for _, entry, question in linted.questions():
        if entry.key is not None and entry.key.answer not in question.options:
            yield Finding(
                "key-not-an-option",
                f"the key {entry.key.answer!r} is not among the options "
                f"({', '.join(question.options) or 'there are none'})",
                entry.place("correct_answer"),
                "name the letter of one of the options",
                entry.id,
            )


@rule(
    "missing-option",
    "error",
    "An option is missing or empty",
    "A question needs at least two options; their letters follow each other and each has a text.",
)
def missing_option(linted: Linted) -> Iterator[Finding]:
    for _, entry, question in linted.questions():
        for letter, text in question.options.items():
            if not text.strip():
                message = f"option {letter} is empty"
                advice = "write it, or remove the letter"
                place = entry.place(f"options.{letter}")
                yield Finding("missing-option", message, place, advice, entry.id)
        if what := _gap(question.options):
            advice = "add it, or let the letters follow each other"
            yield Finding("missing-option", what, entry.place("options"), advice, entry.id)


def _gap(options: Mapping[str, str]) -> str:
    """Return what is missing among the letters A, B, C …; other letters are not checked."""
    if len(options) < 2:
        return "there is only one option" if options else "there are no options"
    letters = string.ascii_uppercase
    if not all(len(letter) == 1 and letter in letters for letter in options):
        return ""
    missing = [letter for letter in letters[: letters.index(max(options))] if letter not in options]
    return f"option {', '.join(missing)} is missing" if missing else ""


@rule(
    "doubled-option",
    "error",
    "Two options say the same",
    "If one of them is right the other is too, and if it is not, there is one distractor less.",
)
def find_doubled_options(linted: Linted) -> Iterator[Finding]:
    for _, entry, question in linted.questions():
        seen: dict[str, str] = {}
        for letter, text in question.options.items():
            said = normalise(text)
            if said and said in seen:
                yield Finding(
                    "doubled-option",
                    f"options {seen[said]} and {letter} say the same: {text.strip()}",
                    entry.place(f"options.{letter}"),
                    "change or remove one of them",
                    entry.id,
                )
            seen.setdefault(said, letter)


@rule(
    "none-missing",
    "warning",
    'An option "None of the above" is missing',
    "Nearly all questions of the suite have this option. Where it is missing the reader knows that "
    "one of the others is right.",
)
def none_missing(linted: Linted) -> Iterator[Finding]:
    for suite in linted.suites:
        asked = [(entry, one) for of, entry, one in linted.questions() if of is suite]
        without = [
            (entry, one)
            for entry, one in asked
            if not any(is_none_of_them(text) for text in one.options.values())
        ]
        having = len(asked) - len(without)
        if len(asked) < _ENOUGH or having < _USUAL_SHARE * len(asked):
            continue
        for entry, _ in without:
            yield Finding(
                "none-missing",
                f'"None of the above" is missing; {having} of {len(asked)} questions have it',
                entry.place("options"),
                "add it as the last option",
                entry.id,
            )
