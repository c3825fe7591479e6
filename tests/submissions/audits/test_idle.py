"""Doing nothing: what a command and a server give that do nothing, and which files they leave."""

from __future__ import annotations

from assay.submissions.audits.trials import idle_result
from assay.submissions.cases import APICase, APIResult, CLICase, CLIResult, InputFile
from assay.submissions.file_formats import FileType

ABOUT = {"id": "one", "group": "core"}


def test_a_command_prints_nothing_and_succeeds() -> None:
    right = CLIResult(**ABOUT, status_code=3, output="text", stderr="words", command="run it")
    found = idle_result(CLICase(**ABOUT), right)
    assert found == CLIResult(**ABOUT, status_code=0, output="", stderr="", command="run it")


def test_a_server_answers_and_says_nothing() -> None:
    right = APIResult(**ABOUT, status_code=201, output={"id": 1}, headers={"etag": "x"})
    found = idle_result(APICase(**ABOUT), right)
    assert isinstance(found, APIResult)
    assert (found.status_code, found.output, found.headers) == (200, "", {})


def test_tracked_input_files_are_found_as_they_were_given_and_others_are_not() -> None:
    case = CLICase(
        **ABOUT,
        input_files=[
            InputFile(path="data/a.json", content={"n": 1}, file_type=FileType.JSON),
            InputFile(path="b.txt", content="b"),
            InputFile(path="c.txt", content="c"),
        ],
    )
    right = CLIResult(**ABOUT, files={"b.txt": "changed", "made.txt": "made"})
    assert idle_result(case, right, ["data/*"]).files == {
        "data/a.json": case.input_files[0].to_bytes().decode(),
        "b.txt": "b",
    }
