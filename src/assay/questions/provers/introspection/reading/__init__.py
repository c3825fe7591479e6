"""From words to structure: what a question asks, and what each of its options offers."""

from __future__ import annotations

from assay.questions.provers.introspection.reading.asked import Asked, Noun, Tie, read_asked
from assay.questions.provers.introspection.reading.mentions import Form, Mention, mentions
from assay.questions.provers.introspection.reading.offers import Offer, read_offer
from assay.questions.provers.introspection.reading.understanding import Reading, read_question

__all__ = [
    "Asked",
    "Form",
    "Mention",
    "Noun",
    "Offer",
    "Reading",
    "Tie",
    "mentions",
    "read_asked",
    "read_offer",
    "read_question",
]
