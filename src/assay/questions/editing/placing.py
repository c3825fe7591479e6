"""Puts a new value into a text at its place, in ever more cautious ways, and touches no more."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from assay.questions.editing.scalars import Before, block_extent, double, json_text, offers
from assay.questions.editing.spots import ListSpot, MapSpot, PairSpot, ScalarSpot, Spot

_SIMPLE_KEY = re.compile(r"[A-Za-z_][\w-]*")


@dataclass(frozen=True)
class Place:
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


def replaced(place: Place, wanted: Any) -> Iterator[str]:
    """The text with another value in place of the one that is there."""
    spot = place.spot
    assert spot is not None
    start, end = spot.start, end_of(place, spot)
    if not isinstance(wanted, str):
        if isinstance(spot, MapSpot | ListSpot) and not spot.is_flow and place.pair:
            # A list in brackets goes on the line of its key, whatever the lines below had.
            start = place.pair.end + 1
            yield place.text[:start] + " " + _collection(wanted) + place.text[end:]
        yield place.text[:start] + _collection(wanted) + place.text[end:]
        return
    before = _before(place, place.text[start:end], place.style, end)
    is_empty = start == end
    for offer in _written(wanted, before, place):
        space = " " if is_empty and place.text[start - 1 : start] == ":" else ""
        yield place.text[:start] + space + offer + place.text[end:]


def _before(place: Place, raw: str, style: str, end: int) -> Before:
    return Before(
        style=style,
        raw=raw,
        value=raw if style == "" else None,
        column=place.key_column,
        newline=place.newline,
        in_flow=place.parent.is_flow,
        is_alone=not place.rest_of_line(end).strip(),
    )


def _written(wanted: Any, before: Before, place: Place) -> Iterator[str]:
    if not isinstance(wanted, str):
        yield _collection(wanted)
    elif place.is_json:
        yield from json_text(wanted, before, place.text)
    else:
        yield from offers(wanted, before)


def _collection(wanted: Any) -> str:
    """Texts in brackets or braces, which YAML and JSON write alike."""
    return json.dumps(wanted, ensure_ascii=False)


def end_of(place: Place, spot: Spot) -> int:
    """Where a value ends; a block ends before the break and the blank lines that follow it."""
    if isinstance(spot, ScalarSpot):
        if spot.style not in ("|", ">"):
            return spot.end
        raw = place.text[spot.start : spot.end]
        return spot.start + block_extent(raw, place.key_column)
    if isinstance(spot, MapSpot) and spot.pairs and not spot.is_flow:
        return end_of(place, spot.pairs[-1].value)
    if isinstance(spot, ListSpot) and spot.items and not spot.is_flow:
        return end_of(place, spot.items[-1])
    return spot.end


# --- Something new -----------------------------------------------------------------------------


def inserted(place: Place, wanted: Any) -> Iterator[str]:
    """The text with a new key at the end of its mapping."""
    if not isinstance(place.parent, MapSpot):
        return
    yield from (_into_flow if place.parent.is_flow else _into_block)(place, wanted)


def _into_block(place: Place, wanted: Any) -> Iterator[str]:
    last = place.parent.pairs[-1]  # type: ignore[union-attr] # a block mapping is never empty
    indent = " " * place.key_column
    ends = [end_of(place, last.value)]
    ends[0] += len(place.rest_of_line(ends[0]).rstrip("\r"))
    # After a block that keeps its blank lines, a key must come behind them.
    ends.append(last.value.end)
    for end in ends:
        at_start = place.text[:end].endswith("\n")
        opening, closing = ("", place.newline) if at_start else (place.newline, "")
        for value in _written(wanted, _new(place, last.value), place):
            line = f"{opening}{indent}{_key(place)}: {value}{closing}"
            yield place.text[:end] + line + place.text[end:]


def _into_flow(place: Place, wanted: Any) -> Iterator[str]:
    assert isinstance(place.parent, MapSpot)
    pairs = place.parent.pairs
    like = pairs[-1].value if pairs else Spot(0, 0)
    for value in _written(wanted, _new(place, like), place):
        new = f"{_key(place)}: {value}"
        if not pairs:
            start = place.parent.start + 1
            yield place.text[:start] + new + place.text[start:]
            continue
        end = pairs[-1].value.end
        before = pairs[-2].value.end if len(pairs) > 1 else place.parent.start + 1
        space = re.search(r"\s*$", place.text[before : pairs[-1].start])
        assert space is not None
        joint = "," + (space[0] or ("" if len(pairs) > 1 else " "))
        yield place.text[:end] + joint + new + place.text[end:]


def _new(place: Place, like: Spot) -> Before:
    """As its neighbour is written, if that is in quotes."""
    quote = like.style if isinstance(like, ScalarSpot) and like.style in ("'", '"') else ""
    return replace(_before(place, "", quote, 0), is_alone=True)


def _key(place: Place) -> str:
    key = str(place.step)
    if place.is_json:
        return json.dumps(key, ensure_ascii=False)
    assert isinstance(place.parent, MapSpot)
    quotes = {place.text[pair.start] for pair in place.parent.pairs} & {"'", '"'}
    return key if _SIMPLE_KEY.fullmatch(key) and not quotes else double(key)


# --- Something gone ----------------------------------------------------------------------------


def removed(place: Place) -> Iterator[str]:
    """The text without a key and its value."""
    if not isinstance(place.parent, MapSpot) or place.pair is None:
        return
    pairs, pair, text = place.parent.pairs, place.pair, place.text
    number = pairs.index(pair)
    end = end_of(place, pair.value)
    following = pairs[number + 1].start if number + 1 < len(pairs) else None
    if place.parent.is_flow:
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
