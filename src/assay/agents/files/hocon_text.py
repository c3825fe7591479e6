"""Reads HOCON, and what its parser leaves out: places, repeated keys, includes that are missing."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any, NoReturn

from assay.agents.files.expansion import LARGEST_VALUE, UnfitTextError, resolves_in_time
from assay.agents.files.included import Files
from assay.agents.files.rules import FileProblems, unreadable
from assay.agents.files.source import Source
from assay.agents.files.survey import Survey
from assay.documents import Place

_SPECIFICATION = re.compile(r"\s*\((?:HOCON\.md|S\d|E\d)[^)]*\)")


def read_hocon(path: Path) -> Source:
    """The source of a HOCON file and all it includes."""
    environment = _Environment()
    try:
        _check_growth(Files(path), environment)
        files = Files(path)
        value = _parsed(files, environment)
        survey = Survey(files)
        survey.walk(path)
    except RecursionError:
        raise FileProblems(unreadable("is nested too deeply", Place(path, 1))) from None
    return Source(
        path, value, survey.places, survey.problems, environment.used, frozenset(survey.referred)
    )


def _check_growth(files: Files, environment: _Environment) -> None:
    """Refuse a file whose substitutions come to more than can be read, before they do."""
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
        # Said by the parser with its place.
        return
    survey = Survey(files)
    survey.walk(files.path)
    for name in survey.referred & set(environment):
        survey.growth.add(name, len(os.environ[name]))
    if survey.growth.is_harmless():
        return
    if not resolves_in_time(text, folder, files.given, environment):
        what = f"its substitutions come to more than {LARGEST_VALUE:,} characters, or take too long"
        raise FileProblems(unreadable(what, Place(files.path, 1)))


def _parsed(files: Files, environment: _Environment) -> Any:
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
        raise FileProblems(unreadable(error.what, Place(files.path, 1))) from None
    except hocon.ParseError as error:
        # The text that was read last is the one that is being parsed.
        place = Place(files.last, max(error.line, 1))
        advice = "look at the quotes, the brackets and the commas around this line"
        raise FileProblems(unreadable(_said(error), place, advice)) from None
    except hocon.ResolveError as error:
        _refuse_unresolved(files, error)
    except hocon.ConfigError:
        place = Place(files.path, 1)
        raise FileProblems(unreadable("a test file is an object", place)) from None


def _refuse_unresolved(files: Files, error: Any) -> NoReturn:
    """Say why substitutions or includes cannot be resolved, the likeliest cause first."""
    survey = Survey(files)
    survey.walk(files.path)
    if missing := [one for one in survey.problems if one.code == "missing-include"]:
        raise FileProblems(*missing) from None
    place = survey.substituted.get((error.path, error.line)) or _included(survey, error)
    advice = (
        "define it in the file or in the environment, or write ${?…} if it may be absent"
        if "could not resolve" in str(error)
        else ""
    )
    raise FileProblems(unreadable(_said(error), place, advice)) from None


def _included(survey: Survey, error: Any) -> Place:
    same_line = (place for (_, line), place in survey.substituted.items() if line == error.line)
    return next(same_line, Place(survey.files.path, max(error.line, 1)))


def _said(error: Exception) -> str:
    """The parser's message, without its references to sections of the specification."""
    said = _SPECIFICATION.sub("", str(error))
    return f"is not valid HOCON: {said[:1].lower()}{said[1:]}"


class _Environment(dict[str, str]):
    """The environment, which remembers what was asked of it."""

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
