"""Problems of our own in the reference's format: loaded unchanged, their solutions pass.

Programs are started here in the plainest way; what the adapters do about them has its own tests.
"""

from __future__ import annotations

import ast
import asyncio
import http.client
import json
import shlex
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlencode

import pytest

from assay.model import CaseResult, VerifierReport
from assay.submissions.cases import APICase, APIResult, BaseCase, CLIResult
from assay.submissions.config import GroupConfig, ProblemConfig
from assay.submissions.problems import read_problem
from assay.submissions.python_problems.source import PythonSource
from tests.conftest import Command

PROBLEMS = Path(__file__).parents[1] / "problem_folders"
Run = Callable[[BaseCase], CaseResult]


def run_command(problem: ProblemConfig, checkpoint: str, folder: Path) -> Run:
    """Runs the reference solution as a command, its arguments joined and split like a shell's."""
    program = problem.path / checkpoint / "solution" / f"{problem.entry_file}.py"
    assets = {name: str(problem.path / each.path) for name, each in problem.static_assets.items()}

    def filled(text: str) -> str:
        for name, path in assets.items():
            text = text.replace("{{static:" + name + "}}", path)
        return text

    def run(case: BaseCase) -> CaseResult:
        for file in case.input_files:
            (folder / file.path).parent.mkdir(parents=True, exist_ok=True)
            content = file.to_bytes()
            is_text = file.compression == "none" and file.file_type in ("text", "json")
            (folder / file.path).write_bytes(
                filled(content.decode()).encode() if is_text else content
            )
        words = shlex.split(filled(" ".join(case.arguments)))
        done = subprocess.run(
            [sys.executable, str(program), *words], cwd=folder, capture_output=True, text=True
        )
        files = {
            name: (folder / name).read_text()
            for name in case.tracked_files
            if (folder / name).exists()
        }
        return CLIResult(
            id=case.id,
            group=case.group,
            status_code=done.returncode,
            output=done.stdout,
            stderr=done.stderr,
            files=files,
        )

    return run


@contextmanager
def served(program: Path) -> Iterator[Run]:
    """Runs the reference solution as a server, on a port that is free now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    words = [sys.executable, str(program), "--address", "127.0.0.1", "--port", str(port)]
    with subprocess.Popen(words) as server:
        try:
            wait_for(port)
            yield lambda case: requested(case, port)
        finally:
            server.kill()


def wait_for(port: int) -> None:
    for _ in range(2000):
        try:
            socket.create_connection(("127.0.0.1", port)).close()
        except OSError:
            time.sleep(0.05)
        else:
            return
    raise AssertionError("the server did not start")


def requested(case: BaseCase, port: int) -> APIResult:
    assert isinstance(case, APICase)
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    path = f"{case.path}?{urlencode(case.query)}" if case.query else case.path
    body = None if case.body is None else json.dumps(case.body)
    connection.request(case.method, path, body, case.headers)
    answer = connection.getresponse()
    text = answer.read()
    connection.close()
    return APIResult(
        id=case.id,
        group=case.group,
        status_code=answer.status,
        output=json.loads(text) if text else None,
        method=case.method,
    )


async def reports_of(
    source: PythonSource, checkpoint: str, group: GroupConfig, run: Run
) -> list[VerifierReport]:
    stage = source.problem.checkpoints[checkpoint]
    reports = []
    async with source.open(stage, group) as stream:
        while (drawn := await stream.draw()) is not None:
            actual = run(drawn.case)
            await stream.update(drawn, actual)
            found = await source.verify(stage, group, drawn, actual)
            reports.append(
                VerifierReport.from_verifier_result(drawn.case, 0.0, actual, drawn.expected, found)
            )
    return reports


def test_every_case_of_the_ledger_passes(tmp_path: Path) -> None:
    problem = read_problem(PROBLEMS / "ledger")

    async def main() -> dict[str, list[VerifierReport]]:
        found = {}
        async with PythonSource(problem) as source:
            for name, stage in problem.checkpoints.items():
                for group in stage.groups.values():
                    folder = tmp_path / name / group.name
                    folder.mkdir(parents=True)
                    run = run_command(problem, name, folder)
                    found[f"{name}/{group.name}"] = await reports_of(source, name, group, run)
        return found

    found = asyncio.run(main())
    passed = {
        group: {each.id: each.did_pass() for each in reports} for group, reports in found.items()
    }
    core = dict.fromkeys(["csv", "gzip", "key", "quoted", "sqlite"], True)
    errors = dict.fromkeys(["missing_file", "no_command"], True)
    workflow = dict.fromkeys(["1_open", "2_add", "3_show"], True)
    assert passed == {
        "checkpoint_1/core": core,
        "checkpoint_1/errors": errors,
        "checkpoint_1/workflow": workflow,
        "checkpoint_2/exports": dict.fromkeys(["to_csv", "to_jsonl", "to_yaml"], True),
        "checkpoint_2/checkpoint_1_core": core,
        "checkpoint_2/checkpoint_1_errors": errors,
        "checkpoint_2/checkpoint_1_workflow": workflow,
    }
    again = found["checkpoint_2/checkpoint_1_errors"][0]
    assert (again.type, again.original_group) == ("Regression", "errors")
    assert again.original_checkpoint == "checkpoint_1"
    # The verifier replaced the file by what it read; the report has what the program wrote.
    written = found["checkpoint_1/workflow"][1].results["files-book.yaml"]
    assert written.actual == '{"green tea": 3}'


def test_regressions_keep_what_their_groups_were() -> None:
    problem = read_problem(PROBLEMS / "ledger")
    again = problem.checkpoints["checkpoint_2"].groups
    assert again["checkpoint_1_errors"].original_type == "Error"
    assert again["checkpoint_1_workflow"].isolated is False
    assert again["checkpoint_1_workflow"].case_order == ["1_open", "2_add", "3_show"]


def test_wrong_answers_of_the_ledger_fail(tmp_path: Path) -> None:
    problem = read_problem(PROBLEMS / "ledger")

    def silent(case: BaseCase) -> CaseResult:
        return CLIResult(id=case.id, group=case.group, status_code=1)

    async def main() -> list[VerifierReport]:
        found = []
        async with PythonSource(problem) as source:
            for name, stage in problem.checkpoints.items():
                for group in stage.groups.values():
                    found += await reports_of(source, name, group, silent)
        return found

    found = asyncio.run(main())
    assert len(found) == 23
    assert [each.outcome for each in found] == ["failed"] * 23
    # Nothing of an empty answer can be right, whatever was judged.
    assert {each.calculate_score() for each in found} == {0.0}


def test_later_requests_use_ids_of_earlier_answers() -> None:
    problem = read_problem(PROBLEMS / "notes_api")

    async def main() -> dict[str, list[VerifierReport]]:
        found = {}
        async with PythonSource(problem) as source:
            for name, stage in problem.checkpoints.items():
                for group in stage.groups.values():
                    with served(problem.path / name / "solution" / "notes.py") as run:
                        found[group.name] = await reports_of(source, name, group, run)
        return found

    found = asyncio.run(main())
    assert list(found) == ["flow", "lookups", "search", "again_flow", "again_lookups"]
    assert all(each.did_pass() for reports in found.values() for each in reports)
    assert [len(reports) for reports in found.values()] == [4, 1, 2, 4, 1]
    made = found["flow"][0].results["output"].actual["id"]
    assert found["flow"][1].case["path"] == f"/notes/{made}"
    assert found["flow"][0].results["id_format"].is_correct


@pytest.mark.parametrize("name", ["ledger", "notes_api"])
def test_the_problems_are_what_they_are_meant_to_be(name: str) -> None:
    problem = read_problem(PROBLEMS / name)
    assert problem.is_programmed
    written = (problem.path / "config.yaml").read_text()
    if name == "ledger":
        assert 'checkpoints: "*"' in written
        assert not problem.checkpoints["checkpoint_1"].groups["workflow"].isolated
    else:
        assert "checkpoints: [checkpoint_1, checkpoint_2]" in written
        assert problem.adapter.type == "api"


@pytest.mark.parametrize(("name", "count"), [("ledger", 23), ("notes_api", 12)])
def test_the_real_command_verifies_them_unchanged(name: str, count: int, assay: Command) -> None:
    folder = PROBLEMS / name
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
    done = assay("submissions", "verify", "-s", folder, "-p", folder, "--quiet")
    assert done.returncode == 0, done.stderr
    assert "error" not in done.stderr
    assert f"{count} of {count} cases passed" in done.stdout
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*")} == before


# Every name that problems of the reference import or call.
NAMES = """
    slop_code.evaluation GroupConfig CheckpointConfig ProblemConfig GroupType verifiers
    slop_code.evaluation.adapters CLICase CLIResult APICase APIResult cli api
    slop_code.evaluation.loaders BaseLoader CaseStore NoOpStore LoaderError helpers
    get_group_path get_chkpt_path get_actual_checkpoint get_files_from_globs discover_dir_cases
    slop_code.evaluation.verifiers VerificationResult VerifierReturnType VerifierError
    validate_format parsers slop_code.evaluation.verifiers.models
    slop_code.execution.file_ops InputFile FileType Compression from_path from_absolute
    model_validate slop_code.logging get_logger
    deepdiff_verify jsonschema_verify matches_status_code matches_regex DEFAULT_DEEPDIFF_KWARGS
    convert_to_io ensure_non_null_string extract_actual_output maybe_split_string
    ensure_expected_is_not_none parse_markdown_table drop_keys_from_dicts parse_csv_content
    parse_yaml_file parse_yaml parse_jsonl parse_json
    yaml structlog pandas numpy jinja2 deepdiff tomli
"""


def test_the_problems_together_use_every_name() -> None:
    used: set[str] = set()
    for file in PROBLEMS.glob("*/*.py"):
        used |= names_of(ast.parse(file.read_text(encoding="utf-8")))
    assert set(NAMES.split()) - used == set()


def names_of(tree: ast.AST) -> set[str]:
    used: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case ast.ImportFrom(module=str(module), names=names):
                used |= {module, *(each.name for each in names)}
            case ast.Import(names=names):
                used |= {each.name for each in names}
            case ast.Attribute(attr=name) | ast.Name(id=name):
                used.add(name)
    return used
