"""The content of a suite: questions as provers see them and, separately, their keys.

Code that makes or runs proofs gets a `Question`, which has no key and no explanation, so the types
guarantee that it stays blind. `SuiteEntry` holds both, for the code that judges.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from assay.documents import Place
from assay.model import compute_fingerprint


@dataclass(frozen=True)
class Snippet:
    """The code a question refers to: its section, dedented, and the imports that section uses.

    `helpers` are the definitions of the same file that the section uses.
    """

    code: str
    imports: tuple[str, ...] = ()
    name: str = ""
    helpers: tuple[str, ...] = ()

    @property
    def program(self) -> str:
        """The code with all that it needs of its file."""
        return "\n".join([*self.imports, *self.helpers, self.code])


@dataclass(frozen=True)
class Question:
    """A multiple-choice question without its key: options by letter, in their order."""

    id: str
    text: str
    options: Mapping[str, str]
    snippet: Snippet | None = None

    def fingerprint(self) -> str:
        """Changes with the stem, the options or the resolved snippet, and with nothing else."""
        return compute_fingerprint(self.text, dict(self.options), self._code())

    def option_fingerprint(self, option: str) -> str:
        """Changes with what one option's proof depends on; the other options are not part of it."""
        return compute_fingerprint(self.text, self.options[option], self._code())

    def _code(self) -> list[str] | None:
        snippet = self.snippet
        return None if snippet is None else [snippet.code, *snippet.imports, *snippet.helpers]


@dataclass(frozen=True)
class ApiAnswer:
    """One accepted answer of an API question: its short form and the full names it stands for."""

    text: str
    names: tuple[str, ...]


@dataclass(frozen=True)
class ApiQuestion:
    """A question answered by a name of the library; the accepted names are what can be tested."""

    id: str
    text: str
    answers: tuple[ApiAnswer, ...]
    category: str = ""

    def fingerprint(self) -> str:
        return compute_fingerprint(self.text, [[one.text, *one.names] for one in self.answers])


@dataclass(frozen=True)
class FixQuestion:
    """A program to be repaired: its test, the broken file and the repaired one, as text.

    `module` is the name under which the test imports the file that is to be repaired. `companions`
    are the other local files that the test needs, as pairs of relative path and text.
    """

    id: str
    name: str
    description: str
    test: str
    unfixed: str
    fixed: str
    module: str
    requirements: tuple[str, ...] = ()
    error_output: str = ""
    companions: tuple[tuple[str, str], ...] = ()

    def fingerprint(self) -> str:
        return compute_fingerprint(
            self.description,
            self.test,
            self.unfixed,
            self.fixed,
            list(self.requirements),
            [list(companion) for companion in self.companions],
        )


AnyQuestion: TypeAlias = Question | ApiQuestion | FixQuestion


@dataclass(frozen=True)
class Key:
    """What only the judge sees: the letter that is keyed as right, and why."""

    answer: str
    explanation: str = ""


@dataclass(frozen=True)
class SuiteEntry:
    """One question of a suite with its key and the place of each of its fields."""

    question: AnyQuestion
    key: Key | None
    file: Path
    places: Mapping[str, Place] = field(default_factory=dict)

    @property
    def id(self) -> str:
        return self.question.id

    def place(self, name: str = "id") -> Place:
        """Return where a field stands, such as `question`, `options.B` or `correct_answer`."""
        return self.places.get(name) or self.places.get("") or Place(self.file, 1)
