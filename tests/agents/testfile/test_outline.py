"""The lines that the scan gives are those on which the keys stand."""

from __future__ import annotations

import json
from typing import Any

import hocon
from hypothesis import given
from hypothesis import strategies as st

from assay.documents.hocon_outline import ArrayOutline, FieldOutline, ObjectOutline, outline

KEYS = st.text(st.characters(codec="utf-8", exclude_categories=["Cs", "Cc", "Z"]), min_size=1)
SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(-1000, 1000), st.text(st.characters(codec="ascii"))
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=15,
)
SPACE = st.sampled_from([" ", "\n", ' # a comment { "\n', "\n\n// another [ ] :\n", ""])


class Writer:
    """Writes a value as HOCON with comments and line breaks anywhere, and notes the lines."""

    def __init__(self, draw: Any) -> None:
        self.draw = draw
        self.text = ""
        self.lines: dict[tuple[str | int, ...], int] = {}

    def write(self, value: Any, path: tuple[str | int, ...]) -> None:
        if isinstance(value, dict):
            self.text += "{" + self.draw(SPACE)
            for key, inner in value.items():
                self.lines[(*path, key)] = self.text.count("\n") + 1
                self.text += json.dumps(key, ensure_ascii=False) + self.draw(SPACE) + ":"
                self.text += self.draw(SPACE)
                self.write(inner, (*path, key))
                self.text += self.draw(SPACE) + self.draw(st.sampled_from([",", "\n"]))
            self.text += "}"
        elif isinstance(value, list):
            self.text += "["
            for index, inner in enumerate(value):
                self.text += self.draw(SPACE)
                self.lines[(*path, index)] = self.text.count("\n") + 1
                self.write(inner, (*path, index))
                self.text += self.draw(SPACE) + self.draw(st.sampled_from([",", "\n"]))
            self.text += "]"
        elif isinstance(value, str) and "\n" in value and '"' not in value:
            self.text += f'"""{value}"""'
        else:
            self.text += json.dumps(value)


def lines(found: ObjectOutline, path: tuple[str | int, ...] = ()) -> dict[Any, int]:
    told: dict[Any, int] = {}
    for one in found.fields:
        assert isinstance(one, FieldOutline)
        told[(*path, *one.keys)] = one.line
        told |= within(one.value.parts, (*path, *one.keys))
    return told


def within(parts: list[Any], path: tuple[str | int, ...]) -> dict[Any, int]:
    told: dict[Any, int] = {}
    for part in parts:
        if isinstance(part, ObjectOutline):
            told |= lines(part, path)
        elif isinstance(part, ArrayOutline):
            for index, item in enumerate(part.items):
                told[(*path, index)] = item.line
                told |= within(item.parts, (*path, index))
    return told


@given(st.data(), st.dictionaries(KEYS, VALUES, max_size=4))
def test_every_key_and_element_has_its_line(data: st.DataObject, value: dict[str, Any]) -> None:
    writer = Writer(data.draw)
    writer.write(value, ())
    assert hocon.parse(writer.text).to_object() == value
    assert lines(outline(writer.text)) == writer.lines


def test_the_spellings_of_hocon() -> None:
    text = '''
a.b."c.d" = 1
e { f : g h, "i" = [ 1
  2 ] }
j += 3
k : x${?y}"z" """ " ] """" // end
l
{ m : 1 }
http : "a://b", n : c#d
'''
    assert {path: line for path, line in lines(outline(text)).items() if 0 not in path} == {
        ("a", "b", "c.d"): 2,
        ("e",): 3,
        ("e", "f"): 3,
        ("e", "i"): 3,
        ("e", "i", 1): 4,
        ("j",): 5,
        ("k",): 6,
        ("l",): 7,
        ("l", "m"): 8,
        ("http",): 9,
        ("n",): 9,
    }


@given(st.text(st.sampled_from('{}[]:=+,"$#/ \n.abc\\')))
def test_the_scan_ends_for_any_text(text: str) -> None:
    assert outline(text).line == 1
