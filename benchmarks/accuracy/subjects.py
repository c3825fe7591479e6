"""What accuracy is measured on: suites with labels, and the target each is proven against."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import yaml

from assay.questions.model import Question
from assay.questions.selection import Selection, select
from assay.questions.verification import Work
from benchmarks.accuracy import examples
from benchmarks.accuracy.labels import (
    Labels,
    adk_labels,
    own_labels,
    read_labels,
    unlabelled,
)

_HERE = Path(__file__).parent
_REPOSITORY = _HERE.parents[1]
DATA = _REPOSITORY.parent / "shared" / "data" / "questions"
ADK_TARGET = "google-adk==1.20.0"
ADK_SUITE = Path("configure_adk_features_mc", "benchmark.yaml")
API_SUITE = Path("api_understanding", "benchmark.yaml")
EXAMPLES = tuple(f"example-{name}" for name in examples.SUITES)
OWN_SUITES = ("httpx", "jinja2", "attrs", "click", "traps")
ROUNDS = _HERE / "rounds"
ROUND_SUITES = tuple(
    f"round-{folder.name}-{suite.stem}"
    for folder in sorted(ROUNDS.iterdir())
    for suite in sorted((folder / "suites").glob("*.yaml"))
)


@dataclass(frozen=True)
class Subject:
    """A suite, its target where the suite names none, and its labels; API questions have none."""

    name: str
    suite: Path
    targets: tuple[str, ...] = ()
    labels: Labels = field(default_factory=dict)

    def work(self, proofs: Path) -> list[Work]:
        """Its questions, with an empty folder for proofs: nothing stored helps the prover."""
        selection = Selection(
            (str(self.suite),), str(self.suite.parent), self.targets, str(proofs / self.name)
        )
        work = select(selection)
        choices = [one.entry.id for one in work if isinstance(one.entry.question, Question)]
        if wrong := unlabelled(choices, self.labels):
            raise SystemExit(f"{self.suite} and its labels do not match: {', '.join(wrong)}")
        return work


def own_subjects() -> list[Subject]:
    """The suites written for this benchmark, on light targets."""
    return [
        Subject(name, _HERE / "suites" / f"{name}.yaml", labels=own_labels(name))
        for name in OWN_SUITES
    ]


def round_subjects() -> list[Subject]:
    """Fresh questions, written and labelled by people who had not seen the prover."""
    found = []
    for name in ROUND_SUITES:
        _, number, stem = name.split("-", 2)
        labels = yaml.safe_load((ROUNDS / number / "labels.yaml").read_text("utf-8"))
        suite = ROUNDS / number / "suites" / f"{stem}.yaml"
        found.append(Subject(name, suite, labels=read_labels(labels[stem])))
    return found


def example_subjects() -> list[Subject]:
    """The example suites, without the proofs that are stored beside them."""
    return [
        Subject(
            f"example-{name}",
            examples.FOLDER / f"{name}.yaml",
            labels=examples.example_labels(name),
        )
        for name in examples.SUITES
    ]


def adk_subjects(data: Path) -> list[Subject]:
    """The public suites on google-adk, where their folder is given or found."""
    found = [
        Subject("google-adk", data / ADK_SUITE, (ADK_TARGET,), adk_labels()),
        Subject("api_understanding", data / API_SUITE, (ADK_TARGET,)),
    ]
    return [one for one in found if one.suite.is_file()]


def subjects(data: Path, only: Sequence[str]) -> list[Subject]:
    """All of them, or those named."""
    found = [*own_subjects(), *round_subjects(), *example_subjects(), *adk_subjects(data)]
    return [one for one in found if not only or one.name in only]
