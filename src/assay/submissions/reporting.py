"""What is said of a whole submission: `evaluation.json`, and the array that `run-case` prints."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from assay.documents import replace_file
from assay.model import MISTAKE, CaseRecord, Outcome, VerifierReport, to_json
from assay.runs import Gate, Run, write_gate
from assay.submissions.policies import DEFAULT, Counted, judge
from assay.submissions.records import UNREADABLE, Home

EVALUATION = "evaluation.json"


def write_evaluation(run: Run, problem: str, policy: str) -> Path:
    """Judge a finished run by its policy and write `evaluation.json` into its folder."""
    gate = judge(policy, list(_counted(run)))
    if policy != DEFAULT:
        # The default is what holds for every run, baseline included: it needs no gate.
        write_gate(run.path, gate)
    path = run.path / EVALUATION
    replace_file(path, [json.dumps(evaluation(run, problem, gate), indent=2).encode() + b"\n"])
    return path


def _counted(run: Run) -> Iterator[Counted]:
    for row in run.rows():
        home = Home(**run.read_packed(row)["detail"])
        yield Counted(home.type, row.outcome, run.is_known(row))


def evaluation(run: Run, problem: str, gate: Gate) -> dict[str, Any]:
    """Outcomes by group, pass and total counts by type, and the policy."""
    checkpoints: dict[str, Any] = {}
    totals = _tally()
    by_type: dict[str, dict[str, int]] = {}
    coded: dict[str, list[str]] = {UNREADABLE: [], MISTAKE: []}
    for _, packed in run.all_packed():
        home, outcome = Home(**packed["detail"]), packed["outcome"]
        if packed["code"] in coded:
            coded[packed["code"]].append(packed["id"])
        groups = checkpoints.setdefault(home.checkpoint, {"groups": {}})["groups"]
        group = groups.setdefault(home.group or "(set-up)", {"type": home.type, **_tally()})
        for tally in (totals, by_type.setdefault(home.type or "(set-up)", _tally()), group):
            tally["total"] += 1
            tally[outcome] += 1
    return {
        "problem": problem,
        "run": run.name,
        "policy": gate.model_dump(),
        "totals": totals,
        # Failed because the verifier could not read them; errors that the author has to correct.
        "unreadable": coded[UNREADABLE],
        "mistakes": coded[MISTAKE],
        "types": by_type,
        "checkpoints": checkpoints,
    }


def _tally() -> dict[str, int]:
    return {"total": 0, **{outcome.value: 0 for outcome in Outcome}}


def case_values(record: CaseRecord, *, is_full: bool) -> dict[str, Any]:
    """One element of the array of `run-case`, as JSON."""
    if not record.reports:
        # Cases that could not be had are told like a case, so that no reader passes over them.
        home = record.detail if isinstance(record.detail, dict) else {}
        about = {"id": record.id, "group": home.get("group"), "score": 0.0, "passed": False}
        return {**about, "outcome": record.outcome.value, "error": record.reason, "results": {}}
    report = record.reports[0]
    score = {"score": report.calculate_score(), "passed": report.did_pass()}
    if is_full:
        about = report.model_dump(mode="json", exclude={"results", "case"})
        about |= {"results": _results(report), "case": to_json(report.case)}
        return {**about, **score, "outcome": report.outcome.value}
    short: dict[str, Any] = {"id": report.id, "group": report.group, **score}
    if not report.did_pass():
        short |= {"outcome": report.outcome.value, "results": _wrong_results(report)}
        if report.error is not None:
            short["error"] = report.error
    return short


def _results(report: VerifierReport) -> dict[str, Any]:
    return {name: to_json(dict(found.__dict__)) for name, found in report.results.items()}


def _wrong_results(report: VerifierReport) -> dict[str, Any]:
    """Return what is wrong or undecided, then of what is right only that it is.

    What nobody judged is left out, but for a standard error that may say what went wrong.
    """
    judged = {name: found for name, found in report.results.items() if found.weight}
    short: dict[str, Any] = {
        name: to_json(dict(found.__dict__))
        for name, found in judged.items()
        if not found.is_correct
    }
    for name, found in judged.items():
        if found.is_correct:
            short[name] = {"attribute": name, "is_correct": True, "weight": found.weight}
    stderr = report.results.get("stderr")
    if stderr is not None and "stderr" not in judged and stderr.actual:
        short["stderr"] = {"attribute": "stderr", "actual": to_json(stderr.actual)}
    return short
