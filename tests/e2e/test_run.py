"""`assay run` and its exit codes, through the real command."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Command
from tests.waiting import PATIENCE, wait_until

SUITE = Path(__file__).with_name("suite.py")


def outcomes(result: subprocess.CompletedProcess[str]) -> dict[str, str]:
    return {case["id"]: case["outcome"] for case in json.loads(result.stdout)["cases"]}


@pytest.mark.parametrize(
    ("bad", "code"),
    [
        ("", 0),
        ("case-1=fail", 1),
        ("case-1=unverified", 1),
        ("case-1=raise", 3),
        ("case-1=fail,case-2=raise", 1),
    ],
)
@pytest.mark.real_start
def test_exit_codes_of_a_run(
    assay: Command, monkeypatch: pytest.MonkeyPatch, bad: str, code: int
) -> None:
    monkeypatch.setenv("BAD", bad)
    result = assay("run", SUITE, "--json")
    assert result.returncode == code, result.stderr
    found = outcomes(result)
    assert list(found) == ["case-0", "case-1", "case-2", "case-3"]
    wrong = {name.split("=")[0] for name in bad.split(",") if name}
    assert {name for name, outcome in found.items() if outcome != "passed"} == wrong


def test_no_cases_is_an_error_of_the_input(assay: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CASES", "0")
    result = assay("run", SUITE)
    assert result.returncode == 2
    assert "no cases" in result.stdout


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("run", "absent.py"), "absent.py: there is no such file"),
        (("run", f"{SUITE}:evaluatoin"), "did you mean 'evaluation'?"),
        (("run", f"{SUITE}:not_one"), "is int, not an assay.Evaluation"),
        (("run", "broken.py"), "cannot be loaded: ZeroDivisionError"),
        (("run", "none.py"), "defines 0 evaluations"),
        (("run", SUITE, "--ratio", "3/2"), "'3/2' is not a success ratio"),
        (("run", SUITE, "--time-limit", "0"), "time_limit must be above 0"),
        (("run", SUITE, "--report", "junitt=x"), "did you mean 'junit'?"),
        (("run", SUITE, "--report", "junit"), "write --report junit=FILE"),
        (("run", SUITE, "--baseline", "absent.json"), "absent.json: cannot be read"),
        (("run", SUITE, "--jobs", "0"), "not in the range"),
        (("run",), "Missing argument"),
        (("rum",), "did you mean 'run'?"),
        (("runs", "show", "latest"), "there are no runs yet"),
        (("runs", "resume", "nothing"), "no run 'nothing'"),
        (("report", "latest", "--format", "pdf"), "'pdf' is not one of"),
        (("checks", "exakt"), "did you mean 'exact'?"),
    ],
)
def test_a_users_mistake_is_told_without_a_traceback(
    assay: Command, tmp_path: Path, words: tuple[str, ...], told: str
) -> None:
    (tmp_path / "broken.py").write_text("x = 1 / 0\n")
    (tmp_path / "none.py").write_text("")
    result = assay(*words)
    assert result.returncode == 2
    assert told in result.stderr
    assert "Traceback" not in result.stderr
    assert result.stdout == ""


@pytest.mark.real_start
def test_debug_shows_the_traceback(assay: Command) -> None:
    result = assay("--debug", "run", "absent.py")
    assert result.returncode == 2
    assert "Traceback" in result.stderr


def test_standard_output_carries_the_result_alone(
    assay: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BAD", "case-1=print")
    for limit in ((), ("--time-limit", "30")):
        result = assay("run", SUITE, "--json", *limit)
        assert json.loads(result.stdout)["totals"]["passed"] == 4
        assert "a task may print" in result.stderr
        assert "and so may what it starts" in result.stderr


def test_a_hanging_case_is_an_error_and_the_run_goes_on(
    assay: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BAD", "case-1=hang")
    result = assay("run", SUITE, "--time-limit", "0.5", "--jobs", "2", "--json")
    assert result.returncode == 3
    assert list(outcomes(result).values()) == ["passed", "error", "passed", "passed"]


def test_eight_of_ten_samples_are_one_passed_case_everywhere(
    assay: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAILING", "3,7")
    monkeypatch.setenv("CASES", "1")
    result = assay("run", SUITE, "--ratio", "8/10", "--out", "eight", "--json",
                   "--report", "junit=eight.xml")  # fmt: skip
    assert result.returncode == 0
    report = json.loads(result.stdout)
    assert (report["totals"]["cases"], report["totals"]["passed"]) == (1, 1)
    assert len(report["cases"][0]["reports"]) == 10
    suites = ElementTree.parse(tmp_path / "eight.xml").getroot()
    assert suites.attrib["tests"] == "1"
    assert suites.attrib["failures"] == "0"
    assert len(suites.findall(".//testcase")) == 1
    assert assay("run", SUITE, "--ratio", "9/10", "--out", "nine").returncode == 1
    compared = assay("runs", "compare", "eight", "nine")
    assert compared.returncode == 1
    assert "newly failing: 1" in compared.stdout
    monkeypatch.setenv("FAILING", "1,2")
    assert assay("run", SUITE, "--ratio", "8/10", "--out", "other").returncode == 0
    compared = assay("runs", "compare", "eight", "other", "--json")
    assert compared.returncode == 0
    assert json.loads(compared.stdout)["counts"]["unchanged"] == 1


def test_a_baseline_gates_new_findings_only(
    assay: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BAD", "case-1=fail")
    assert assay("run", SUITE).returncode == 1
    made = assay("run", SUITE, "--write-baseline", "known.json")
    assert made.returncode == 0
    accepted = json.loads((tmp_path / "known.json").read_text())["accepted"]
    assert [entry["case"] for entry in accepted] == ["case-1"]
    known = assay("run", SUITE, "--baseline", "known.json", "--report", "junit=known.xml")
    assert known.returncode == 0
    assert "accepted by the baseline" in known.stdout
    assert ElementTree.parse(tmp_path / "known.xml").getroot().attrib["failures"] == "0"
    monkeypatch.setenv("BAD", "case-1=fail,case-2=fail")
    assert assay("run", SUITE, "--baseline", "known.json").returncode == 1
    monkeypatch.setenv("CHANGED", "case-1")
    monkeypatch.setenv("BAD", "case-1=fail")
    assert assay("run", SUITE, "--baseline", "known.json").returncode == 1
    monkeypatch.setenv("BAD", "")
    mended = assay("run", SUITE, "--baseline", "known.json")
    assert mended.returncode == 0
    assert "no longer" in mended.stdout


def test_a_baseline_can_be_made_where_the_configuration_names_it(
    assay: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "assay.toml").write_text('baseline = "known.json"\n')
    monkeypatch.setenv("BAD", "case-1=fail")
    assert assay("run", SUITE, "--write-baseline", "known.json").returncode == 0
    assert assay("run", SUITE).returncode == 0
    monkeypatch.setenv("BAD", "case-1=raise")
    assert "no longer" not in assay("run", SUITE).stdout


def test_a_baseline_of_samples_knows_what_was_wrong(
    assay: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CASES", "1")
    monkeypatch.setenv("FAILING", "1,2")
    assay("run", SUITE, "--ratio", "3/3", "--write-baseline", "known.json")
    accepted = json.loads((tmp_path / "known.json").read_text())["accepted"]
    assert [entry["code"] for entry in accepted] == ["failed: output"]


def test_a_finding_is_said_whatever_happens_to_its_reports(
    assay: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    fine = assay("run", SUITE, "--report", "junit=/proc/none.xml", "-q")
    assert fine.returncode == 3
    assert "4 of 4 cases passed" in fine.stdout
    monkeypatch.setenv("BAD", "case-1=fail")
    found = assay("run", SUITE, "--report", "junit=/proc/none.xml", "-q")
    assert found.returncode == 1
    assert "could not be written" in found.stderr
    unwritable = assay("run", SUITE, "--write-baseline", "/proc/none/known.json")
    assert unwritable.returncode == 3
    assert "the baseline cannot be written" in unwritable.stderr


@pytest.mark.parametrize(
    ("tail", "code"),
    [("| true", 1), ("> /dev/full", 3), (">&-", 1), ("2>&-", 1), ("<&-", 1)],
)
def test_where_the_output_goes_changes_no_finding(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tail: str, code: int
) -> None:
    monkeypatch.setenv("BAD", "case-1=fail")
    command = f"{sys.executable} -m assay run {SUITE} --json {tail}; exit ${{PIPESTATUS[0]}}"
    result = subprocess.run(["bash", "-c", command], cwd=tmp_path, capture_output=True, text=True)
    assert result.returncode == code, result.stderr
    assert "defect" not in result.stderr
    assert "Traceback" not in result.stderr


def test_a_baseline_does_not_accept_errors(
    assay: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BAD", "case-1=raise")
    assert assay("run", SUITE, "--write-baseline", "known.json").returncode == 3
    assert json.loads((tmp_path / "known.json").read_text())["accepted"] == []


@pytest.mark.real_start
def test_resume_runs_errors_and_changes_again(
    assay: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BAD", "case-1=raise,case-2=fail")
    assert assay("run", SUITE, "--out", "run").returncode == 1
    monkeypatch.setenv("LOG", str(tmp_path / "log"))
    monkeypatch.setenv("BAD", "")
    monkeypatch.setenv("CHANGED", "case-3")
    result = assay("runs", "resume", "run", "--json", "--trust")
    assert (tmp_path / "log").read_text().split() == ["case-1", "case-3"]
    assert "changed since and run again: case-3" in result.stderr
    assert list(outcomes(result).values()) == ["passed", "passed", "failed", "passed"]


@pytest.mark.parametrize("left", ["orphan", "thread"])
def test_what_a_task_leaves_behind_holds_up_nothing(
    assay: Command, monkeypatch: pytest.MonkeyPatch, left: str
) -> None:
    monkeypatch.setenv("BAD", f"case-1={left}")
    started_at = time.monotonic()
    assert assay("run", SUITE, "--out", "run", "--json").returncode == 0
    monkeypatch.setenv("BAD", "")
    assert assay("runs", "resume", "run", "--trust").returncode == 0
    assert time.monotonic() - started_at < 100


def test_no_name_acts_on_the_terminal(assay: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUFFIX", "\x1b]0;title\x07\u202e")
    assert assay("run", SUITE, "--out", "run").returncode == 0
    monkeypatch.setenv("CASES", "2")
    for words in (
        ("runs", "resume", "run", "--trust"),
        ("runs", "show", "run", "x"),
        ("report", "run"),
    ):
        result = assay(*words)
        assert "case-" in result.stdout + result.stderr or words[0] == "report"
        assert not set("\x1b\x07\u202e") & set(result.stdout + result.stderr)


def test_a_refused_resume_changes_nothing(
    assay: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BAD", "case-1=fail")
    assay("run", SUITE, "--write-baseline", "known.json")
    monkeypatch.setenv("CASES", "100")
    monkeypatch.setenv("PAUSE", "0.05")
    process = started(tmp_path, "run", str(SUITE), "--out", "run")
    wait_until((tmp_path / "run" / "index.sqlite").exists, process)
    refused = assay("runs", "resume", "run", "--baseline", "known.json", "--trust")
    process.kill()
    process.communicate()
    assert refused.returncode == 2
    assert "another process is writing this run" in refused.stderr
    assert not (tmp_path / "run" / "baseline.json").exists()


def test_a_torn_journal_is_repaired_and_said_so(
    assay: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert assay("run", SUITE, "--out", "run").returncode == 0
    journal = tmp_path / "run" / "journal.jsonl"
    journal.write_bytes(journal.read_bytes()[:-30])
    shown = assay("report", "run", "--format", "json")
    # The run had finished: what is left of it is not shown as the whole.
    assert shown.returncode == 2
    assert "the journal has 3 cases; the run had 4 when it finished" in shown.stderr
    monkeypatch.setenv("LOG", str(tmp_path / "log"))
    result = assay("runs", "resume", "run", "--json", "--trust")
    assert "the last line was torn by a crash" in result.stderr
    assert (tmp_path / "log").read_text().split() == ["case-3"]
    assert result.returncode == 0
    assert len(outcomes(result)) == 4


def test_a_finished_run_says_in_every_command_that_lines_are_gone_or_changed(
    assay: Command, tmp_path: Path
) -> None:
    assert assay("run", SUITE, "--out", "whole").returncode == 0
    lines = (tmp_path / "whole" / "journal.jsonl").read_bytes().splitlines(keepends=True)
    for name, changed in {
        "last": lines[:-1],
        "first": lines[1:],
        "edited": [lines[0].replace(b"passed", b"failed"), *lines[1:]],
        "reordered": [lines[1], lines[0], *lines[2:]],
        "emptied": [],
    }.items():
        shutil.copytree(tmp_path / "whole", tmp_path / name)
        (tmp_path / name / "journal.jsonl").write_bytes(b"".join(changed))
        (tmp_path / name / "index.sqlite").unlink(missing_ok=True)
        for words in (
            ("runs", "show", name),
            ("report", name, "--format", "markdown"),
            ("runs", "compare", "whole", name),
        ):
            told = assay(*words)
            assert told.returncode == 2, (name, words, told)
            assert "the journal" in told.stderr
            assert f"{name}/journal.jsonl" in told.stderr
    # What is missing at the end runs again; a line that was changed is never built upon.
    assert assay("runs", "resume", "last", "--trust").returncode == 0
    assert assay("runs", "show", "last").returncode == 0
    assert assay("runs", "resume", "edited", "--trust").returncode == 2


def started(tmp_path: Path, *words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "assay", *words],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # A Ctrl-C in a terminal reaches the whole group; here it must reach only the command.
        start_new_session=True,
    )


@pytest.mark.parametrize(
    ("sent", "code"),
    [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)],
    ids=["INT", "TERM", "HUP"],
)
@pytest.mark.parametrize("limit", [(), ("--time-limit", "30", "--jobs", "2")])
def test_an_interrupt_stops_cleanly_and_says_how_to_resume(
    assay: Command,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    limit: tuple[str, ...],
    sent: signal.Signals,
    code: int,
) -> None:
    log = tmp_path / "log"
    monkeypatch.setenv("LOG", str(log))
    monkeypatch.setenv("CASES", "200")
    monkeypatch.setenv("PAUSE", "0.05")
    process = started(tmp_path, "run", str(SUITE), "--out", "run", *limit)
    wait_until(lambda: log.exists() and log.read_text().count("\n") >= 5, process)
    process.send_signal(sent)
    _, told = process.communicate(timeout=PATIENCE)
    assert process.returncode == code
    assert "assay runs resume run" in told
    assert "Traceback" not in told
    finished = (tmp_path / "run" / "journal.jsonl").read_bytes().count(b"\n")
    assert finished >= 3
    log.unlink()
    monkeypatch.setenv("PAUSE", "0")
    resumed = assay("runs", "resume", "run", "--json", "--trust")
    assert resumed.returncode == 0
    assert len(log.read_text().split()) == 200 - finished
    assert len(outcomes(resumed)) == 200


def facts(report: dict[str, Any]) -> list[Any]:
    return [
        (case["id"], case["outcome"], case["fingerprint"], case["score"])
        for case in report["cases"]
    ]


def test_killed_at_random_moments_nothing_is_lost_or_doubled(
    assay: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CASES", "2000")
    monkeypatch.setenv("BAD", "case-7=fail,case-1500=fail,case-30=unverified")
    monkeypatch.setenv("PYTHONPATH", str(SUITE.parent.parent.parent))
    undisturbed = assay("run", SUITE, "--out", "undisturbed", "--json")
    assert undisturbed.returncode == 1
    script = str(SUITE.with_name("killing.py"))
    killed = [sys.executable, script, str(tmp_path / "run"), "20261115", "20"]
    result = subprocess.run(killed, capture_output=True, text=True, timeout=PATIENCE)
    assert result.stdout == "0\n", result.stderr
    ended = assay("report", "run", "--format", "json")
    assert facts(json.loads(ended.stdout)) == facts(json.loads(undisturbed.stdout))
    lines = (tmp_path / "run" / "journal.jsonl").read_bytes().splitlines()
    written = [json.loads(line)["record"]["id"] for line in lines]
    assert len(written) == len(set(written)) == 2000
