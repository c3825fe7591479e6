"""What is shipped: the templates are in the wheel, and the docs know every format and column."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from pyarrow import parquet

from assay.reports import format_names, get_format, summarize, write_report
from tests.waiting import PATIENCE

if TYPE_CHECKING:
    from tests.reports.conftest import Make

PROJECT = Path(__file__).parents[2]
DOCS = (PROJECT / "docs" / "reports.md").read_text("utf-8")


def test_the_wheel_has_the_templates(tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)],
        cwd=PROJECT,
        capture_output=True,
        check=True,
        timeout=PATIENCE,
    )
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    shipped = {f"assay/reports/templates/report.{kind}" for kind in ("html", "css", "js")}
    assert shipped <= names


# Those of a subject are known only after its commands were imported, by whichever test.
SHARED = [name for name in format_names() if not get_format(name).subjects]


@pytest.mark.parametrize("name", SHARED)
def test_the_docs_describe_each_format(name: str) -> None:
    assert f"## {name}" in DOCS
    assert f"--format {name}" in DOCS
    assert get_format(name).description.endswith(".")


def test_the_docs_have_every_column_and_every_total(make: Make, tmp_path: Path) -> None:
    run = make.run([make.record("x")])
    write_report(run, "parquet", tmp_path / "report.parquet")
    schema = parquet.read_schema(tmp_path / "report.parquet")
    fields = [field.name for field in schema.field("results").type.value_type.fields]
    for name in (*schema.names, *fields, *summarize(run).to_values()):
        assert f"`{name}`" in DOCS, name
