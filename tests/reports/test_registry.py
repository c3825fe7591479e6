"""The registry of report formats."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from assay import reports
from assay.errors import InputError
from assay.reports import Format, format_names, get_format, register_format, render_report
from assay.reports import formats as registry
from assay.runs import Run
from tests.waiting import PATIENCE

if TYPE_CHECKING:
    from tests.reports.conftest import Make


def test_the_stock_formats_are_there_and_can_be_loaded() -> None:
    # Those of subjects come after them, where a command that knows the subjects was imported.
    assert format_names()[:7] == [
        "terminal",
        "json",
        "markdown",
        "junit",
        "github",
        "parquet",
        "html",
    ]
    assert all(callable(get_format(name).load()) for name in format_names())


def test_an_unknown_format_names_the_nearest() -> None:
    with pytest.raises(InputError, match="unknown report format 'junt'") as caught:
        get_format("junt")
    assert caught.value.advice == "did you mean 'junit'?"


def test_a_name_is_taken_only_once() -> None:
    with pytest.raises(ValueError, match="registered already"):
        register_format(Format("json", "Another.", "somewhere:render"))


def names_of_cases(run: Run) -> Iterator[str]:
    for row in run.rows():
        yield f"{row.id} \ud800\n"


def test_a_subject_adds_a_format(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_FORMATS", dict(registry._FORMATS))
    register_format(Format("names", "Only the names.", f"{__name__}:names_of_cases"))
    run = make.run([make.record("one"), make.record("two")])
    assert b"".join(render_report(run, "names")) == b"one \\ud800\ntwo \\ud800\n"


def test_importing_the_package_imports_nothing_heavy() -> None:
    script = (
        "import sys, assay.reports as reports; reports.format_names(); reports.get_format('html');"
        "print([m for m in ('jinja2', 'pyarrow', 'pydantic') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=PATIENCE
    )
    assert done.stdout.strip() == "[]"


def test_every_public_name_is_there_and_no_other() -> None:
    assert sorted(reports.__all__) == reports.__all__
    assert all(getattr(reports, name) is not None for name in reports.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        reports.nonsense  # type: ignore[attr-defined] # noqa: B018
