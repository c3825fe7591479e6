"""What the outlines of a HOCON file and its includes tell: places, missing files, substitutions."""

from __future__ import annotations

from pathlib import Path

from assay.agents.files.expansion import Growth
from assay.agents.files.included import Files, near
from assay.agents.files.outline import (
    ArrayOutline,
    Include,
    ObjectOutline,
    Substitution,
    ValueOutline,
    outline,
)
from assay.agents.files.repetitions import repeated_keys
from assay.agents.files.rules import unreadable
from assay.documents import KeyPath, Place
from assay.findings import Finding

_STRAY_ADVICE = "remove it; the parser would read nothing that follows"


class Survey:
    """Walks the outlines of a file and its includes, in the order in which values are set."""

    def __init__(self, files: Files) -> None:
        self.files = files
        self.places: dict[KeyPath, Place] = {}
        self.problems: list[Finding] = []
        self.referred: set[str] = set()
        self.substituted: dict[tuple[str, int], Place] = {}
        self.growth = Growth()
        self._open: list[Path] = []
        # Where the files that are open were included: their substitutions may mean keys there.
        self._prefixes: list[KeyPath] = []

    def walk(self, file: Path, at: KeyPath = ()) -> None:
        text = self.files.texts.get(file.absolute())
        if text is None or file.suffix == ".properties" or file in self._open:
            return
        self._open.append(file)
        self._prefixes.append(at)
        self.places.setdefault(at, Place(file, 1))
        root = outline(text)
        self._object(root, at)
        self.problems += [
            unreadable("a brace closes what was never opened", Place(file, line), _STRAY_ADVICE)
            for line in root.strays[:1]
        ]
        self.problems += repeated_keys(root, file)
        self._open.pop()
        self._prefixes.pop()

    def _object(self, found: ObjectOutline, at: KeyPath) -> None:
        for one in found.fields:
            if isinstance(one, Include):
                self._include(one, at)
                continue
            for depth in range(1, len(one.keys) + 1):
                self.places[(*at, *one.keys[:depth])] = Place(self._open[-1], one.line)
            self.growth.add(_top((*at, *one.keys)), sum(map(len, one.keys)) + len(one.keys))
            self._value(one.value, (*at, *one.keys))

    def _value(self, value: ValueOutline, at: KeyPath) -> None:
        count = 0
        for part in value.parts:
            self.growth.add(_top(at), len(part) if isinstance(part, str) else 1)
            if isinstance(part, ObjectOutline):
                self._object(part, at)
            elif isinstance(part, ArrayOutline):
                for item in part.items:
                    self.places[(*at, count)] = Place(self._open[-1], item.line)
                    self._value(item, (*at, count))
                    count += 1
            elif isinstance(part, Substitution):
                first = part.path.partition(".")[0].strip('" ')
                self.referred.add(first)
                for other in {first, *(_top(prefix) for prefix in self._prefixes if prefix)}:
                    self.growth.refer(_top(at), other)
                place = Place(self._open[-1], part.line)
                self.substituted.setdefault((part.path, part.line), place)

    def _include(self, include: Include, at: KeyPath) -> None:
        including = self._open[-1]
        if include.qualifier == "package":
            return
        brought = self.files.included_by(including, include)
        for file in brought:
            self.walk(near(file), at)
        if not brought:
            place = Place(including, include.line)
            message = f"there is no file to include as {include.name!r}"
            advice = (
                "its path starts in the folder of the file that includes it; "
                'include file("…") starts in the current folder'
            )
            self.problems.append(Finding("missing-include", message, place, advice))


def _top(path: KeyPath) -> str:
    return str(path[0]) if path else ""
