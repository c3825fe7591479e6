"""`assay submissions lint`, `new` and `schema` as commands: what they print and how they end."""

from __future__ import annotations

import json
from pathlib import Path

from tests.conftest import Command


def test_a_new_problem_is_clean_and_a_typo_is_found(assay: Command, tmp_path: Path) -> None:
    new = assay("submissions", "new", "problems/count")
    assert new.returncode == 0
    assert "wrote  problems/count/config.yaml" in new.stdout
    clean = assay("submissions", "lint", "count")
    assert (clean.returncode, clean.stdout) == (0, "nothing found\n")
    cases = tmp_path / "problems/count/checkpoint_1/core.yaml"
    cases.write_text(cases.read_text().replace("input_files:", "input_file:", 1))
    found = assay("submissions", "lint", "problems/count")
    assert found.returncode == 1
    assert "core.yaml:6: unknown-key: there is no key `input_file` here" in found.stdout
    assert "did you mean 'input_files'?" in found.stdout
    report = assay("submissions", "lint", "count", "--format", "json", "--out", "found.json")
    assert report.stdout == ""
    assert json.loads((tmp_path / "found.json").read_text())["findings"][0]["line"] == 6
    assert assay("submissions", "lint", "count", "--ignore", "unknown-key").returncode == 0


def test_mistakes_of_the_user_are_exit_2(assay: Command) -> None:
    assay("submissions", "new", "problems/count", "--api")
    unknown = assay("submissions", "lint", "coun")
    assert (unknown.returncode, unknown.stdout) == (2, "")
    assert "did you mean 'count'?" in unknown.stderr
    again = assay("submissions", "new", "problems/count")
    assert again.returncode == 2
    assert "exists already" in again.stderr


def test_the_schema_is_printed(assay: Command) -> None:
    whole = json.loads(assay("submissions", "schema").stdout)
    one = json.loads(assay("submissions", "schema", "case").stdout)
    assert len(whole["anyOf"]) == 3
    assert one["$ref"] == "#/$defs/case"
