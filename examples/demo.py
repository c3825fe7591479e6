"""`make demo`: runs Assay on the shipped examples; it must find what is planted, and only that."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import yaml

ROOT = Path(__file__).parent.parent
PLANTED = {"thousands only", "code, no sign"}
BROKEN = {"two-categories", "not-a-number", "no-such-file"}
PLANTED_MODES = {"text.keywords": 0.2, "structure.total.value": 0.1}
# Those that need nothing but what is installed with Assay itself.
QUESTIONS = [
    f"examples/questions/{name}.yaml" for name in ("pydantic", "api_understanding", "fix_error")
]


def assay(*words: str, show: bool = True) -> subprocess.CompletedProcess[str]:
    """Run a command, and show it and what it says."""
    command = [sys.executable, "-m", "assay", *words]
    result = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    if show:
        print(f"\n$ assay {shlex.join(words)}\n\n{result.stdout}", flush=True)
    return result


def main() -> None:
    """Run the examples and check what was found."""
    verify_questions()
    verify_submissions()
    run_evaluation()
    verify_agents()
    print(
        "Next: docs/questions.md for benchmark questions, docs/problems.md for programs,"
        " docs/agents.md for agents, docs/first-evaluation.md for functions."
    )


def verify_questions() -> None:
    """Prove every option of the example suite; its defects are listed in planted.yaml."""
    print(
        "A benchmark of 44 questions about pydantic, with defects planted among them: wrong keys,"
    )
    print(
        "two right options, dead names, a leaked repair. Every option is proven by running tests."
    )
    words = ["questions", "verify", *QUESTIONS, "--out", ".assay/demo-questions"]
    shutil.rmtree(ROOT / ".assay" / "demo-questions", ignore_errors=True)
    code = assay(*words).returncode
    report = json.loads((ROOT / ".assay" / "demo-questions" / "quality_report.json").read_text())
    found = {one["id"].partition("::")[2]: one["verdict"] for one in report["questions"]}
    planted = yaml.safe_load((ROOT / "examples/questions/planted.yaml").read_text())
    wrong = {
        name: verdict for name, verdict in found.items() if planted[name]["verdict"] != verdict
    }
    if code != 1 or wrong:
        raise SystemExit(f"the demo should have found what planted.yaml says, not {wrong}")
    accused = sum(verdict not in ("Valid", "Unproven") for verdict in found.values())
    print(
        f"{accused} defective questions were found, exactly those that were planted, and no other"
    )
    print("question was accused. One of them, with its evidence:")
    assay("questions", "show", f"{QUESTIONS[0]}::dump-mode-default", "--no-proofs")


def verify_submissions() -> None:
    """Run the example problem on a good solution and on a broken one."""
    print("A problem for programs: a ledger that reads entries and writes a report. Its reference")
    print("solution must pass every case; a broken one must fail those that its bugs touch.")
    problem = "examples/submissions/ledger"
    good = assay("submissions", "verify", "-s", problem, "-p", problem, "--quiet")
    words = ["-s", f"{problem}/checkpoint_1/broken", "-p", problem, "-c", "1"]
    broken = assay("submissions", "run-case", *words, show=False)
    failed = {case["id"] for case in json.loads(broken.stdout) if not case["passed"]}
    if (good.returncode, broken.returncode, failed) != (0, 1, BROKEN):
        raise SystemExit(f"the broken ledger should fail {sorted(BROKEN)}, not {sorted(failed)}")
    print(f"The broken one fails {', '.join(sorted(failed))}, and nothing else.\n")


def run_evaluation() -> None:
    """Run an evaluation written in Python."""
    print("A function that reads prices, eight prices, and what each should give. Two of them are")
    print("planted so that the function gets them wrong; Assay has to find these two, no others.")
    code = assay("run", "examples/evaluation/prices.py").returncode
    assay("report", "latest", "--format", "html", "--out", ".assay/demo.html")
    cases = json.loads(assay("report", "latest", "--format", "json", show=False).stdout)["cases"]
    found = {case["id"] for case in cases if case["outcome"] != "passed"}
    if code != 1 or found != PLANTED:
        raise SystemExit(f"the demo should have found {sorted(PLANTED)}, it found {sorted(found)}")
    print("Both planted bugs were found and nothing else was accused. The exit code was 1, so this")
    print("evaluation would have stopped a release. All the evidence: .assay/demo.html")


def verify_agents() -> None:
    """Talk to an agent that works, and to one that fails in two planted ways."""
    print("\nTwo agents that sell tickets. One is always right; the other loses the destination in")
    print("two of ten conversations and adds up wrongly in one. Assay has to find out both shares.")
    good, tired = "examples/agents/kiosk.hocon", "examples/agents/tired_kiosk.hocon"
    codes = [
        assay("agents", "verify", good).returncode,
        assay("agents", "verify", tired, "--all-samples").returncode,
    ]
    assay("agents", "assess", tired)
    told = json.loads(assay("agents", "assess", tired, "--json", show=False).stdout)
    found = {mode["check"]: mode["share"] for mode in told["tests"][0]["modes"]}
    if codes != [0, 1] or found != PLANTED_MODES:
        raise SystemExit(f"the demo should have found {PLANTED_MODES}, it found {found}")
    print("The tired agent was right in 14 of 20 conversations, too few for the 16 it needs, and")
    print("fails in exactly the two planted ways.")


if __name__ == "__main__":
    main()
