"""The formats a run can be reported in, by name; a subject adds its own with `register_format`."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from assay import plugins
from assay.errors import InputError, nearest

if TYPE_CHECKING:
    from assay.runs import Run

# Gives the report piece by piece, so that no report is ever whole in memory: text, or bytes if
# the format is binary. A format in colour also takes the keyword `colour`.
Renderer: TypeAlias = "Callable[[Run], Iterator[str]] | Callable[[Run], Iterator[bytes]]"


@dataclass(frozen=True)
class Format:
    """One way to report a run.

    `renderer` is "module:function", imported only when a report is asked for, because a format
    may need a heavy library.
    """

    name: str
    description: str
    renderer: str
    is_binary: bool = False
    has_colour: bool = False
    subject: str | None = None
    """The only subject whose runs it can tell; None for any."""

    def load(self) -> Callable[..., Iterator[Any]]:
        """The function that renders a run."""
        module, _, function = self.renderer.partition(":")
        found: Callable[..., Iterator[Any]] = getattr(importlib.import_module(module), function)
        return found


def register_format(new: Format) -> None:
    """Make a format known; a name can be taken only once."""
    if new.name in _FORMATS:
        raise ValueError(f"the report format {new.name!r} is registered already")
    _FORMATS[new.name] = new


def get_format(name: str) -> Format:
    """Return the format of a name; raise an InputError that names the nearest if there is none."""
    if name not in _FORMATS and (added := plugins.find("reports", name)) is not None:
        register_format(_as_format(name, added))
    if name not in _FORMATS:
        raise InputError(f"unknown report format {name!r}", advice=nearest(name, _FORMATS))
    return _FORMATS[name]


def _as_format(name: str, added: Any) -> Format:
    """Return what a plugin adds as a format: it may be just a function that renders."""
    if isinstance(added, Format):
        return added
    if not callable(added):
        raise InputError(f"the report {name!r} of a plugin is {type(added).__name__}, no function")
    about = (added.__doc__ or "").strip().partition("\n")[0]
    return Format(name, about, f"{added.__module__}:{added.__qualname__}")


def format_names() -> list[str]:
    """Return all names, in the order they were registered; those of plugins last."""
    added = (plugin.name for plugin in plugins.installed("reports"))
    return list(dict.fromkeys([*_FORMATS, *added]))


_FORMATS: dict[str, Format] = {}

for _format in (
    Format(
        "terminal",
        "For people, in a terminal: what did not pass first, then the totals.",
        "assay.reports.terminal:render",
        has_colour=True,
    ),
    Format(
        "json",
        "One JSON object with the totals and every record in full.",
        "assay.reports.json_report:render",
    ),
    Format(
        "markdown",
        "A Markdown document with the totals and all that did not pass.",
        "assay.reports.markdown:render",
    ),
    Format(
        "junit",
        "JUnit XML that CI systems read, one test case per case.",
        "assay.reports.junit:render",
    ),
    Format(
        "github",
        "A step summary for GitHub Actions, at most 1 MiB.",
        "assay.reports.github:render",
    ),
    Format(
        "parquet",
        "A parquet file with one row per report, for data frames and SQL.",
        "assay.reports.parquet:render",
        is_binary=True,
    ),
    Format(
        "html",
        "One self-contained page with a filter, a search and folded evidence.",
        "assay.reports.html_report:render",
    ),
    Format(
        "quality",
        "Questions: what is known about each, as quality_report.json.",
        "assay.questions.quality_report:render_json",
        subject="questions",
    ),
    Format(
        "verdicts",
        "Questions: a Markdown document grouped by verdict, with the evidence.",
        "assay.questions.quality_report:render_markdown",
        subject="questions",
    ),
    Format(
        "sarif",
        "Questions: findings on the lines of the suite, for code scanning.",
        "assay.questions.quality_report:render_sarif",
        subject="questions",
    ),
):
    register_format(_format)
