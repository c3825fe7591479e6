"""Reads HOCON and adds what its parser lacks: positions, repeated keys and missing includes."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from assay.documents.files import MEGABYTE, UnreadableFileError, read_text
from assay.documents.hocon_limits import (
    LARGEST_VALUE,
    Growth,
    LongTexts,
    UnfitTextError,
    resolves_in_time,
    size_without_long_texts,
)
from assay.documents.hocon_outline import (
    ArrayOutline,
    FieldOutline,
    Include,
    ObjectOutline,
    Part,
    Substitution,
    ValueOutline,
    outline,
)
from assay.documents.tree import (
    UNREADABLE,
    KeyPath,
    Mistake,
    Node,
    Place,
    PlaceMap,
    repeat_mistake,
    to_node,
)

LARGEST_HOCON = 8 * MEGABYTE
"""A file and all it includes, with their long texts."""
MOST_TEXT = MEGABYTE
"""A file and all it includes, without long texts in quotes."""
MOST_INCLUDES = 100
_EXTENSIONS = (".properties", ".json", ".conf", ".hocon")
_STRAY_ADVICE = "remove it; the parser would read nothing that follows"
_SPECIFICATION = re.compile(r"\s*\((?:HOCON\.md|S\d|E\d)[^)]*\)")


class HoconError(Exception):
    """A file that is not valid HOCON, and why."""

    def __init__(self, *mistakes: Mistake) -> None:
        super().__init__(mistakes[0].message)
        self.mistakes = list(mistakes)


@dataclass(frozen=True)
class HoconFile:
    """The content of a HOCON file and all its includes, and how it is written."""

    node: Node
    places: PlaceMap
    mistakes: list[Mistake]
    environment: Mapping[str, str]
    """The variables of the environment that were substituted."""
    referred: frozenset[str]
    """The first keys of the paths that are substituted somewhere."""


def read_hocon(path: Path) -> HoconFile:
    """Return the content of a HOCON file and its includes, or raise a HoconError."""
    environment = _Environment()
    try:
        _check_growth(_Files(path), environment)
        files = _Files(path)
        value = _parse(files, environment)
        survey = _Survey(files)
        survey.walk(path)
        node = to_node(value, 1, {path: place.line for path, place in survey.places.items()})
    except RecursionError:
        raise HoconError(_unreadable("is nested too deeply", Place(path, 1))) from None
    return HoconFile(
        node,
        PlaceMap.of(survey.places),
        survey.mistakes,
        environment.used,
        frozenset(survey.referred),
    )


def _check_growth(files: _Files, environment: _Environment) -> None:
    """Refuse a file whose substitutions would become too large, before resolving them."""
    import hocon

    text = files.read_first()
    if "${" not in text and "include" not in text:
        return
    folder = str(files.path.absolute().parent)
    try:
        hocon.parse(
            text, base_dir=folder, env={}, read_file=files.read, resolve_substitutions=False
        )
    except (hocon.ParseError, hocon.ResolveError, hocon.ConfigError):
        # The parser reports it with its position.
        return
    survey = _Survey(files)
    survey.walk(files.path)
    for name in survey.referred & set(environment):
        survey.growth.add(name, len(os.environ[name]))
    if survey.growth.is_harmless():
        return
    if not resolves_in_time(text, folder, files.given, environment):
        what = f"its substitutions come to more than {LARGEST_VALUE:,} characters, or take too long"
        raise HoconError(_unreadable(what, Place(files.path, 1)))


def _parse(files: _Files, environment: _Environment) -> Any:
    import hocon

    text = files.read_first()
    try:
        parsed = hocon.parse(
            text,
            base_dir=str(files.path.absolute().parent),
            env=environment,
            read_file=files.read,
        )
        return files.long.put_back(parsed.to_object())
    except UnfitTextError as error:
        raise HoconError(_unreadable(error.what, Place(files.path, 1))) from None
    except hocon.ParseError as error:
        # The text that was read last is the one that is being parsed.
        place = Place(files.last, max(error.line, 1))
        advice = "look at the quotes, the brackets and the commas around this line"
        raise HoconError(_unreadable(_message(error), place, advice)) from None
    except hocon.ResolveError as error:
        _refuse_unresolved(files, error)
    except hocon.ConfigError:
        place = Place(files.path, 1)
        raise HoconError(_unreadable("a test file is an object", place)) from None


def _refuse_unresolved(files: _Files, error: Any) -> NoReturn:
    """Explain why substitutions or includes cannot be resolved, the likeliest cause first."""
    survey = _Survey(files)
    survey.walk(files.path)
    if missing := [one for one in survey.mistakes if one.code == "missing-include"]:
        raise HoconError(*missing) from None
    place = survey.substituted.get((error.path, error.line)) or _find_include(survey, error)
    advice = (
        "define it in the file or in the environment, or write ${?…} if it may be absent"
        if "could not resolve" in str(error)
        else ""
    )
    raise HoconError(_unreadable(_message(error), place, advice)) from None


def _find_include(survey: _Survey, error: Any) -> Place:
    same_line = (place for (_, line), place in survey.substituted.items() if line == error.line)
    return next(same_line, Place(survey.files.path, max(error.line, 1)))


def _message(error: Exception) -> str:
    """Return the parser's message without its references to sections of the specification."""
    text = _SPECIFICATION.sub("", str(error))
    return f"is not valid HOCON: {text[:1].lower()}{text[1:]}"


def _unreadable(message: str, place: Place, advice: str = "") -> Mistake:
    return Mistake(message, place, advice, UNREADABLE)


class _Environment(dict[str, str]):
    """The environment, recording which variables are looked up."""

    def __init__(self) -> None:
        super().__init__(
            (name, value) for name, value in os.environ.items() if _is_text(name + value)
        )
        self.used: dict[str, str] = {}

    def get(self, name: str, default: Any = None) -> Any:
        return self[name] if name in self else default  # noqa: SIM401 - this is `get`

    def __getitem__(self, name: str) -> str:
        self.used[name] = super().__getitem__(name)
        return self.used[name]


def _is_text(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


# --- The texts of a file and its includes ------------------------------------------------------


class _Files:
    """The texts read for one file, by path."""

    def __init__(self, path: Path) -> None:
        self.path = self.last = path
        self.texts: dict[Path, str] = {}
        self.long = LongTexts()
        # What the parser was given, by the names that it asked for.
        self.given: dict[str, str] = {}
        self._left = MOST_TEXT
        self._left_with_long_texts = LARGEST_HOCON
        self._reads = 0

    def read_first(self) -> str:
        try:
            return self._take(self.path, self.path)
        except FileNotFoundError:
            message = "cannot be read: there is no such file"
            raise HoconError(_unreadable(message, Place(self.path, 1))) from None

    def read(self, wanted: str) -> str:
        """Return the included text; unlike the parser, this supports the extension .hocon."""
        path = Path(wanted)
        if path.suffix == ".conf" and not path.exists():
            bare = path.with_suffix("")
            path = bare if bare.suffix == ".hocon" else bare.with_name(f"{bare.name}.hocon")
        self.given[wanted] = self._take(_shorten_path(path), path)
        return self.given[wanted]

    def _take(self, name: Path, path: Path) -> str:
        self.last = name
        try:
            text = read_text(path, LARGEST_HOCON, keep_mark=True).removeprefix("\ufeff")
        except FileNotFoundError:
            raise
        except UnreadableFileError as error:
            mistake = _unreadable(error.what, Place(name, error.line), error.advice or "")
            raise HoconError(mistake) from None
        except OSError as error:
            mistake = _unreadable(f"cannot be read: {error.strerror}", Place(name, 1))
            raise HoconError(mistake) from None
        short = self._shorten(text, name)
        # Short, with the lines as they were: an outline needs no more.
        self.texts[path.absolute()] = short
        return short

    def _shorten(self, text: str, name: Path) -> str:
        try:
            short = self.long.take_out(text)
        except UnfitTextError as error:
            line = text.count("\n", 0, error.position) + 1
            mistake = _unreadable(f"is not valid HOCON: {error.what}", Place(name, line))
            raise HoconError(mistake) from None
        self._reads += 1
        self._left -= size_without_long_texts(short)
        self._left_with_long_texts -= len(text)
        if self._left_with_long_texts < 0:
            what = f"is larger than {LARGEST_HOCON:,} characters with all it includes"
        elif self._left < 0:
            what = f"is larger than {MOST_TEXT:,} characters with all it includes"
        elif self._reads > MOST_INCLUDES + 1:
            what = f"includes more than {MOST_INCLUDES} files"
        else:
            return short
        raise HoconError(_unreadable(what, Place(self.path, 1)))

    def find_included(self, including: Path, include: Include) -> list[Path]:
        """Return the files of an include; none if it is missing."""
        base = Path() if include.qualifier == "file" else including.parent
        path = Path(os.path.abspath(base / include.name))  # noqa: PTH100 - as the parser does it
        candidates = [path, *(path.with_name(path.name + end) for end in _EXTENSIONS)]
        return [one for one in candidates if one in self.texts]


def _shorten_path(path: Path) -> Path:
    """Return a path relative to the current directory, if it is below it."""
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path


# --- Where everything stands -------------------------------------------------------------------


class _Survey:
    """Facts from the outlines of a file and its includes, in the order in which values are set."""

    def __init__(self, files: _Files) -> None:
        self.files = files
        self.places: dict[KeyPath, Place] = {}
        self.mistakes: list[Mistake] = []
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
        self.mistakes += [
            _unreadable("a brace closes what was never opened", Place(file, line), _STRAY_ADVICE)
            for line in root.strays[:1]
        ]
        self.mistakes += _find_repeated(root, file)
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
        brought = self.files.find_included(including, include)
        for file in brought:
            self.walk(_shorten_path(file), at)
        if not brought:
            place = Place(including, include.line)
            message = f"there is no file to include as {include.name!r}"
            advice = (
                "its path starts in the folder of the file that includes it; "
                'include file("…") starts in the current folder'
            )
            self.mistakes.append(Mistake(message, place, advice, "missing-include"))


def _top(path: KeyPath) -> str:
    return str(path[0]) if path else ""


# --- Keys that stand twice ---------------------------------------------------------------------


def _find_repeated(root: ObjectOutline, file: Path) -> Iterator[Mistake]:
    """Yield a mistake for every key whose earlier value is lost because it is repeated."""
    # By path, the number and line of the first field there, and of the first there or below.
    seen: dict[tuple[str, ...], tuple[int, int]] = {}
    below: dict[tuple[str, ...], tuple[int, int]] = {}
    for number, (path, one) in enumerate(_leaves(root, ())):
        # Two cannot both have a value if one is the other or lies within it.
        above = [path[:depth] for depth in range(len(path) + 1)]
        overlapping = [seen[each] for each in above if each in seen]
        overlapping += [below[path]] if path in below else []
        if overlapping and not _keeps_earlier(one, path):
            yield repeat_mistake(".".join(path), min(overlapping)[1], Place(file, one.line))
        seen.setdefault(path, (number, one.line))
        for each in above:
            below.setdefault(each, (number, one.line))
    for value in _values(root):
        for inner in _within_arrays(value):
            yield from _find_repeated(inner, file)


def _within_arrays(value: ValueOutline) -> Iterator[ObjectOutline]:
    """Yield the objects that are elements of arrays; each is independent."""
    for part in value.parts:
        if isinstance(part, ArrayOutline):
            for item in part.items:
                yield from (inner for inner in item.parts if isinstance(inner, ObjectOutline))
                yield from _within_arrays(item)


def _leaves(
    found: ObjectOutline, at: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], FieldOutline]]:
    """Yield every field whose value is not an object; HOCON merges objects of one key."""
    for one in found.fields:
        if isinstance(one, Include):
            continue
        path = (*at, *one.keys)
        objects = [part for part in one.value.parts if isinstance(part, ObjectOutline)]
        if not objects:
            yield path, one
        for part in objects:
            yield from _leaves(part, path)


def _keeps_earlier(one: FieldOutline, path: tuple[str, ...]) -> bool:
    """Return whether the earlier value is extended, or is a default."""
    name = ".".join(path)
    parts = [part for part in one.value.parts if not isinstance(part, str) or part.strip()]
    refers = any(isinstance(part, Substitution) and part.path == name for part in parts)
    return one.appends or refers or _is_optional(parts)


def _is_optional(parts: list[Part]) -> bool:
    return len(parts) == 1 and isinstance(parts[0], Substitution) and parts[0].is_optional


def _values(found: ObjectOutline) -> Iterator[ValueOutline]:
    """Yield all values of an object and of the objects directly below it."""
    for one in found.fields:
        if isinstance(one, FieldOutline):
            yield one.value
            for part in one.value.parts:
                if isinstance(part, ObjectOutline):
                    yield from _values(part)
