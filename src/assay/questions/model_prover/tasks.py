"""Verification tasks: parses the claim analyst's proposals and reports actionable errors."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from assay.questions.model import Question
from assay.questions.proofs.claims import MODELLED, Claim, Proof, Relation, proof_name
from assay.questions.verdict.compounds import read_compounds

MOST_PER_OPTION = 4
_LONGEST = 2_000
_FENCE = re.compile(r"```(?:json)?\s*\n(.*?)```", re.DOTALL)
_LETTER = re.compile(r"(?:option\s+)?[\"'(]?(\w+)[\"').:]?", re.IGNORECASE)
_LISTS = ("claims", "tasks")

Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=_LONGEST)]


class TaskType(StrEnum):
    """What the analyst expects of the option's claim; it is about the option, never about a key."""

    POSITIVE = "positive"  # that it is true
    NEGATIVE = "negative"  # that it is not


class VerificationTask(BaseModel):
    """One claim about one option, and how it could be tested.

    `claim` says what the option says, in positive form, whatever the analyst thinks of it: its
    proof has a side that passes only if it is true and one that passes only if it is not, so that
    a wrong `type` decides nothing. Without a `relation` the only claim about an option is
    equivalent to it, and one of several is necessary.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    option: Text = Field(description="The letter of the option.")
    type: TaskType = Field(description="positive: expected to be true; negative: to be false.")
    claim: Text = Field(description="What the option says about the library, in positive form.")
    hypothesis: Text = Field(description="What a test would observe, and why.")
    code_snippet_hint: str = Field(
        "", max_length=_LONGEST, description="The few lines that the test is about."
    )
    relation: Relation | None = Field(
        None,
        description="necessary: false refutes the option; sufficient: true confirms it; "
        "equivalent: both.",
    )
    fresh: bool = Field(False, description="True for claims about imports.")


@dataclass(frozen=True)
class TaskProblem:
    """What is wrong with an analyst's output; with an option, only that option is concerned."""

    text: str
    option: str | None = None


@dataclass(frozen=True)
class Tasks:
    """What could be read of an analyst's output, and what could not."""

    tasks: tuple[VerificationTask, ...] = ()
    problems: tuple[TaskProblem, ...] = ()

    def of(self, option: str) -> tuple[VerificationTask, ...]:
        return tuple(task for task in self.tasks if task.option == option)

    def error_text(self) -> str:
        """Return an error message for a retry; empty if the output is valid."""
        return "\n".join(problem.text for problem in self.problems)

    def reasons(self, options: Iterable[str]) -> dict[str, str]:
        """Return why these options have no claim, where they have none."""
        general = next((one.text for one in self.problems if one.option is None), "")
        own = {one.option: one.text for one in self.problems if one.option is not None}
        return {
            option: own.get(option) or general or f"no claim was made about option {option}"
            for option in options
            if not self.of(option)
        }


def read_tasks(output: Any, question: Question, options: Sequence[str] | None = None) -> Tasks:
    """Return the tasks in an output: JSON text or its value, a list or an object that holds one.

    `options` are those that need claims; by default all that are not derived from others. Claims
    about other options are ignored.
    """
    compounds = read_compounds(question)
    ordinary = [one for one in question.options if one not in compounds]
    wanted = ordinary if options is None else [one for one in options if one in ordinary]
    items = _parse_list(output)
    if isinstance(items, str):
        return Tasks(problems=(TaskProblem(items),))
    tasks: list[VerificationTask] = []
    problems: list[TaskProblem] = []
    for number, item in enumerate(items):
        read = _task(item, f"claims[{number}]", question)
        if isinstance(read, VerificationTask):
            tasks += [read] if read.option in wanted and read not in tasks else []
        else:
            problems += read
    problems += _check_counts(tasks, wanted, {problem.option for problem in problems})
    return Tasks(tuple(tasks), tuple(problems))


def _parse_list(output: Any) -> list[Any] | str:
    """Return the list in an output, or what is wrong with it."""
    if isinstance(output, str):
        fenced = _FENCE.search(output)
        try:
            output = json.loads(fenced[1] if fenced else output)
        except ValueError as error:
            return f"the claims are not JSON: {error}"
    if isinstance(output, dict):
        output = next((output[name] for name in _LISTS if name in output), output)
    if not isinstance(output, list):
        return "the claims must be a JSON list of objects, one or more per option"
    return output or "the list of claims is empty"


def _task(item: Any, where: str, question: Question) -> VerificationTask | list[TaskProblem]:
    if not isinstance(item, dict):
        return [
            TaskProblem(f"{where}: must be an object, not {json.dumps(item, default=str)[:60]}")
        ]
    letter = _letter(item.get("option"), question)
    try:
        task = VerificationTask.model_validate({**item, **({"option": letter} if letter else {})})
    except ValidationError as error:
        return [TaskProblem(f"{where}.{_message(one)}", letter) for one in error.errors()]
    if letter is None:
        known = ", ".join(question.options)
        return [
            TaskProblem(f"{where}.option: there is no option {task.option!r}; there are {known}")
        ]
    return task


def _letter(given: Any, question: Question) -> str | None:
    """Return the option letter: `a`, `A)` and `Option A` mean A if there is an A."""
    found = _LETTER.fullmatch(given.strip()) if isinstance(given, str) else None
    if found is None:
        return None
    letters = {letter.upper(): letter for letter in question.options}
    return letters.get(found[1].upper())


def _message(error: Any) -> str:
    path = ".".join(map(str, error["loc"]))
    message = error["msg"][:1].lower() + error["msg"][1:]
    given = json.dumps(error["input"], default=str)[:60] if error["type"] != "missing" else ""
    return f"{path}: {message}" + (f", not {given}" if given else "")


def _check_counts(
    tasks: Sequence[VerificationTask], wanted: Sequence[str], faulty: set[str | None]
) -> list[TaskProblem]:
    counts = Counter(task.option for task in tasks)
    missing = [one for one in wanted if not counts[one] and one not in faulty]
    many = [one for one in wanted if counts[one] > MOST_PER_OPTION]
    return [
        *(TaskProblem(f"option {one} has no claim", one) for one in missing),
        *(
            TaskProblem(f"option {one} has {counts[one]} claims; at most {MOST_PER_OPTION}", one)
            for one in many
        ),
    ]


def claim_of(task: VerificationTask, *, is_alone: bool) -> Claim:
    """Return the claim of a task; `is_alone` says that its option has no other."""
    relation = task.relation or (Relation.EQUIVALENT if is_alone else Relation.NECESSARY)
    statement = " ".join(task.claim.split()).rstrip(".")
    return Claim(task.option, statement, relation, kind=MODELLED, fresh=task.fresh)


def proof_of(task: VerificationTask, tasks: Tasks, source: str) -> Proof:
    """Return a proof engineer's text for a task as a proof, not yet verified."""
    own = tasks.of(task.option)
    claim = claim_of(task, is_alone=len(own) == 1)
    return Proof(claim, proof_name(task.option, own.index(task) + 1), source, MODELLED)
