"""`new` of every subject: what it writes passes as it is, and its schemas accept it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from jsonschema import Draft202012Validator

from tests.conftest import Command

_FIRST = {
    "questions": ("verify mine/suite.yaml", "3 questions: 3 Valid"),
    "agents": ("verify mine/conversation.hocon", "Passed: 1 of 1 case passed"),
    "submissions": ("verify -s mine/checkpoint_1/solution -p mine", "Passed: "),
}


@pytest.mark.parametrize("subject", _FIRST)
def test_what_is_written_passes_with_the_command_that_is_named(
    subject: str, assay: Command, tmp_path: Path
) -> None:
    verify, said = _FIRST[subject]
    written = assay(subject, "new", "mine")
    assert written.returncode == 0, written.stderr
    assert f"next: assay {subject} {verify}\n" in written.stdout
    listed = {line.split()[1] for line in written.stdout.splitlines() if line.startswith("wrote")}
    files = {str(file.relative_to(tmp_path)) for file in tmp_path.rglob("*") if file.is_file()}
    assert files == listed
    # Its own project, so that what it names is found from here.
    (tmp_path / "assay.toml").touch()
    assert assay(subject, "lint", "mine").returncode == 0
    verified = assay(subject, *verify.split())
    assert (verified.returncode, said in verified.stdout) == (0, True), verified


@pytest.mark.parametrize("subject", _FIRST)
def test_a_folder_with_files_is_never_written_to(
    subject: str, assay: Command, tmp_path: Path
) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes").touch()
    refused = assay(subject, "new", "mine")
    assert (refused.returncode, "exists already" in refused.stderr) == (2, True)
    assert [file.name for file in (tmp_path / "mine").iterdir()] == ["notes"]


@pytest.mark.parametrize("subject", ["questions", "submissions"])
def test_editors_find_the_schema_of_every_file(
    subject: str, assay: Command, tmp_path: Path
) -> None:
    assay(subject, "new", "mine")
    named = 0
    for file in (tmp_path / "mine").rglob("*.yaml"):
        first, _, _ = file.read_text().partition("\n")
        place = first.removeprefix("# yaml-language-server: $schema=")
        assert place != first, file
        schema = json.loads((file.parent / place).read_text())
        assert schema["$id"].startswith("urn:assaykit:")
        Draft202012Validator(schema).validate(yaml.safe_load(file.read_text()))
        named += 1
    assert named >= 2
