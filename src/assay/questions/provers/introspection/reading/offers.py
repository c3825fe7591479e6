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
_OWN_KIND = re.compile(
    r"\s*\(or (?:an? |your )?(?:custom|own) [a-z]+ (?:inheriting|derived|subclassing|extending)"
    r"(?: from)? (?:the )?`?(\w+)`?\)\s*\.?$",
    re.IGNORECASE,
)
_ITEM = re.compile(r"(?:^|[,;]\s*|\s)\(?(?:\d|[ivx]{1,3})[).:]\s+")


@dataclass(frozen=True)
class Offer:
    """An option as it was understood.

    `whole` is the piece of code that the option is, where it is one and nothing else. `items` are
    the pieces of an enumeration ("1) `a`, 2) `b`"). `is_negated` says that its words may turn what
    it mentions round, or leave a choice of it, so that nothing can be concluded from a name in it.
    """

    option: str
    text: str
    mentions: tuple[Mention, ...] = ()
    whole: Mention | None = None
    items: tuple[Mention, ...] = ()
    is_negated: bool = False

    @property
    def named(self) -> tuple[Mention, ...]:
        """What it says exists: what it is, its items, or what its words mention."""
        if self.whole is not None:
            return (self.whole,)
        if self.items:
            return self.items
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
    return Offer(option, plain, found, items=_items(plain, found), is_negated=bool(is_negated))


def without_own_kind(offer: Offer) -> tuple[Offer, str] | None:
    """The option before "(or a custom one inheriting from `Base`)", and the name of that base."""
    found = _OWN_KIND.search(offer.text)
    return (read_offer(offer.option, offer.text[: found.start()]), found[1]) if found else None


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


def _items(text: str, found: tuple[Mention, ...]) -> tuple[Mention, ...]:
    starts = [one.end() for one in _ITEM.finditer(text)]
    if len(starts) < 2:
        return ()
    items = []
    for start, end in zip(starts, [*starts[1:], len(text)], strict=True):
        inside = [one for one in found if start <= one.start < end]
        if len(inside) != 1:
            return ()
        items.append(inside[0])
    return tuple(items)


def _without(text: str, found: tuple[Mention, ...]) -> str:
    """The words alone."""
    for one in reversed(found):
        text = f"{text[: one.start]} {text[one.end :]}"
    return text
