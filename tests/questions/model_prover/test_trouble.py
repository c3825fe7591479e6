"""When the model fails: outages, silence, a spent budget, Ctrl-C, a missing extra."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.models.scripted_server import Received, Reply, ScriptedServer, fails, hangs
from tests.questions.model_prover.conftest import KEYS, Run
from tests.questions.model_prover.scripted import Case, Model, text_of
from tests.questions.model_prover.test_workflow import (
    BOTH,
    PROOFS,
    question,
    suite,
    verdicts,
    verify,
)
from tests.waiting import PATIENCE, wait_until

ANSWERS: dict[str, Any] = {"reader": BOTH, "engineers": PROOFS}


def test_outages_pass_and_silence_is_an_error_that_a_resume_repeats(
    assay_here: Run, tmp_path: Path
) -> None:
    folder = tmp_path / "work"
    (folder / "suite.json").write_text(
        suite(question("busy", "mark-busy"), question("silent", "mark-silent"))
    )
    (folder / "assay.toml").write_text("[models]\ntimeout = 12.0\npatience = 0.0\n")
    model = Model(Case("mark-busy", **ANSWERS), Case("mark-silent", **ANSWERS))
    trouble = {0: 429, 2: 500}

    def script(received: Received) -> Reply:
        if "mark-silent" in text_of(received):
            return model(received) if recovered else hangs()
        status = trouble.get(sum("mark-busy" in text_of(one) for one in server.requests) - 1)
        return fails(status, retry_after=0) if status else model(received)

    recovered = False
    with ScriptedServer(script) as server:
        first = verify(assay_here, server, "--jobs", "1")
        found = verdicts(folder)
        # Two failures and two answers, then a question nobody answers.
        busy = [one for one in server.requests if "mark-busy" in text_of(one)]
        silent = [one for one in server.requests if "mark-silent" in text_of(one)]
        recovered = True
        resumed = assay_here("runs", "resume", "latest")
        after = verdicts(folder)
        asked_again = server.requests[len(busy) + len(silent) :]
    assert first.code == 3, first
    assert found["busy"]["verdict"] == "Valid", found["busy"]["reason"]
    assert len(busy) == 4
    assert found["silent"]["verdict"] == "Error"
    assert "within 12 s" in found["silent"]["reason"]
    assert len(silent) == 1
    assert "Traceback" not in found["silent"]["reason"]
    assert "adk" not in found["silent"]["reason"]
    assert resumed.code == 0, resumed
    assert after["silent"]["verdict"] == "Valid"
    assert all("mark-silent" in text_of(one) for one in asked_again)
    assert len(asked_again) == 2


def test_a_budget_ends_the_run_and_what_was_paid_is_not_paid_again(
    assay_here: Run, tmp_path: Path
) -> None:
    folder = tmp_path / "work"
    (folder / "suite.json").write_text(
        suite(question("first", "mark-first"), question("second", "mark-second"))
    )
    model = Model(Case("mark-first", **ANSWERS), Case("mark-second", **ANSWERS))
    with ScriptedServer(model) as server:
        # Every answer is 15 tokens: the second question is in the middle when they are used up.
        stopped = verify(assay_here, server, "--jobs", "1", "--max-tokens", "45")
        used = server.calls
        resumed = assay_here("runs", "resume", "latest")
        found = verdicts(folder)
    assert stopped.code == 3, stopped
    assert "the model has used 45 of the 45 tokens it may use" in stopped.err
    assert "assay runs resume" in stopped.err
    assert used == 3
    assert resumed.code == 0, resumed
    assert {one["verdict"] for one in found.values()} == {"Valid"}
    assert server.calls == 4


def real_command(folder: Path, cache: Path, *words: str, **environment: str) -> Any:
    """The command in a process of its own."""
    kept = {name: value for name, value in os.environ.items() if name not in KEYS}
    return subprocess.Popen(
        [sys.executable, "-m", "assay", *words],
        cwd=folder,
        env={**kept, "ASSAY_CACHE": str(cache), **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_an_interrupt_leaves_no_folder_behind(tmp_path: Path, cache: Path) -> None:
    (tmp_path / "suite.json").write_text(suite(question("one", "mark-one")))
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    model = Model(Case("mark-one", BOTH, hangs()))
    words = ("questions", "verify", "suite.json", "--model", "scripted", "--model-url")
    with ScriptedServer(model) as server:
        process = real_command(tmp_path, cache, *words, server.url, TMPDIR=str(temporary))
        wait_until(lambda: model.of("proof_engineer"), process)
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert "assay runs resume" in told
    assert "Traceback" not in told
    assert not list(temporary.iterdir())


BLOCK = """\
import sys


class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("litellm", "mcp") or name.startswith("google.adk"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


sys.meta_path.insert(0, Absent())
"""


def test_without_the_extra_it_is_said_what_to_install_and_without_a_model_nothing_is_needed(
    tmp_path: Path, cache: Path
) -> None:
    (tmp_path / "suite.json").write_text(suite(question("one", "mark-one")))
    (tmp_path / "blocked").mkdir()
    (tmp_path / "blocked" / "sitecustomize.py").write_text(BLOCK)
    blocked = {"PYTHONPATH": str(tmp_path / "blocked")}
    words = ("questions", "verify", "suite.json")
    refused = real_command(tmp_path, cache, *words, "--model", "gemini-2.5-pro", "--model-url",
                           "http://127.0.0.1:9/v1", **blocked)  # fmt: skip
    _, told = refused.communicate(timeout=PATIENCE)
    assert refused.returncode == 3
    assert "google.adk, which is not installed" in told
    assert "assaykit[model]" in told
    assert "pip install 'google-adk" in told
    assert not (tmp_path / ".assay").exists()
    # Whatever imports google.adk would fail here.
    without = real_command(tmp_path, cache, *words, **blocked)
    out, told = without.communicate(timeout=PATIENCE)
    assert without.returncode == 0, told
    assert "1 Unproven" in out
