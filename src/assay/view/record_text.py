"""What a packed record says, for search and filters: its texts, its group and its labels."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator
from typing import Any

from assay.reports import one_line

MOST_TEXT = 20_000
"""Characters of one case that are searched; the rest of a longer one is not."""
LONGEST_NAME = 120
"""Characters of a group, a code or a label that can be chosen as a filter."""

# The short texts at the top level of `detail` that say what kind of case it is.
_LABELS = ("checkpoint", "type", "verdict", "grounds", "author", "connection", "agent", "ratio")
_LABEL_LISTS = ("labels", "tags")


def fold(text: str) -> str:
    """Return a text in the form in which texts are compared: no case, composed characters."""
    if text.isascii():
        return text.lower()
    folded = unicodedata.normalize("NFC", text).casefold()
    # sqlite takes neither lone surrogates nor, within a text, a zero.
    return folded.encode("utf-8", "replace").decode().replace("\0", " ")


def gather_text(
    record: dict[str, Any], conversations: Iterable[Any] = (), most: int = MOST_TEXT
) -> tuple[str, bool]:
    """Return the folded texts of a case, one per line, and whether some had to be left out."""
    lines: dict[str, None] = {}
    length = 0
    for text in _texts(record, conversations):
        if length >= most:
            return "\n".join(lines), True
        line = fold(text[: most - length]).replace("\0", " ")
        if line and line not in lines:
            lines[line] = None
            length += len(line) + 1
        if len(text) > most:
            return "\n".join(lines), True
    return "\n".join(lines), False


def _texts(record: dict[str, Any], conversations: Iterable[Any]) -> Iterator[str]:
    yield record["id"]
    yield record["reason"]
    yield record["code"]
    for report in record["reports"]:
        yield report["error"] or ""
        yield from _walk(report["case"])
    for conversation in conversations:
        yield from _walk(conversation)
    yield from _walk(record["detail"])
    for report in record["reports"]:
        for name, result in report["results"].items():
            if result is not None:
                yield name
                yield from _walk(_values(result))


def _values(result: Any) -> Any:
    """Return the values of a packed result that are not its judgement."""
    if isinstance(result, dict):
        return [result["actual"], result["expected"], result["diff"]]
    return result


def _walk(value: Any) -> Iterator[str]:
    """Yield every text and number in a value, in order."""
    rest = [value]
    while rest:
        one = rest.pop()
        if isinstance(one, str):
            yield one
        elif isinstance(one, bytes):
            yield one.decode("utf-8", "replace")
        elif isinstance(one, dict):
            rest.extend(reversed(one.values()))
        elif isinstance(one, list):
            rest.extend(reversed(one))
        elif isinstance(one, int | float) and not isinstance(one, bool):
            yield f"{one}"


def find_group(record: dict[str, Any]) -> str:
    """Return the group of a case: that of its first report, if it can be shown as it is."""
    reports = record["reports"]
    return _name(reports[0]["group"]) if reports else ""


def find_labels(record: dict[str, Any]) -> list[str]:
    """Return what kind of case it is: short texts of its detail, and its own labels."""
    reports, detail = record["reports"], record["detail"]
    about = detail if isinstance(detail, dict) else {}
    case = reports[0]["case"] if reports else {}
    found = [f"{name}: {about[name]}" for name in _LABELS if isinstance(about.get(name), str)]
    if reports and "type" not in about:
        found.append(f"type: {reports[0]['type']}")
    for name in _LABEL_LISTS:
        found += _own_labels(case.get(name) or about.get(name))
    return list(dict.fromkeys(filter(None, map(_name, found))))


def _own_labels(value: Any) -> Iterable[str]:
    several = value if isinstance(value, list) else [value]
    return (one for one in several if isinstance(one, str))


def _name(text: str) -> str:
    """Return a name that can be shown and asked for as it is, else an empty one."""
    return text if one_line(text, LONGEST_NAME) == text else ""
