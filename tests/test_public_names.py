"""What `import assay` offers, and what it costs."""

from __future__ import annotations

import subprocess
import sys

import pytest

import assay


def test_the_public_names_are_pinned() -> None:
    assert sorted(assay.__all__) == dir(assay)
    assert set(assay.__all__) == {
        "AssayError", "AttributeResult", "Case", "CaseRecord", "CaseResult", "Evaluation",
        "GroupType", "InfrastructureError", "InputError", "Outcome", "Run", "RunComparison",
        "Unverifiable", "VerificationResult", "VerifierProtocol", "VerifierReport",
        "VerifierReturnType", "__version__", "agents", "compare_runs", "evaluate", "export_traces",
        "questions", "runs", "submissions",
    }  # fmt: skip


@pytest.mark.parametrize("name", assay.__all__)
def test_every_public_name_is_there(name: str) -> None:
    assert getattr(assay, name) is not None


def test_other_names_are_not() -> None:
    with pytest.raises(AttributeError, match="no attribute 'evaluat'"):
        _ = assay.evaluat  # type: ignore[attr-defined] # on purpose


@pytest.mark.parametrize(
    ("statement", "heavy"),
    [
        ("import assay", {"pydantic", "click", "asyncio"}),
        ("from assay.cli import cli", {"pydantic", "jinja2", "pyarrow", "asyncio", "sqlite3"}),
        ("import assay.cli.run", {"jinja2", "pyarrow", "jsonschema"}),
        ("import assay.evaluation, assay.checks", {"jinja2", "pyarrow", "jsonschema", "click"}),
    ],
)
def test_heavy_libraries_wait_until_they_are_needed(statement: str, heavy: set[str]) -> None:
    script = f"import sys; {statement}; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert not heavy & set(loaded.stdout.split())
    assert "assay" in loaded.stdout
