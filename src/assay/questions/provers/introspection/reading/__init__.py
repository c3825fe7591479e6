"""Parsing of a question: what it asks, and what each of its options offers."""

from __future__ import annotations

from assay.questions.provers.introspection.reading.mentions import CodeForm, Mention, mentions
from assay.questions.provers.introspection.reading.parsed_question import (
    ParsedOption,
    ParsedQuestion,
    parse_option,
    parse_question,
)
from assay.questions.provers.introspection.reading.stem_focus import (
    Noun,
    StemFocus,
    Tie,
    parse_focus,
)

__all__ = [
    "CodeForm",
    "Mention",
    "Noun",
    "ParsedOption",
    "ParsedQuestion",
    "StemFocus",
    "Tie",
    "mentions",
    "parse_focus",
    "parse_option",
    "parse_question",
]
