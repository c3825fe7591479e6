"""The input of lint rules for suites, the rules about reading, and the words of questions."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from assay.findings import UNREADABLE, Check, Finding, Rules
from assay.questions.model import Question, SuiteEntry
from assay.questions.suite import entries
from assay.questions.suite.suite import Suite

# Whether a module has a name (or, for None, exists): yes, no, or unknown.
Resolve: TypeAlias = Callable[[str, str | None], bool | None]


@dataclass(frozen=True)
class Linted:
    """The suites that are linted together, and how names of their targets can be looked up."""

    suites: Sequence[Suite]
    resolvers: Mapping[Path, Resolve] = field(default_factory=dict)
    """By the path of the suite; one whose target is not at hand has none."""

    def questions(self) -> Iterator[tuple[Suite, SuiteEntry, Question]]:
        """Yield every multiple-choice question."""
        for suite in self.suites:
            for entry in suite.entries:
                if isinstance(entry.question, Question):
                    yield suite, entry, entry.question


RULES: Rules[Linted] = Rules()
rule = RULES.rule


def _report_problems(code: str) -> Check[Linted]:
    def check(linted: Linted) -> Iterator[Finding]:
        for suite in linted.suites:
            yield from (problem for problem in suite.problems if problem.code == code)

    return check


rule(
    UNREADABLE,
    "error",
    "A file or a question cannot be read",
    "The file is not valid YAML or JSON, a field is missing, of the wrong type or given twice, or "
    "a file that the question names does not exist. Nothing can be verified until it is fixed.",
)(_report_problems(UNREADABLE))

rule(
    entries.DUPLICATE_ID,
    "error",
    "Two questions of one file have the same id",
    "A question is addressed and its proofs are stored by its id. Give each its own.",
)(_report_problems(entries.DUPLICATE_ID))

rule(
    entries.MISSING_SECTION,
    "error",
    "The code a question refers to is missing",
    "`code_snippet_ref` names a file or a section that does not exist, so the question cannot be "
    "judged. Name an existing one, or add the markers `# --8<-- [start:x]` and `# --8<-- [end:x]`.",
)(_report_problems(entries.MISSING_SECTION))

rule(
    entries.UNKNOWN_KEY,
    "warning",
    "A key looks like a misspelled one",
    "Keys that are not known are not read. This one is so like a known key that it is probably "
    "meant to be that.",
)(_report_problems(entries.UNKNOWN_KEY))


_CODE = re.compile(r"```.*?```|``.+?``|`[^`\n]+`", re.DOTALL)
_QUOTED = re.compile(r"""(?<!\w)[rbuf]{0,2}(?:"[^"\n]*"|'[^'\n]*'(?!\w))""", re.IGNORECASE)
_BOTH = (
    r"(?:both\s+)?(?:options?\s+)?\(?[A-Z]\)?(?:\s*,\s*\(?[A-Z]\)?)*,?\s+(?:and|&)\s+\(?[A-Z]\)?"
)
_COMPOUND = re.compile(
    rf"(?:none|all|any|neither|both|either)\s+of\s+(?:the\s+)?(?:above|these|them|options|others)"
    rf"(?:\s+options)?|none|{_BOTH}|(?:only\s+)?\(?[A-Z]\)?\s+only|only\s+\(?[A-Z]\)?",
    re.IGNORECASE,
)
_NONE = re.compile(
    r"none(?:\s+of\s+(?:the\s+)?(?:above|these|them|options|others)\b.*)?", re.IGNORECASE
)
_CODE_MARKS = re.compile(r"[_=(){}\[\]<>@#]|\w\.\w|::|->")


def prose(text: str) -> str:
    """Return the text with blanks in place of what stands in backticks or quotes."""
    without_code = _CODE.sub(lambda match: " " * len(match[0]), text)
    return _QUOTED.sub(lambda match: " " * len(match[0]), without_code)


def blank_quotes(text: str) -> str:
    """Return the text with code but without quoted strings, in which anything may stand."""
    return _QUOTED.sub(lambda match: " " * len(match[0]), text)


def is_code(text: str) -> bool:
    """Tell whether a text looks like code or an identifier, where letters' case has a meaning."""
    bare = text.strip()
    return bool(_CODE_MARKS.search(bare)) or len(bare.split()) == 1


def normalise(text: str) -> str:
    """Return the text without blanks, backticks, a full stop, and without case in prose."""
    if "\n" in text.strip():
        return "\n".join(line.rstrip() for line in text.strip("\n").splitlines())
    bare = " ".join(text.replace("`", "").split()).rstrip(".").rstrip()
    return bare if is_code(bare) else bare.casefold()


def is_compound(option: str) -> bool:
    """Tell whether an option speaks about other options ("None of the above", "Both A and C")."""
    return _COMPOUND.fullmatch(_plain(option)) is not None


def is_none_of_them(option: str) -> bool:
    """Tell whether an option says that none of the others is right."""
    return _NONE.fullmatch(_plain(option)) is not None


def _plain(option: str) -> str:
    return " ".join(option.split()).strip("`'\". ")
