"""Attacks on everything but the sandbox, through the real command: files as data, and readers.

What each expects was written down before it was first run; what got through then is mended, and all
of them stay here.
"""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Command
from tests.waiting import PATIENCE

EVALUATION = """
import assay
from assay.checks import run_check
cases = [({"id": str(n), "n": n}, n * n) for n in range(3)]
def task(case):
    return case.result(output=case.n * case.n + (case.n == 2))
def verifier(group_name, case_name, actual, expected):
    return {"output": run_check("number", actual.output, expected.output)}
evaluation = assay.Evaluation(cases, task, verifier)
"""
ESCAPE = "\x1b[31mred\x1b]0;title\x07\u202e"


@pytest.fixture
def finished(assay: Command, tmp_path: Path) -> Path:
    """A run of which one of three cases failed."""
    (tmp_path / "mine.py").write_text(EVALUATION)
    assert assay("run", "mine.py", "--out", "run", "-q").returncode == 1
    return tmp_path / "run"


@pytest.fixture
def problem(assay: Command, tmp_path: Path) -> Path:
    """A run of a submission that passed, in the folder `run`."""
    assert assay("submissions", "new", "wc").returncode == 0
    solution = "wc/checkpoint_1/solution"
    done = assay("submissions", "verify", "-q", "-s", solution, "-p", "wc", "--out", "run")
    assert done.returncode == 0, done.stderr
    return tmp_path / "wc"


def change(run: Path, asked: dict[str, Any], *, unfinished: bool = False) -> None:
    """Write into run.json as somebody else might, and let there be something left to do."""
    manifest = json.loads((run / "run.json").read_text())
    manifest["asked"].update(asked)
    if unfinished:
        manifest.update(finished=None, cases=None, link=None)
        (run / "journal.jsonl").write_text("")
    (run / "run.json").write_text(json.dumps(manifest))


def evil(folder: Path) -> tuple[Path, Path]:
    """An evaluation of another project, and what it writes if it is run."""
    folder.mkdir()
    mark, file = folder / "MARK", folder / "evil.py"
    file.write_text(f"open({str(mark)!r}, 'w').close()\n{EVALUATION}")
    return file, mark


# Run folders that are resumed


@pytest.mark.parametrize("way", ["absolute", "upwards", "named", "link"])
def test_a_run_folder_does_not_choose_which_code_a_resumed_evaluation_runs(
    assay: Command, finished: Path, tmp_path_factory: pytest.TempPathFactory, way: str
) -> None:
    file, mark = evil(tmp_path_factory.mktemp("theirs") / "project")
    (finished.parent / "link.py").symlink_to(file)
    named = {
        "absolute": str(file),
        "upwards": os.path.relpath(file, finished.parent),
        "named": f"{file}:evaluation",
        "link": str(finished.parent / "link.py"),
    }[way]
    change(finished, {"evaluation": named}, unfinished=True)
    refused = assay("runs", "resume", "run")
    assert (refused.returncode, mark.exists()) == (2, False)
    assert "only the run folder names it" in refused.stderr
    assert assay("runs", "resume", "run", "--trust").returncode == 1
    assert mark.exists()


def test_a_run_folder_whose_evaluation_is_no_text_is_wrong_input(
    assay: Command, finished: Path
) -> None:
    change(finished, {"evaluation": ["mine.py"]}, unfinished=True)
    refused = assay("runs", "resume", "run", "--trust")
    assert (refused.returncode, "defect" in refused.stderr) == (2, False)


def test_a_run_folder_neither_turns_isolation_off_nor_brings_a_loader_or_an_environment(
    assay: Command, problem: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    run, theirs = problem.parent / "run", tmp_path_factory.mktemp("theirs") / "wc"
    before = (run / "run.json").read_text()
    change(run, {"isolation": "none"})
    refused = assay("runs", "resume", "run")
    assert (refused.returncode, "without isolation" in refused.stderr) == (2, True)

    shutil.copytree(problem, theirs)
    mark = theirs / "MARK"
    (theirs / "loader.py").write_text(f"open({str(mark)!r}, 'w').close()\n")
    (theirs / "verifier.py").write_text("class Verifier: ...\n")
    (theirs / "env.yaml").write_text("type: local\ncommands: {command: python}\n")
    for asked in ({"problem": str(theirs)}, {"environment": str(theirs / "env.yaml")}):
        (run / "run.json").write_text(before)
        change(run, asked)
        refused = assay("runs", "resume", "run")
        assert (refused.returncode, mark.exists()) == (2, False)
        assert "only the run folder names it" in refused.stderr


def test_resuming_a_run_writes_through_no_link_and_waits_for_no_pipe_in_its_folder(
    assay: Command, problem: Path
) -> None:
    run, victim = problem.parent / "run", problem.parent / "victim"
    victim.write_text("precious")
    for name in ("evaluation.json", "run.json.new", ".baseline.json.new"):
        (run / name).unlink(missing_ok=True)
        (run / name).symlink_to(victim)
    (run / "reports.parquet").unlink()
    os.mkfifo(run / "reports.parquet")
    assert assay("runs", "resume", "run").returncode == 0
    assert victim.read_text() == "precious"
    assert json.loads((run / "evaluation.json").read_text())
    assert (run / "reports.parquet").is_file()


@pytest.mark.parametrize("asked", [{"targets": ["/"]}, {"proofs": "/"}], ids=["target", "proofs"])
def test_a_run_folder_names_no_target_or_proof_store_elsewhere(
    assay: Command, finished: Path, asked: dict[str, Any]
) -> None:
    manifest = json.loads((finished / "run.json").read_text())
    (finished / "run.json").write_text(json.dumps({**manifest, "subject": "questions"}))
    change(finished, asked)
    refused = assay("runs", "resume", "run")
    assert (refused.returncode, "outside of the current project" in refused.stderr) == (2, True)


# Proof stores


@pytest.mark.parametrize("link", ["proofs", "proofs/mine", "proofs/locks", "proofs/mine/one"])
def test_no_proof_is_written_through_a_link_beside_a_suite(
    assay: Command, tmp_path: Path, link: str
) -> None:
    (tmp_path / "mine.yaml").write_text(
        "target: current:pydantic\nbenchmarks:\n  - id: one\n    question: Which of these is a "
        "method of `BaseModel`?\n    options: {A: '`to_dict`', B: '`model_dump`'}\n"
        "    correct_answer: B\n"
    )
    (tmp_path / "victim").mkdir()
    (tmp_path / link).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / link).symlink_to(tmp_path / "victim")
    refused = assay("questions", "verify", "mine.yaml", "-q")
    assert refused.returncode in (2, 3)
    assert list((tmp_path / "victim").iterdir()) == []


def test_a_file_with_holes_in_a_submission_does_not_fill_the_disk(
    assay: Command, problem: Path
) -> None:
    with (problem / "checkpoint_1" / "solution" / "big").open("wb") as file:
        file.truncate(1 << 40)
    words = ("-s", problem / "checkpoint_1" / "solution", "-p", problem)
    refused = assay("submissions", "verify", "-q", *words)
    assert (refused.returncode, "larger than" in refused.stderr) == (2, True), refused.stderr


# The index of a run


_FORGERIES = {
    "outcome": ["UPDATE cases SET outcome = 'passed', code = 'passed', score = 1.0"],
    "nonsense": ["UPDATE cases SET outcome = '<script>', offset = -5"],
    "swapped": ["UPDATE cases SET offset = 0, length = (SELECT length FROM cases WHERE place = 0)"],
    "view": [
        "ALTER TABLE cases RENAME TO hidden",
        "CREATE VIEW cases AS SELECT id, place, offset, length, 'passed' AS outcome, 'passed' AS"
        " code, fingerprint, 1.0 AS score, duration, pass FROM hidden",
    ],
    "endless": [
        "ALTER TABLE cases RENAME TO hidden",
        "CREATE VIEW cases AS WITH RECURSIVE x(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM x)"
        " SELECT n AS id, n AS place, 0 AS offset, 1 AS length, 'passed' AS outcome, '' AS code,"
        " '' AS fingerprint, 1.0 AS score, 0.0 AS duration, 1 AS pass FROM x",
    ],
    "trigger": [
        "CREATE TRIGGER t AFTER UPDATE ON state BEGIN UPDATE cases SET outcome = 'passed'; END"
    ],
}


@pytest.mark.parametrize("forgery", _FORGERIES)
def test_an_index_that_somebody_has_written_into_is_not_believed(
    assay: Command, finished: Path, forgery: str
) -> None:
    database = sqlite3.connect(finished / "index.sqlite")
    for statement in _FORGERIES[forgery]:
        database.execute(statement)
    database.commit()
    database.close()
    told = assay("report", "run", "--format", "json")
    assert told.returncode == 0, told.stderr
    assert json.loads(told.stdout)["totals"]["failed"] == 1
    resumed = assay("runs", "resume", "run", "-q")
    assert (resumed.returncode, "1 failed" in resumed.stdout) == (1, True), resumed.stderr


@pytest.mark.parametrize("name", ["index.sqlite", "index.sqlite-journal", "index.sqlite-wal"])
@pytest.mark.parametrize("kind", ["pipe", "link", "folder"])
def test_what_stands_in_the_place_of_an_index_or_beside_it_is_neither_waited_for_nor_followed(
    assay: Command, finished: Path, name: str, kind: str
) -> None:
    place, victim = finished / name, finished.parent / "victim"
    place.unlink(missing_ok=True)
    victim.write_text("precious")
    if kind == "pipe":
        os.mkfifo(place)
    elif kind == "link":
        place.symlink_to(victim)
    else:
        place.mkdir()
    shown = assay("runs", "show", "run")
    assert (shown.returncode, "1 failed" in shown.stdout) == (0, True), shown.stderr
    resumed = assay("runs", "resume", "run", "-q")
    assert resumed.returncode == (2 if kind == "folder" else 1), resumed.stderr
    assert "defect" not in resumed.stderr
    assert victim.read_text() == "precious"


def test_a_policy_and_a_name_of_a_run_folder_do_not_act_on_the_terminal(
    assay: Command, finished: Path
) -> None:
    manifest = json.loads((finished / "run.json").read_text())
    manifest["gate"] = {"name": ESCAPE, "is_met": True, "reason": ESCAPE}
    (finished / "run.json").write_text(json.dumps(manifest))
    shutil.copytree(finished, finished.parent / ".assay" / "runs" / f"a{ESCAPE}")
    for words in (("runs", "show", "run"), ("runs", "list"), ("runs", "show", "latest")):
        told = assay(*words)
        assert told.returncode == 0
        assert not set("\x1b\x07\u202e") & set(told.stdout + told.stderr)


# Configuration


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("a" + ".a" * 100_000 + " = 1", "nested too deeply"),
        ("x = {" + "a." * 60 + "a = 1}", "nested too deeply"),
        ('"a b"' + ' . "a b"' * 60 + " = 1", "nested too deeply"),
        ("jobs = " + "9" * 6_000, "not valid TOML"),
        ('runs = "a\\u0000b"', "null byte"),
    ],
    ids=["dots", "dots in a table", "quoted dots", "digits", "null"],
)
def test_a_hostile_configuration_is_wrong_input_at_once(
    assay: Command, tmp_path: Path, text: str, told: str
) -> None:
    (tmp_path / "assay.toml").write_text(text + "\n")
    (tmp_path / "mine.py").write_text(EVALUATION)
    refused = assay("run", "mine.py")
    assert (refused.returncode, told in refused.stderr) == (2, True), refused.stderr


def test_a_long_text_with_many_dots_is_no_key(assay: Command, tmp_path: Path) -> None:
    text = "One sentence. " * 200 + "and 1.2.3.4.5 ... " * 50
    (tmp_path / "pyproject.toml").write_text(f'[project]\ndescription = """\n{text}\n"""\n')
    (tmp_path / "mine.py").write_text(EVALUATION)
    assert assay("run", "mine.py", "-q").returncode == 1


# Addresses


@pytest.mark.parametrize("address", ["http://u:PASSWORD@[::1/v1", "http://u:PASSWORD@h:99999999/"])
def test_an_address_that_is_none_is_wrong_input_and_not_shown(assay: Command, address: str) -> None:
    refused = assay("models", "check", "--model", "m", "--model-url", address)
    assert (refused.returncode, "PASSWORD" in refused.stderr) == (2, False), refused.stderr


@pytest.mark.parametrize(
    "words",
    [
        ("models", "check", "--model", "gpt-5"),
        ("agents", "verify", "t.hocon", "--host", "a.invalid"),
    ],
    ids=["model", "agent"],
)
def test_a_proxy_that_is_no_address_is_wrong_input_and_not_shown(
    assay: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    (tmp_path / "t.hocon").write_text(
        "agent: a\nconnections: http\ninteractions: [{text: a, response.text.keywords: b}]\n"
    )
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://u:PASSWORD@127.0.0.1:port")
        monkeypatch.delenv(name.lower(), raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-" + "q" * 30)
    refused = assay(*words)
    assert (refused.returncode, "PASSWORD" in refused.stdout + refused.stderr) == (2, False)
    assert "defect" not in refused.stderr


# Standard streams, folders and disks


@pytest.mark.parametrize(
    "words",
    [("--help",), ("--version",), ("checks",), ("completion", "bash"), ("runs", "list", "--json")],
    ids=" ".join,
)
def test_what_cannot_be_printed_ends_with_3_and_a_sentence(
    finished: Path, words: tuple[str, ...]
) -> None:
    shutil.copytree(finished, finished.parent / ".assay" / "runs" / "one")
    with Path("/dev/full").open("w") as full:
        ended = started(finished.parent, *words, stdout=full)
    assert ended.returncode == 3
    assert ended.stderr.splitlines() == [
        "assay: error: standard output cannot be written: No space left on device"
    ]


def test_where_nothing_can_be_told_the_exit_code_still_says_it(tmp_path: Path) -> None:
    with Path("/dev/full").open("w") as full:
        assert started(tmp_path, "run", "none.py", stdout=full, stderr=full).returncode == 2


@pytest.mark.parametrize(
    "words",
    [("run", "x.py"), ("runs", "list"), ("init",), ("report", "latest"), ("models", "check")],
    ids=" ".join,
)
def test_a_folder_that_is_gone_is_said_and_no_defect(
    tmp_path: Path, words: tuple[str, ...]
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    ended = started(gone, *words, before=gone.rmdir)
    assert ended.returncode == 2
    assert "the current folder no longer exists" in ended.stderr


def test_a_name_that_no_disk_takes_is_wrong_input(assay: Command) -> None:
    refused = assay("agents", "verify", "x" * 5_000)
    assert (refused.returncode, "defect" in refused.stderr) == (2, False)
    assert "File name too long" in refused.stderr


@pytest.mark.parametrize("words", [("init", "new"), ("submissions", "new", "new")], ids=" ".join)
def test_a_disk_that_is_full_is_no_defect(tmp_path: Path, words: tuple[str, ...]) -> None:
    ended = started(tmp_path, *words, before=forbid_writing)
    assert (ended.returncode, "defect" in ended.stderr) == (3, False), ended.stderr
    assert "File too large" in ended.stderr


def forbid_writing() -> None:
    """Stand in for a full disk, which takes a file system of its own."""
    import resource
    import signal

    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))


def started(
    folder: Path,
    *words: str,
    before: Callable[[], Any] | None = None,
    stdout: Any = subprocess.PIPE,
    stderr: Any = subprocess.PIPE,
) -> subprocess.CompletedProcess[str]:
    """Run the real command with other streams; `before` is called in its process."""
    return subprocess.run(
        [sys.executable, "-B", "-m", "assay", *words],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=stdout,
        stderr=stderr,
        text=True,
        timeout=PATIENCE,
        preexec_fn=before,
        env={**os.environ, "NO_COLOR": "1"},
    )
