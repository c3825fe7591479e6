"""The tools of a proof engineer: its own folder, and proofs that are run in the sandbox.

There is no shell. Files have plain names and are in the folder; only the proof runner executes
them. A proof is accepted by the same rules as one that a person wrote.
"""

from __future__ import annotations

import ast
import re
import shutil
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from assay.errors import InputError
from assay.questions.model import Question
from assay.questions.model_prover.tasks import Tasks, VerificationTask, proof_of
from assay.questions.proof_runners import TargetRunner
from assay.questions.proofs.accept import check_source
from assay.questions.proofs.claims import Grounds, Proof, proof_name
from assay.questions.proofs.proving import Trial, try_proof
from assay.questions.verdict.option_findings import Truth
from assay.sandbox import Status

_OUTPUT = 1_500
# Where an object lies in memory differs from run to run, and what is asked must not.
_ADDRESS = re.compile(r"\b0x[0-9a-f]{6,}\b")


@dataclass(frozen=True)
class TrialResult:
    """A proof, what came of it, and `feedback`: what its author needs to know to do better.

    Without a trial it was refused before it was run.
    """

    proof: Proof
    feedback: str
    trial: Trial | None = None

    @property
    def is_settled(self) -> bool:
        """Whether the proof decides its claim, one way or the other."""
        return self.trial is not None and self.trial.settled.truth in (Truth.TRUE, Truth.FALSE)


async def attempt(question: Question, proof: Proof, runner: TargetRunner) -> TrialResult:
    """Lint, control, both sides and the twin, as for every proof; nothing is stored."""
    try:
        check_source(question, proof)
    except InputError as error:
        return TrialResult(proof, error.what)
    trial = await try_proof(proof, runner.proof_runner, modules=runner.modules, question=question)
    return TrialResult(proof, _feedback(trial), trial)


def _feedback(trial: Trial) -> str:
    truth = trial.settled.truth
    if truth in (Truth.TRUE, Truth.FALSE):
        head = f"settled: the claim is {truth.value}"
    else:
        head = f"not settled: {trial.settled.reason}"
    return without_addresses("\n".join([head, *_tests(trial)]))


def without_addresses(text: str) -> str:
    """Return a text of a test as it is in every run."""
    return _ADDRESS.sub("0x…", text)


def _tests(trial: Trial) -> list[str]:
    """Return each test of the proof: how it ended, and why if it did not pass."""
    lines = []
    for test in trial.outcome.tests if trial.outcome else ():
        lines.append(f"{test.name}: {test.status.value}")
        if test.status is not Status.PASSED and test.message:
            lines += [f"  {line}" for line in test.message[:_OUTPUT].splitlines()]
        if test.output.strip():
            lines += [f"  | {line}" for line in test.output[:_OUTPUT].splitlines()]
    return lines


PREFIX = "assay_verify_"
_NAME = re.compile(r"[A-Za-z_]\w{0,80}\.py")
_LONGEST = 40_000
# What reads texts about the library instead of running it.
_DOCUMENTATION = frozenset({"__doc__", "getdoc", "getsource", "getsourcelines", "getcomments"})


def new_folder() -> Path:
    """Return a folder for the files of one question."""
    return Path(tempfile.mkdtemp(prefix=PREFIX))


def remove_folder(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)


def file_of(task: VerificationTask, tasks: Tasks) -> str:
    """Return the file in which the proof of a task is to be."""
    return proof_name(task.option, tasks.of(task.option).index(task) + 1)


class EngineerTools:
    """The files and proofs of one option; its methods are the tools of a proof engineer."""

    def __init__(
        self,
        folder: Path,
        question: Question,
        option: str,
        tasks: Tasks,
        runner: TargetRunner,
    ) -> None:
        self._folder = folder
        self._question = question
        self._option = option
        self._runner = runner
        self._all = tasks
        self._tasks = {file_of(task, tasks): task for task in tasks.of(option)}
        self.settled: dict[str, Trial] = {}
        self.refused: dict[str, str] = {}
        self.given_up: str | None = None

    @property
    def is_done(self) -> bool:
        """Whether every claim is settled, or the engineer has given up."""
        return self.given_up is not None or self.settled.keys() == self._tasks.keys()

    @property
    def proofs(self) -> tuple[Proof, ...]:
        return tuple(trial.proof for trial in self.settled.values())

    def why_open(self) -> str:
        """Return why a claim is not settled, for the report."""
        if self.given_up is not None:
            return f"the proof engineer gave up: {self.given_up}"
        left = [name for name in self._tasks if name not in self.settled]
        told = next((self.refused[name] for name in left if name in self.refused), "")
        return told or "the proof engineer wrote no proof that was run"

    def write_file(self, path: str, content: str) -> dict[str, Any]:
        """Write a file of your workshop, in place of what was there.

        Args:
            path: Its name, such as test_option_A.py; no folders.
            content: The whole text of the file.

        Returns:
            Whether it was written.
        """
        problem = _unfit_name(path)
        if problem or len(content) > _LONGEST:
            return {"error": problem or f"the file is longer than {_LONGEST} characters"}
        (self._folder / path).write_text(content, "utf-8", errors="replace")
        return {"written": path}

    def read_file(self, path: str) -> dict[str, Any]:
        """Read a file of your workshop.

        Args:
            path: Its name, such as test_option_A.py.

        Returns:
            Its text.
        """
        text = self._text(path)
        return {"error": text[1]} if isinstance(text, tuple) else {"content": text}

    async def run_proof(self, path: str, fresh: bool = False) -> dict[str, Any]:
        """Execute a proof in the sandbox against the installed library and say what it settles.

        Args:
            path: The file of the claim, such as test_option_A.py.
            fresh: True to start from an interpreter that has imported nothing of the library, as
                claims about imports need it.

        Returns:
            `settled` with the truth of the claim, or `refused` with the reason; both with what
            each test did.
        """
        if path not in self._tasks:
            wanted = ", ".join(self._tasks)
            return {"error": f"{path!r} is not the file of a claim: these are {wanted}"}
        text = self._text(path)
        if isinstance(text, tuple):
            return {"error": text[1]}
        tried = await attempt(self._question, self._proof(path, text, fresh), self._runner)
        if tried.trial is None or not tried.is_settled:
            self.settled.pop(path, None)
            self.refused[path] = tried.feedback.partition("\n")[0].removeprefix("not settled: ")
            return {"refused": tried.feedback}
        self.settled[path] = tried.trial
        left = [name for name in self._tasks if name not in self.settled]
        return {"settled": tried.feedback, "still_open": left}

    def give_up(self, reason: str) -> dict[str, Any]:
        """End the work on this option because no test can decide it.

        Args:
            reason: One sentence on why.

        Returns:
            That it is noted.
        """
        self.given_up = " ".join(reason.split())[:500] or "no reason was given"
        return {"noted": "the option stays unproven"}

    def _proof(self, path: str, text: str, fresh: bool) -> Proof:
        proof = proof_of(self._tasks[path], self._all, text)
        grounds = Grounds.DOCUMENTED if _reads_documentation(text) else Grounds.EXECUTED
        claim = replace(proof.claim, grounds=grounds, fresh=fresh or proof.claim.fresh)
        return replace(proof, claim=claim)

    def _text(self, path: str) -> str | tuple[None, str]:
        problem = _unfit_name(path)
        if problem:
            return None, problem
        try:
            return (self._folder / path).read_text("utf-8")
        except FileNotFoundError:
            return None, f"there is no file {path!r} yet: write it first"


def _unfit_name(path: str) -> str:
    if _NAME.fullmatch(path) and path not in ("conftest.py", "sitecustomize.py"):
        return ""
    return f"{path!r} cannot be a file here: give a plain name such as test_option_A.py"


def _reads_documentation(source: str) -> bool:
    try:
        nodes = list(ast.walk(ast.parse(source)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    names = (getattr(node, "attr", None) or getattr(node, "id", None) for node in nodes)
    return any(name in _DOCUMENTATION for name in names)
