"""Offers: what an option puts forward as the answer."""

from __future__ import annotations

import re
from dataclasses import dataclass

from assay.questions.provers.introspection.reading.mentions import (
    Form,
    Mention,
    mentions,
    read_mention,
)

_NEGATION = re.compile(
    r"\b(?:no|not|never|none|nothing|without|instead|rather|unless|deprecated|removed|avoid|cannot"
    r"|neither|nor|longer|only if|\w+n['’]t)\b",
    re.IGNORECASE,
)
# Of two names only one need exist.
_CHOICE = re.compile(r"\b(?:either|or|alternatively)\b", re.IGNORECASE)
_OWN = re.compile(
    r"\b(?:custom|your|your own|own|my|a new|an? user-defined|some|any)\s*$", re.IGNORECASE
)


@dataclass(frozen=True)
class Offer:
    """An option as it was understood.

    `whole` is the piece of code that the option is, where it is one and nothing else. `is_negated`
    says that its words may turn what it mentions round, or leave a choice of it, so that nothing
    can be concluded from a name in it.
    """

    option: str
    text: str
    mentions: tuple[Mention, ...] = ()
    whole: Mention | None = None
    is_negated: bool = False

    @property
    def named(self) -> tuple[Mention, ...]:
        """What it says exists: what it is, or what its words mention."""
        if self.whole is not None:
            return (self.whole,)
        return () if self.is_negated else self.mentions


def read_offer(option: str, text: str) -> Offer:
    """Read one option."""
    plain = text.strip()
    whole = _whole(plain)
    if whole is not None:
        return Offer(option, plain, (whole,), whole)
    found = tuple(one for one in mentions(plain) if not _OWN.search(plain[: one.start]))
    prose = _without(plain, found)
    is_negated = _NEGATION.search(prose) or (len(found) > 1 and _CHOICE.search(prose))
    return Offer(option, plain, found, is_negated=bool(is_negated))


def _whole(text: str) -> Mention | None:
    """The one piece of code the option is, with or without backticks and a full stop."""
    block = re.fullmatch(r"```\w*\n(.*?)\n?```", text, re.DOTALL)
    if block:
        return read_mention(block[1])
    bare = text.rstrip(".;") if not text.endswith("...") else text
    fenced = re.fullmatch(r"(?:(?:the|an?)\s+)?`+([^`]+)`+(?:\(\))?", bare, re.IGNORECASE)
    if fenced:
        return read_mention(fenced[1])
    if "`" in text:
        return None
    found = read_mention(bare)
    return found if _is_plainly_code(found, bare) else None


def _is_plainly_code(found: Mention, text: str) -> bool:
    if found.form in (Form.CODE, Form.COMMAND):
        return False
    # `Agent name` does not parse; `Nothing` does, and so does any single word of prose.
    return found.form is not Form.NAME or " " not in text


def _without(text: str, found: tuple[Mention, ...]) -> str:
    """The words alone."""
    for one in reversed(found):
        text = f"{text[: one.start]} {text[one.end :]}"
    return text
