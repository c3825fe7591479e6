"""Runs an evaluation in child processes, kills each at a random moment, then lets one end.

Started by test_run.py as a process of its own: it forks, so that twenty lives cost one start.
Arguments: the run folder, the seed, the number of kills. Prints how the last one ended.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import time
from pathlib import Path

from assay.evaluation import EvaluationPlan
from assay.runs import Manifest, create_folder, run_cases
from tests.e2e.suite import make


def live(folder: Path) -> int:
    """A child that goes on with the run."""
    child = os.fork()
    if child == 0:
        run_cases(EvaluationPlan(make(), jobs=1), folder)
        os._exit(0)
    return child


def main() -> None:
    """Kill as often as asked, then wait for an undisturbed end."""
    folder, seed, kills = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    moments = random.Random(seed)
    create_folder(folder, Manifest(subject="evaluation"))
    journal = folder / "journal.jsonl"
    for _ in range(kills):
        child = live(folder)
        # A random amount of journal later it dies; so every kill is in the middle of work.
        goal = journal.stat().st_size + moments.randrange(1, 60_000)
        while journal.stat().st_size < goal and os.waitpid(child, os.WNOHANG) == (0, 0):
            time.sleep(0.0005)
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        assert os.waitstatus_to_exitcode(status) == -signal.SIGKILL
    _, status = os.waitpid(live(folder), 0)
    print(os.waitstatus_to_exitcode(status))


if __name__ == "__main__":
    main()
