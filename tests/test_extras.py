"""Extras: what each brings is declared once, and a missing one is named with what installs it."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import requires
from pathlib import Path

import pytest

from assay import extras
from assay.errors import InfrastructureError
from assay.extras import EXTRAS, require_extra

# A program that behaves as if some modules were not installed, then goes on as `assay`.
_WITHOUT = """
import sys
hidden = set(sys.argv.pop(1).split(","))
class Hidden:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in hidden:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Hidden())
from assay.cli import main
main()
"""

_EVALUATION = """
import assay
from assay.checks import run_check


def task(case):
    return case.result(output=1)


def verifier(group_name, case_name, actual, expected):
    return {"output": run_check("number", actual.output, expected.output)}


evaluation = assay.Evaluation([({"id": "one"}, 1)], task, verifier)
"""


def _assay_without(hidden: str, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", _WITHOUT, hidden, *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("extra", sorted(EXTRAS))
def test_every_extra_is_declared_and_here_nothing_is_missing(extra: str) -> None:
    declared = [text for text in requires("assaykit") or () if f"extra == '{extra}'" in text]
    assert declared
    require_extra(extra, "a test")


@pytest.mark.parametrize("extra", sorted(EXTRAS))
def test_a_missing_package_is_named_with_what_installs_it(
    extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(extras.EXTRAS, extra, ("nothing_of_that_name.inner",))
    with pytest.raises(InfrastructureError) as caught:
        require_extra(extra, "this feature")
    text = str(caught.value)
    assert "this feature needs nothing_of_that_name.inner, which is not installed" in text
    assert f"assaykit[{extra}], or just its packages: pip install " in text
    assert "//" not in text


def test_all_takes_every_extra() -> None:
    of_each = [extras._requirements(extra) for extra in EXTRAS]
    assert set(extras._requirements("all")) == {text for one in of_each for text in one}


def test_a_parquet_report_without_pyarrow_says_what_is_missing(tmp_path: Path) -> None:
    (tmp_path / "one.py").write_text(_EVALUATION)
    assert _assay_without("pyarrow", tmp_path, "run", "one.py", "--out", "run").returncode == 0
    words = ("report", "run", "--format", "parquet", "--out", "run.parquet")
    refused = _assay_without("pyarrow", tmp_path, *words)
    assert refused.returncode == 3
    assert "a parquet report needs pyarrow, which is not installed" in refused.stderr
    assert "assaykit[parquet]" in refused.stderr
    assert not (tmp_path / "run.parquet").exists()


def test_a_parquet_file_of_a_submission_is_never_its_fault_without_pyarrow(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from assay.submissions.declarative.expectations import read_structure

    monkeypatch.setitem(extras.EXTRAS, "parquet", ("nothing_of_that_name",))
    with pytest.raises(InfrastructureError, match="a parquet file needs nothing_of_that_name"):
        read_structure(b"PAR1", "table.parquet")
