"""`python -m benchmarks.records COMMIT`: does this version make the same records as an earlier one?

Both versions run every example that needs nothing but what `make setup` installs. Compared are ids,
outcomes, codes and scores of cases and the verdict on every attribute. Then this version opens the
runs of the earlier one: its totals must be the same, and `assay runs resume` must find them done.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
LEDGER, TODO, WEAK = (f"examples/submissions/{name}" for name in ("ledger", "todo_api", "weak"))
SUITES = [f"examples/questions/{n}.yaml" for n in ("pydantic", "api_understanding", "fix_error")]
RUNS = {
    "questions": ["questions", "verify", *SUITES],
    "ledger": ["submissions", "verify", "-s", LEDGER, "-p", LEDGER],
    "broken": ["submissions", "verify", "-s", f"{LEDGER}/checkpoint_1/broken", "-p", LEDGER, "-c1"],
    "todo_api": ["submissions", "verify", "-s", TODO, "-p", TODO],
    "weak": ["submissions", "verify", "-s", WEAK, "-p", WEAK],
    "prices": ["run", "examples/evaluation/prices.py"],
    "kiosk": ["agents", "verify", "examples/agents/kiosk.hocon"],
    "tired": ["agents", "verify", "examples/agents/tired_kiosk.hocon", "--all-samples"],
}


def main() -> None:
    """Compare, print a line for every difference and a line for every run; exit 1 if any differ."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("commit", help="the earlier version")
    commit = parser.parse_args().commit
    with tempfile.TemporaryDirectory(prefix="assay-records-") as name:
        folder = Path(name)
        tree = folder / "tree"
        subprocess.run(["git", "worktree", "add", "-q", "--detach", tree, commit], cwd=ROOT)
        try:
            differences = compare_versions(tree, folder)
        finally:
            subprocess.run(["git", "worktree", "remove", "--force", tree], cwd=ROOT, check=True)
    print(f"{differences} differences")
    raise SystemExit(1 if differences else 0)


def compare_versions(tree: Path, folder: Path) -> int:
    """Run everything with both versions and return how many differences there are."""
    subprocess.run(["make", "--quiet", "setup"], cwd=tree, check=True, stdout=subprocess.DEVNULL)
    shutil.copytree(ROOT / "examples", folder / "examples")
    (folder / "pyproject.toml").touch()  # the project that the example agents belong to
    count = 0
    for name, words in RUNS.items():
        before, after = folder / "before" / name, folder / "after" / name
        old = run_assay(tree, [*words, "--out", str(before)], folder)
        new = run_assay(ROOT, [*words, "--out", str(after)], folder)
        differences = compare(read_records(before), read_records(after))
        if old.returncode != new.returncode:
            differences.append(f"exit code {old.returncode} became {new.returncode}: {new.stderr}")
        differences += compare_opened(tree, before, folder)
        for difference in differences:
            print(f"{name}: {difference}")
        print(f"{name}: {len(read_records(after))} records, {len(differences)} differences")
        count += len(differences)
    return count


def run_assay(tree: Path, words: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """Run the `assay` of a tree in the folder of the examples."""
    command = [str(tree / ".venv/bin/python"), "-m", "assay", *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True)


def read_records(run: Path) -> dict[str, dict[str, Any]]:
    """Return what must not differ about the records of a run, by id."""
    records = {}
    for line in (run / "journal.jsonl").read_text(encoding="utf-8").splitlines():
        entry = json.loads(line)
        record = entry.get("record", {})
        if entry["kind"] == "record" and "/flaky/" not in record["id"]:  # those toss a coin
            records[record["id"]] = {
                "outcome": record["outcome"],
                "code": record["code"],
                "reports": [_comparable(report) for report in record["reports"]],
            }
    return records


def _comparable(report: dict[str, Any]) -> dict[str, Any]:
    verdicts = {
        name: result.get("is_correct")
        for name, result in report["results"].items()
        if isinstance(result, dict)
    }
    return {"id": report["id"], "score": report["score"], "verdicts": verdicts}


def compare(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    """Return a line for every record that is missing, new or different."""
    return [
        f"{name}: {before.get(name)} became {after.get(name)}"
        for name in sorted(before.keys() | after.keys())
        if before.get(name) != after.get(name)
    ]


def compare_opened(tree: Path, run: Path, folder: Path) -> list[str]:
    """Return how the totals differ when this version opens a run of the earlier one."""
    words = ["report", str(run), "--format", "json"]
    old, new = run_assay(tree, words, folder), run_assay(ROOT, words, folder)
    if new.returncode:
        return [f"the old run does not open: {new.stderr.strip()}"]
    totals = [json.loads(each.stdout)["totals"] for each in (old, new)]
    lines = [] if totals[0] == totals[1] else [f"totals {totals[0]} became {totals[1]}"]
    resumed = run_assay(ROOT, ["runs", "resume", str(run)], folder)
    if resumed.returncode not in (0, 1):
        lines.append(f"the old run is not resumed: {resumed.stderr.strip()}")
    return lines


if __name__ == "__main__":
    main()
