"""Puts a new value into a text at its place, in ever more cautious ways, and touches no more."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from assay.questions.correct.scalars import Before, block_extent, double, json_text, offers
from assay.questions.correct.spots import ListSpot, MapSpot, PairSpot, ScalarSpot, Spot

_SIMPLE_KEY = re.compile(r"[A-Za-z_][\w-]*")


@dataclass(frozen=True)
class Slot:
    """A key of a mapping, or a number of a list, in a text; what stands there may be nothing."""

    text: str
    is_json: bool
    parent: MapSpot | ListSpot
    step: str | int

    @cached_property
    def pair(self) -> PairSpot | None:
        return self.parent.find(str(self.step)) if isinstance(self.parent, MapSpot) else None

    @cached_property
    def spot(self) -> Spot | None:
        if isinstance(self.parent, ListSpot):
            return self.parent.items[int(self.step)]
        return self.pair.value if self.pair else None

    @property
    def style(self) -> str:
        return self.spot.style if isinstance(self.spot, ScalarSpot) else ""

    @property
    def newline(self) -> str:
        """The line end that is used here."""
        near = self.text.find("\n", self.parent.start)
        near = near if near >= 0 else self.text.rfind("\n")
        return "\r\n" if near > 0 and self.text[near - 1] == "\r" else "\n"

    def column(self, position: int) -> int:
        return position - (self.text.rfind("\n", 0, position) + 1)

    @property
    def key_column(self) -> int:
        """How deep the parent is, so that a block must be deeper."""
        if isinstance(self.parent, MapSpot) and self.parent.pairs:
            return self.column(self.parent.pairs[0].start)
        return max(0, self.column(self.parent.start) - 2)

    def rest_of_line(self, position: int) -> str:
        end = self.text.find("\n", position)
        return self.text[position : end if end >= 0 else len(self.text)]


def replaced(slot: Slot, wanted: Any) -> Iterator[str]:
    """The text with another value in place of the one that is there."""
    spot = slot.spot
    assert spot is not None
    start, end = spot.start, end_of(slot, spot)
    if not isinstance(wanted, str):
        if isinstance(spot, MapSpot | ListSpot) and not spot.is_flow and slot.pair:
            # A list in brackets goes on the line of its key, whatever the lines below had.
            start = slot.pair.end + 1
            yield slot.text[:start] + " " + _collection(wanted) + slot.text[end:]
        yield slot.text[:start] + _collection(wanted) + slot.text[end:]
        return
    before = _before(slot, slot.text[start:end], slot.style, end)
    is_empty = start == end
    for offer in _written(wanted, before, slot):
        space = " " if is_empty and slot.text[start - 1 : start] == ":" else ""
        yield slot.text[:start] + space + offer + slot.text[end:]


def _before(slot: Slot, raw: str, style: str, end: int) -> Before:
    return Before(
        style=style,
        raw=raw,
        value=raw if style == "" else None,
        column=slot.key_column,
        newline=slot.newline,
        in_flow=slot.parent.is_flow,
        is_alone=not slot.rest_of_line(end).strip(),
    )


def _written(wanted: Any, before: Before, slot: Slot) -> Iterator[str]:
    if not isinstance(wanted, str):
        yield _collection(wanted)
    elif slot.is_json:
        yield from json_text(wanted, before, slot.text)
    else:
        yield from offers(wanted, before)


def _collection(wanted: Any) -> str:
    """Texts in brackets or braces, which YAML and JSON write alike."""
    return json.dumps(wanted, ensure_ascii=False)


def end_of(slot: Slot, spot: Spot) -> int:
    """Where a value ends; a block ends before the break and the blank lines that follow it."""
    if isinstance(spot, ScalarSpot):
        if spot.style not in ("|", ">"):
            return spot.end
        raw = slot.text[spot.start : spot.end]
        return spot.start + block_extent(raw, slot.key_column)
    if isinstance(spot, MapSpot) and spot.pairs and not spot.is_flow:
        return end_of(slot, spot.pairs[-1].value)
    if isinstance(spot, ListSpot) and spot.items and not spot.is_flow:
        return end_of(slot, spot.items[-1])
    return spot.end


# --- Something new -----------------------------------------------------------------------------


def inserted(slot: Slot, wanted: Any) -> Iterator[str]:
    """The text with a new key at the end of its mapping."""
    if not isinstance(slot.parent, MapSpot):
        return
    yield from (_into_flow if slot.parent.is_flow else _into_block)(slot, wanted)


def _into_block(slot: Slot, wanted: Any) -> Iterator[str]:
    last = slot.parent.pairs[-1]  # type: ignore[union-attr] # a block mapping is never empty
    indent = " " * slot.key_column
    ends = [end_of(slot, last.value)]
    ends[0] += len(slot.rest_of_line(ends[0]).rstrip("\r"))
    # After a block that keeps its blank lines, a key must come behind them.
    ends.append(last.value.end)
    for end in ends:
        at_start = slot.text[:end].endswith("\n")
        opening, closing = ("", slot.newline) if at_start else (slot.newline, "")
        for value in _written(wanted, _new(slot, last.value), slot):
            line = f"{opening}{indent}{_key(slot)}: {value}{closing}"
            yield slot.text[:end] + line + slot.text[end:]


def _into_flow(slot: Slot, wanted: Any) -> Iterator[str]:
    assert isinstance(slot.parent, MapSpot)
    pairs = slot.parent.pairs
    like = pairs[-1].value if pairs else Spot(0, 0)
    for value in _written(wanted, _new(slot, like), slot):
        new = f"{_key(slot)}: {value}"
        if not pairs:
            start = slot.parent.start + 1
            yield slot.text[:start] + new + slot.text[start:]
            continue
        end = pairs[-1].value.end
        before = pairs[-2].value.end if len(pairs) > 1 else slot.parent.start + 1
        space = re.search(r"\s*$", slot.text[before : pairs[-1].start])
        assert space is not None
        joint = "," + (space[0] or ("" if len(pairs) > 1 else " "))
        yield slot.text[:end] + joint + new + slot.text[end:]


def _new(slot: Slot, like: Spot) -> Before:
    """As its neighbour is written, if that is in quotes."""
    quote = like.style if isinstance(like, ScalarSpot) and like.style in ("'", '"') else ""
    return replace(_before(slot, "", quote, 0), is_alone=True)


def _key(slot: Slot) -> str:
    key = str(slot.step)
    if slot.is_json:
        return json.dumps(key, ensure_ascii=False)
    assert isinstance(slot.parent, MapSpot)
    quotes = {slot.text[pair.start] for pair in slot.parent.pairs} & {"'", '"'}
    return key if _SIMPLE_KEY.fullmatch(key) and not quotes else double(key)


# --- Something gone ----------------------------------------------------------------------------


def removed(slot: Slot) -> Iterator[str]:
    """The text without a key and its value."""
    if not isinstance(slot.parent, MapSpot) or slot.pair is None:
        return
    pairs, pair, text = slot.parent.pairs, slot.pair, slot.text
    number = pairs.index(pair)
    end = end_of(slot, pair.value)
    following = pairs[number + 1].start if number + 1 < len(pairs) else None
    if slot.parent.is_flow:
        if number:
            yield text[: pairs[number - 1].value.end] + text[end:]
        elif following is not None:
            yield text[: pair.start] + text[following:]
        else:
            yield text[: pair.start] + text[end:]
        return
    line = text.rfind("\n", 0, pair.start) + 1
    if not text[line : pair.start].strip():
        next_line = text.find("\n", end)
        yield text[:line] + (text[next_line + 1 :] if next_line >= 0 else "")
    elif following is not None and not text[end:following].strip():
        yield text[: pair.start] + text[following:]
