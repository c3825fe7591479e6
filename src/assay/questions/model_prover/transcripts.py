"""Transcripts: the events of a question's agents, kept in the folder of its run."""

from __future__ import annotations

import json
import textwrap
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from assay.documents import LARGEST_RECORD, has_too_many_parts, open_regular
from assay.errors import InputError
from assay.escaping import escape_hidden
from assay.questions.proofs.store import slug
from assay.runs import run_folders

FOLDER = "transcripts"
_INDENT = "    "
_SHOWN = 8_000


@dataclass
class Transcript:
    """The events of one question; without a path they are not stored.

    Every event is written when it happens, so an interrupted question has a transcript too.
    """

    path: Path | None = None
    _told: set[str] = field(default_factory=set)

    def add(self, kind: str, agent: str, **fields: Any) -> None:
        """Append one event."""
        if self.path is None:
            return
        event = {"time": round(time.time(), 3), "agent": agent, "kind": kind, **fields}
        line = json.dumps(event, ensure_ascii=False, default=str)
        if len(line) > LARGEST_RECORD // 4:
            # A character takes up to four bytes, and a longer line could not be read again.
            cut = {name: f"{str(value)[:_SHOWN]}…" for name, value in fields.items()}
            line = json.dumps(event | cut, ensure_ascii=False)
        # Half a pair of surrogates, which only an escape can write.
        with self.path.open("a", encoding="utf-8", errors="backslashreplace") as file:
            file.write(f"{line}\n")

    def instruct(self, agent: str, instruction: str) -> None:
        """Record the instruction of an agent, once."""
        if agent not in self._told:
            self._told.add(agent)
            self.add("instruction", agent, text=instruction)


def transcript_of(folder: Path | None, identifier: str) -> Transcript:
    """Return a new transcript of a question in the folder of a run."""
    if folder is None:
        return Transcript()
    path = transcript_path(folder, identifier)
    path.parent.mkdir(exist_ok=True)
    if path.parent.is_symlink():
        raise InputError("is a symbolic link", where=str(path.parent), advice="remove it")
    path.unlink(missing_ok=True)
    return Transcript(path)


def transcript_path(folder: Path, identifier: str) -> Path:
    return folder / FOLDER / f"{slug(identifier)}.jsonl"


def latest_transcript(runs: Path, identifier: str) -> Path:
    """Return the newest transcript of a question among the runs; an InputError if there is none."""
    for folder in reversed(run_folders(runs)):
        path = transcript_path(folder, identifier)
        if path.is_file():
            return path
    raise InputError(
        "no run has a transcript of this question",
        where=identifier,
        advice="make one with: assay questions verify SUITE --model NAME",
    )


def transcript_lines(path: Path) -> Iterator[str]:
    """Yield a transcript in readable form."""
    started: float | None = None
    with open_regular(path) as file:
        while line := file.readline(LARGEST_RECORD + 1):
            try:
                if len(line) > LARGEST_RECORD or has_too_many_parts(line):
                    raise ValueError
                event = json.loads(line)
                started = event["time"] if started is None else started
                shown = list(_event_lines(event, event["time"] - started))
            except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
                what = f"the line at byte {file.tell() - len(line)} is not one Assay wrote"
                raise InputError(what, where=str(path)) from None
            yield from shown


def _event_lines(event: dict[str, Any], seconds: float) -> Iterator[str]:
    head = f"{seconds:8.1f} s  {event['agent']}  {event['kind']}"
    yield escape_hidden(f"{head}{_facts(event)}")
    for name in ("text", "value"):
        if event.get(name) not in (None, ""):
            yield from _indent(event[name])


def _facts(event: dict[str, Any]) -> str:
    told = []
    if "name" in event:
        told.append(str(event["name"]))
    if "tokens" in event:
        told.append("from the cache" if event.get("cached") else f"{event['tokens']} tokens")
    if event.get("seconds"):
        told.append(f"{event['seconds']:.1f} s")
    return f"  ({', '.join(told)})" if told else ""


def _indent(value: Any) -> Iterator[str]:
    text = value if isinstance(value, str) else json.dumps(value, indent=2, ensure_ascii=False)
    shown = text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
    yield textwrap.indent(escape_hidden(shown), _INDENT, lambda line: True)
