"""Writing a report to a file or to standard output."""

from __future__ import annotations

import contextlib
import io
import json
import os
import pty
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from assay.errors import InfrastructureError, InputError
from assay.reports import Format, write_report
from assay.reports import formats as registry
from assay.runs import Run
from tests.waiting import PATIENCE

if TYPE_CHECKING:
    from tests.reports.conftest import Make


def breaks_off(run: Run) -> Iterator[str]:
    yield "half of it"
    raise RuntimeError("the renderer broke")


def test_a_file_is_written_and_its_folder_made(make: Make, tmp_path: Path) -> None:
    out = tmp_path / "deep" / "folder" / "report.json"
    write_report(make.run([make.record("é")]), "json", out)
    assert json.loads(out.read_bytes())["cases"][0]["id"] == "é"
    assert list(out.parent.iterdir()) == [out]


def test_a_report_that_breaks_off_leaves_the_old_file(
    make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(registry._FORMATS, "broken", Format("broken", "", f"{__name__}:breaks_off"))
    folder = tmp_path / "reports"
    folder.mkdir()
    (folder / "report").write_text("the old one")
    with pytest.raises(RuntimeError, match="the renderer broke"):
        write_report(make.run([]), "broken", folder / "report")
    assert list(folder.iterdir()) == [folder / "report"]
    assert (folder / "report").read_text() == "the old one"


def test_a_link_is_followed_and_stays_a_link(make: Make, tmp_path: Path) -> None:
    (tmp_path / "target").write_text("old")
    (tmp_path / "link").symlink_to(tmp_path / "target")
    write_report(make.run([make.record("one")]), "json", tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert json.loads((tmp_path / "target").read_text())["totals"]["passed"] == 1


def test_a_device_is_written_to_and_not_replaced(make: Make) -> None:
    write_report(make.run([]), "json", Path(os.devnull))
    assert Path(os.devnull).is_char_device()


def test_a_folder_is_refused(make: Make, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is a folder"):
        write_report(make.run([]), "json", tmp_path)


def test_a_place_that_cannot_be_written_is_the_machines_fault(make: Make, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InfrastructureError, match="could not be written"):
        write_report(make.run([]), "json", tmp_path / "file" / "report.json")


def test_standard_output_gets_utf8_whatever_the_locale(make: Make) -> None:
    run = make.run([make.record("é", "failed")])
    script = (
        "import sys; from pathlib import Path; from assay.runs import Run;"
        "from assay.reports import write_report; print('before');"
        "write_report(Run(Path(sys.argv[1])), 'terminal')"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(run.path)],
        capture_output=True,
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
        check=True,
        timeout=PATIENCE,
    )
    assert done.stdout.decode("utf-8").startswith("before\nFAILED     é\n")


def test_standard_output_may_be_text_only(make: Make) -> None:
    run = make.run([make.record("é", "failed")])
    with contextlib.redirect_stdout(io.StringIO()) as shown:
        write_report(run, "terminal")
        with pytest.raises(InputError, match="takes only text"):
            write_report(run, "parquet")
    assert shown.getvalue().startswith("FAILED     é\n")


def test_parquet_to_a_pipe_works_and_to_a_terminal_is_refused(make: Make) -> None:
    run = make.run([make.record("one")])
    script = (
        "import sys; from pathlib import Path; from assay.runs import Run;"
        "from assay.reports import write_report;"
        "write_report(Run(Path(sys.argv[1])), 'parquet')"
    )
    command = [sys.executable, "-c", script, str(run.path)]
    piped = subprocess.run(command, capture_output=True, check=True, timeout=PATIENCE)
    assert piped.stdout.startswith(b"PAR1")
    assert piped.stdout.endswith(b"PAR1")
    outer, inner = pty.openpty()
    try:
        shown = subprocess.run(
            command, stdout=inner, stderr=subprocess.PIPE, text=True, check=False, timeout=PATIENCE
        )
    finally:
        os.close(inner)
        os.close(outer)
    assert shown.returncode != 0
    assert "write it to a file: --out report.parquet" in shown.stderr
