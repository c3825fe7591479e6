"""Addresses of questions: `FILE::CASE`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from assay.errors import InputError, nearest
from assay.questions.model import Entry
from assay.questions.suite.problems import FATAL
from assay.questions.suite.suite import Suite, read_suite

_MARK = "::"


@dataclass(frozen=True)
class Address:
    """A suite file and the id of one of its questions."""

    file: Path
    case: str

    def __str__(self) -> str:
        return f"{self.file}{_MARK}{self.case}"


def parse_address(text: str) -> Address:
    """The parts of an address; an InputError if it has not both."""
    file, mark, case = text.partition(_MARK)
    if not (file and mark and case):
        advice = "write it as FILE::CASE, say suite.yaml::first_question"
        raise InputError(f"{text!r} addresses no question", advice=advice)
    return Address(Path(file), case)


def find_case(text: str) -> Entry:
    """The entry of an address; an InputError names the nearest id on a miss."""
    return find_in_suite(text)[1]


def find_in_suite(text: str) -> tuple[Suite, Entry]:
    """The same with the suite it is in."""
    address = parse_address(text)
    if not address.file.is_file():
        raise InputError("there is no such file", where=str(address.file))
    suite = read_suite(address.file)
    _refuse_lost(suite, address.case)
    for entry in suite.entries:
        if entry.id == address.case:
            return suite, entry
    raise InputError(
        f"there is no question {address.case!r}",
        where=str(address.file),
        advice=nearest(address.case, (entry.id for entry in suite.entries)),
    )


def _refuse_lost(suite: Suite, case: str) -> None:
    """Refuse a file that cannot be read and a question that cannot be told; not its neighbours."""
    for problem in suite.problems:
        if problem.code in FATAL and problem.case in (None, case):
            raise problem.error()
