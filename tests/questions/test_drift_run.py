"""Drift is a run: kept, resumable, with an exit code, and shown by every report."""

from __future__ import annotations

import json
import os
import pickle
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as ET
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import assay
from assay.model import Outcome
from assay.questions import DriftPlan, make_request
from assay.runs import Run, start_run
from tests.conftest import Command
from tests.questions.shop import MODULE, PACKAGE, SOURCES, SUITE, make_releases, offer_releases
from tests.waiting import PATIENCE

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheels")
    make_releases(folder)
    return folder


@pytest.fixture(autouse=True)
def suite(tmp_path: Path, wheels: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    offer_releases(wheels, monkeypatch)
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "suite.yaml"
    path.write_text(SUITE)
    return path


def verdicts(run: Run, case: str) -> dict[str, str]:
    detail: Any = run.record(f"suite.yaml::{case}").detail
    return {version: one["verdict"] for version, one in detail["releases"].items()}


def parts(folder: Path) -> Counter[tuple[str, str]]:
    """Count the finished releases of questions that a journal holds."""
    lines = (folder / "journal.jsonl").read_text().splitlines()
    entries = [json.loads(line) for line in lines]
    return Counter((one["id"], one["key"]) for one in entries if one["kind"] == "part")


def test_all_releases_are_judged_by_a_few_and_by_the_same_proofs(suite: Path) -> None:
    run = assay.questions.drift(suite, releases="all", jobs=2)
    assert run.exit_code == 1
    method: Any = run.record("suite.yaml::method").detail
    assert [(one["before"], one["after"]) for one in method["flips"]] == [
        ("1.2.0", "1.3.0"),
        ("1.5.0", "1.6.0"),
    ]
    assert "A: FAILS → HOLDS" in method["flips"][0]["changed"]
    assert "B: HOLDS → GONE" in method["flips"][1]["changed"]
    seen = verdicts(run, "method")
    assert (seen["1.0.0"], seen["1.3.0"], seen["1.7.0"]) == ("Valid", "Ambiguous", "Gone")
    coupon = run.record("suite.yaml::coupon")
    assert coupon.outcome is Outcome.PASSED
    assert verdicts(run, "coupon") == {"1.0.0": "Valid", "1.7.0": "Valid"}
    assert "not looked at: 6 releases between equal ends" in coupon.reason
    assert run.record("suite.yaml::nicer").outcome is Outcome.UNVERIFIED
    # The provers were asked once, and nothing was written beside the suite.
    assert not (suite.parent / "proofs").exists()


def test_what_the_pinned_release_does_not_have_is_read_on_the_newest(suite: Path) -> None:
    question = f"Which of these is a method of `{MODULE}.Basket`?"
    options = '{A: "`lift`", B: "`carry`", C: "`haul`"}'
    suite.write_text(
        f"target: {PACKAGE}==1.2.0\nbenchmarks:\n- id: basket\n  question: {question}\n"
        f"  options: {options}\n  correct_answer: B\n"
    )
    run = assay.questions.drift(suite, releases=["1.2.0", "1.5.0", "1.7.0"], search=False)
    assert verdicts(run, "basket") == {"1.2.0": "Gone", "1.5.0": "Gone", "1.7.0": "Valid"}
    assert run.exit_code == 1


def test_a_list_is_looked_at_as_it_is_named(suite: Path) -> None:
    run = assay.questions.drift(suite, releases=["1.4.0", "1.0.0"], search=False, case="method")
    assert verdicts(run, "method") == {"1.0.0": "Valid", "1.4.0": "Ambiguous"}
    assert run.exit_code == 1
    assert run.record("suite.yaml::method").code == "flipped-1.4.0"
    same = assay.questions.drift(suite, releases=["1.0.0", "1.2.0"], case="method")
    assert (same.exit_code, same.passed) == (0, True)


def test_the_release_between_two_versions_is_found(suite: Path) -> None:
    run = assay.questions.drift(suite, releases="1.0.0,1.4.0", case="method")
    assert run.record("suite.yaml::method").code == "flipped-1.3.0"


def test_proofs_that_are_stored_are_the_ones_that_are_replayed(
    suite: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assay.questions.verify(suite, case=["method", "coupon"])
    monkeypatch.setattr("assay.questions.drift_plan.load_provers", lambda: ())
    run = assay.questions.drift(suite, releases="1.2.0,1.3.0", case=["method", "coupon"])
    assert verdicts(run, "method") == {"1.2.0": "Valid", "1.3.0": "Ambiguous"}
    assert verdicts(run, "coupon") == {"1.2.0": "Valid", "1.3.0": "Valid"}


def test_a_version_that_cannot_be_installed_is_named_and_is_no_flip(assay: Command) -> None:
    told = assay("questions", "drift", "suite.yaml", "--case", "coupon",
                 "--releases", "1.0.0,1.2.0,9.9.9", "--out", "run", "--quiet")  # fmt: skip
    assert told.returncode == 3, told.stderr
    with Run(Path("run")) as run:
        record = run.record("suite.yaml::coupon")
        assert record.outcome is Outcome.ERROR
        assert f"{PACKAGE} 9.9.9 could not be installed" in record.reason
    # What could be looked at is not looked at again.
    before = parts(Path("run"))
    assert assay("runs", "resume", "run", "--quiet").returncode == 3
    assert parts(Path("run")) == before


@pytest.mark.parametrize(
    ("asked", "complaint"),
    [
        ("1.0.0", "nothing to compare"),
        ("1.0.0,newest", "not a version"),
        (">=7", "in the range"),
    ],
)
def test_releases_that_cannot_be_compared_are_refused(
    assay: Command, asked: str, complaint: str
) -> None:
    told = assay("questions", "drift", "suite.yaml", "--releases", asked)
    assert told.returncode == 2
    assert complaint in told.stderr


def test_a_suite_of_which_nothing_is_decided_is_refused(assay: Command) -> None:
    told = assay("questions", "drift", "suite.yaml", "--case", "nicer", "--versions", "1.0.0,1.2.0")
    assert told.returncode == 2
    assert "nothing to compare" in told.stderr


def test_every_report_shows_the_run(assay: Command, suite: Path) -> None:
    suite.write_text(SUITE.replace("id: coupon", "id: <b>coupon|x</b>"))
    told = assay("questions", "drift", suite, "--releases", "1.2.0,1.3.0,1.7.0", "--no-search",
                 "--out", "run", "--report", "github=summary.md")  # fmt: skip
    assert told.returncode == 1, told.stderr
    assert ["suite.yaml::method", "Valid", "Ambiguous", "*", "Gone", "*"] in [
        line.split() for line in told.stdout.splitlines()
    ]
    assert "1 of 3 questions changed on 3 releases" in told.stdout
    reports = {
        name: assay("report", "run", "--format", name, check=True).stdout
        for name in ("terminal", "json", "markdown", "github", "junit", "html", "sarif")
    }
    assert Path("summary.md").read_text() == reports["github"]
    for name in ("markdown", "github"):
        assert "| `suite.yaml::method` | `Valid` | **`Ambiguous`** | **`Gone`** |" in reports[name]
        # Only what changed is in the table.
        assert "coupon" not in reports[name]
    printed = assay("runs", "resume", "run", "--json").stdout
    assert json.loads(printed)["totals"] == json.loads(reports["json"])["totals"] | {
        "seconds": json.loads(printed)["totals"]["seconds"]
    }
    values = json.loads(reports["json"])
    assert values["run"]["asked"]["releases"] == ["1.2.0", "1.3.0", "1.7.0"]
    assert values["cases"][0]["detail"]["releases"]["1.7.0"]["options"]["A"] == "GONE"
    tests = ET.fromstring(reports["junit"]).findall(".//testcase")
    assert [len(one.findall("failure")) for one in tests] == [1, 0, 0]
    page = reports["html"]
    assert '<th scope="col">1.3.0</th>' in page
    assert '<th scope="row" class="id">suite.yaml::&lt;b&gt;coupon|x&lt;/b&gt;</th>' in page
    assert '<td class="failed changed">Ambiguous <small>changed</small></td>' in page
    assert "<b>coupon" not in page
    found = json.loads(reports["sarif"])["runs"][0]["results"]
    assert [(one["ruleId"], one["level"]) for one in found] == [
        ("flipped", "error"),
        ("unproven", "note"),
    ]
    place = found[0]["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "suite.yaml"
    shown = assay("runs", "show", "run", "suite.yaml::method", check=True).stdout
    assert f"changed in {PACKAGE} 1.3.0 (last before: 1.2.0): Valid → Ambiguous" in shown
    same = assay("runs", "compare", "run", "run")
    assert (same.returncode, "unchanged: 3" in same.stdout) == (0, True)


def test_a_flip_that_is_known_is_accepted_until_another_comes(assay: Command) -> None:
    words = ("questions", "drift", "suite.yaml", "--case", "method", "--no-search", "--quiet")
    first = assay(*words, "--releases", "1.2.0,1.3.0", "--write-baseline", "known.json")
    assert first.returncode == 0, first.stderr
    assert assay(*words, "--releases", "1.2.0,1.3.0", "--baseline", "known.json").returncode == 0
    more = assay(*words, "--releases", "1.2.0,1.3.0,1.6.0", "--baseline", "known.json")
    assert more.returncode == 1


@pytest.mark.parametrize("ending", [signal.SIGKILL, signal.SIGINT])
def test_a_run_that_is_ended_in_the_middle_is_resumed_without_repeating_a_release(
    assay: Command, ending: signal.Signals
) -> None:
    folder = Path.cwd() / "run"
    words = ["questions", "drift", "suite.yaml", "--releases", "all", "--out", "run", "--jobs", "1"]
    process = subprocess.Popen(
        [sys.executable, "-m", "assay", *words],
        stderr=subprocess.PIPE,
        env=dict(os.environ),
        text=True,
    )
    deadline = time.monotonic() + PATIENCE
    journal = folder / "journal.jsonl"
    while not (journal.exists() and '"key":"1.0.0"' in journal.read_text().replace(" ", "")):
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.02)
    process.send_signal(ending)
    _, complaints = process.communicate(timeout=PATIENCE)
    assert process.returncode != 0
    if ending is signal.SIGINT:
        assert "what is finished is kept" in complaints
    with Run(folder) as unfinished:
        assert unfinished.manifest.finished is None
        assert not unfinished.passed
    kept = parts(folder)
    assert kept
    resumed = assay("runs", "resume", "run", "--quiet")
    assert resumed.returncode == 1, resumed.stderr
    assert set(parts(folder).values()) == {1}
    with Run(folder) as run:
        assert run.record("suite.yaml::method").code == "flipped-1.3.0-1.6.0"
        assert run.manifest.asked["releases"] == list(SOURCES)


def test_a_worker_in_another_process_makes_the_same_record(suite: Path) -> None:
    asked = make_request([suite], cases=["method"], jobs=1)
    plan = DriftPlan.of(asked, "1.2.0,1.3.0")
    Path("plan.pickle").write_bytes(pickle.dumps((plan, list(plan.cases()))))
    elsewhere = subprocess.run(
        [sys.executable, "-m", "tests.runs.elsewhere", "plan.pickle"],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert elsewhere.returncode == 0, elsewhere.stderr
    run = start_run(plan, out=Path("run"), runs=Path("runs")).run
    (row,) = run.rows()
    here = [row.id, row.outcome.value, row.code, row.fingerprint]
    assert json.loads(elsewhere.stdout.splitlines()[-1]) == [here]


def test_other_proofs_make_what_was_seen_void(assay: Command, suite: Path) -> None:
    words = ("questions", "drift", suite, "--case", "coupon", "--releases", "1.2.0,1.3.0")
    assay(*words, "--out", "run", "--quiet")
    before = parts(Path.cwd() / "run")
    assay("questions", "verify", suite, "--case", "coupon", "--quiet", check=True)
    again = assay("runs", "resume", "run")
    assert again.returncode == 0
    assert "changed since and run again: suite.yaml::coupon" in again.stderr
    after = parts(Path.cwd() / "run")
    assert after["suite.yaml::coupon", "1.2.0"] == before["suite.yaml::coupon", "1.2.0"] + 1
