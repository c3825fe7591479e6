"""An example of a package that adds one of each kind of plugin to Assay."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from assay.agents.connections import Answer, Kind, Message
from assay.checks import failed, passed
from assay.documents import Place
from assay.findings import Finding, Rule
from assay.model import CaseResult
from assay.questions.proof_runners import Attempt
from assay.runs import Plan, Progress, Run, run_cases
from assay.submissions.adapters import AdapterType
from assay.submissions.adapters.cli import CliRunner
from assay.submissions.cases import BaseCase
from assay.submissions.environments import EnvironmentFile, EnvironmentType


def palindrome(actual: Any, expected: Any, *, ignore_case: bool = False) -> Any:
    """The text reads the same backwards, or does not, as expected."""
    text = str(actual).lower() if ignore_case else str(actual)
    is_one = text == text[::-1]
    return passed() if is_one == expected else failed(f"{text!r} is the wrong way round")


def report_names(run: Run) -> Iterator[str]:
    """The names of all cases, one per line."""
    for row in run.rows():
        yield f"{row.id}\n"


def _short_questions(linted: Any) -> Iterator[Finding]:
    for _, entry, question in linted.questions():
        if len(question.text) < 10:
            yield Finding("short-question", "the question is short", entry.place(), case=entry.id)


SHORT_QUESTION: Rule[Any] = Rule(
    "short-question", "warning", "A short question", "Say more.", _short_questions
)


def _greetings(file: Any) -> Iterator[Finding]:
    if "hello" not in str(file.interactions[0].text):
        yield Finding("no-greeting", "nobody says hello", Place(file.path, 1))


NO_GREETING: Rule[Any] = Rule("no-greeting", "note", "No greeting", "Say hello.", _greetings)


def _readme(folder: Path) -> Iterator[Finding]:
    if not (folder / "README.md").exists():
        yield Finding("no-readme", "there is no README.md", Place(folder / "config.yaml", 1))


NO_README: Rule[Any] = Rule("no-readme", "note", "No README", "Write one.", _readme)


class Parrot:
    """A connection, and its only session, that says what it is told."""

    async def session(self) -> Parrot:
        return self

    async def ask(self, message: Message) -> Answer:
        return Answer(text=f"{message.text}! {message.text}!")

    async def close(self) -> None:
        """Hold nothing."""


PARROT = Kind("parrot", "says what it is told", lambda settings: Parrot())


class Nobody:
    """A prover that understands no question, and says that it was asked."""

    name = "nobody"

    async def prove(self, question: Any, options: Sequence[str], runner: Any) -> Attempt:
        sys.stderr.write("nobody was asked\n")
        return Attempt()


def make_prover() -> Nobody:
    return Nobody()


def run_counted(plan: Plan, folder: Path, progress: Progress | None) -> None:
    """Run the cases here, and say so."""
    sys.stderr.write(f"counting engine: {plan.manifest.subject}\n")
    run_cases(plan, folder, progress)


class LinesRunner(CliRunner):
    """Gives a program its arguments as lines of its standard input."""

    async def run(self, case: BaseCase) -> CaseResult:
        fed = {"arguments": [], "stdin": case.arguments}
        return await super().run(case.model_copy(update=fed))


LINES = AdapterType("lines", LinesRunner, case_keys=("arguments",))


class ShellEnvironment(EnvironmentType):
    """Starts `entry.sh` by a shell, with the greeting that the environment file has."""

    def variables(self, environment: EnvironmentFile) -> dict[str, str]:
        return {"GREETING": str(environment.options.get("greeting", "hello"))}

    def start_command(
        self, environment: EnvironmentFile, entry_file: str, folder: Path
    ) -> list[str]:
        return ["sh", f"{entry_file}.sh"]

    def missing_entry(
        self, environment: EnvironmentFile, entry_file: str, folder: Path
    ) -> str | None:
        return None if (folder / f"{entry_file}.sh").is_file() else f"there is no {entry_file}.sh"


SHELL = ShellEnvironment()
