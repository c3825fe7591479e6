"""Nothing that a program or an agent says acts as a command in the log of a CI service."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.cli.ci_log import LogWriter, break_commands
from tests.conftest import Command

_PIECES = st.lists(
    st.text(alphabet=":# \r\n\tsection_tarnd[vo\x1b", max_size=40).map(str.encode), max_size=12
)


def is_command(log: bytes) -> bool:
    lines = [line.strip(b" \t\v\f") for line in re.split(rb"[\r\n]", log)]
    starts = (b"::", b"##", b"#:", b":#")
    # Azure Pipelines, TeamCity and GitHub look for `##vso[`, `##teamcity[`, `##[` in all of a line.
    return any(line.startswith(starts) for line in lines) or bool(
        re.search(rb"section_(start|end):|##", log)
    )


@given(_PIECES)
def test_no_text_in_whatever_pieces_it_comes_becomes_a_command(pieces: list[bytes]) -> None:
    log = io.BytesIO()
    writer = LogWriter(log)
    for piece in pieces:
        assert writer.write(piece) == len(piece)
    assert not is_command(log.getvalue())
    # Only spaces are added.
    assert log.getvalue().replace(b" ", b"") == b"".join(pieces).replace(b" ", b"")


@given(st.binary(max_size=300))
def test_text_without_a_mark_stays_as_it_is(text: bytes) -> None:
    text = text.replace(b":", b".").replace(b"#", b".")
    assert break_commands(text) == text


@pytest.mark.parametrize("service", ["GITHUB_ACTIONS", "GITLAB_CI"])
def test_the_real_command_prints_no_command_of_a_case(
    assay: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, service: str
) -> None:
    attack = "::error file=a.py::forged\\n  ::add-mask::x\\nsection_start:1:x"
    (tmp_path / "suite.py").write_text(
        f"""
import assay
from assay.checks import run_check
attack = "{attack}"
cases = [({{"id": attack}}, "other")]
def task(case):
    print(attack, flush=True)
    return case.result(output=attack)
def verifier(group, case, actual, expected):
    return {{"output": run_check("exact", actual.output, expected.output)}}
evaluation = assay.Evaluation(cases, task, verifier)
"""
    )
    monkeypatch.setenv(service, "true")
    result = assay("run", "suite.py")
    assert result.returncode == 1, result.stderr
    for shown in (result, assay("runs", "show", "latest"), assay("report", "latest")):
        assert "forged" in shown.stdout
        assert not is_command(shown.stdout.encode())
    assert not is_command(assay("runs", "show", "latest", "::error::x").stderr.encode())
