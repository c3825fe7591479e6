"""Answers of API questions, looked up by execution in real libraries and in a package of traps."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from assay.model import CaseRecord
from assay.questions.api_proofs import (
    prove_existence,
    prove_member,
    prove_possible_existence,
    prove_possible_member,
    read_answer,
)
from assay.questions.api_understanding import (
    AnswerFinding,
    AnswerState,
    Lookup,
    api_record,
    judge_answers,
)
from assay.questions.model import ApiAnswer, ApiQuestion, SuiteEntry
from assay.questions.proof_runners import ProofRunners
from assay.questions.proofs.proof_file import read_proof
from assay.questions.verdict.verdict import Verdict
from assay.sandbox import Target, inspect_proof
from tests.sandbox.support import build, write_files

LIBRARIES = (
    "httpx==0.28.1", "attrs==25.4.0", "click==8.3.1", "jinja2==3.1.6", "flask==3.1.3",
    "marshmallow==4.4.0", "msgspec==0.22.0", "packaging==25.0", "sortedcontainers==2.4.0",
    "pydantic==2.12.5", "humanize==4.13.0",
)  # fmt: skip
HARBOR = {
    "pyproject.toml": '[project]\nname = "harbor"\nversion = "2.0.0"\ndependencies = []\n',
    "src/harbor/__init__.py": """
import sys
from harbor.ships import Ship as Vessel, Ship
try:
    from harbor.radar import Radar
except ImportError:
    pass
if sys.platform == "win32":
    def open_port(number): ...
""",
    "src/harbor/radar.py": "import absent_dependency\nclass Radar:\n    range_km = 3\n",
    "src/harbor/crane.py": "from harbor.radar import Radar\nclass Crane: ...\n",
    "src/harbor/ships.py": '''
import dataclasses, enum, functools, typing

class Ship:
    """Carries freight."""
    __slots__ = ("hull", "__dict__")
    def __init__(self, tonnage, *, flag="none"):
        self.tonnage = tonnage
        self._crew = []
    @property
    def crew(self):
        return self._crew
    @functools.cached_property
    def manifest(self):
        return {}
    @classmethod
    def build(cls, yard): ...
    @staticmethod
    def rate(speed): ...
    async def sail(self, *, destination): ...

class Tanker(Ship):
    """A ship for liquids."""
    def pump(self, litres): ...

class Tug:
    def __init__(self, **settings):
        vars(self).update(settings)

class Buoy:
    def __getattr__(self, key):
        return key

class Signal(enum.Enum):
    GREEN = "green"

class Berth(typing.TypedDict):
    length: int

class Slot(typing.NamedTuple):
    row: int

@dataclasses.dataclass
class Cargo:
    weight: float
    seal: dataclasses.InitVar[int] = 0

def dock(ship, berth=None): ...
def charter(ship, **terms): ...
MAX_DRAFT: int = 12
''',
    "src/harbor/customs.py": """
from harbor.ships import Cargo, Signal
def stamp(cargo):
    cargo.inspector = "someone"
    setattr(cargo, "duty", 3)
""",
}


Answers = tuple[tuple[str, Sequence[str]], ...]


@pytest.fixture(scope="module")
def verify(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Verifies one API question against all the libraries and the package of traps."""
    folder = write_files(tmp_path_factory.mktemp("harbor"), HARBOR)
    target = Target(requirements=LIBRARIES, sources=(folder,))
    loop = asyncio.new_event_loop()
    runners = ProofRunners({target: build(target)}, jobs=2)

    async def record(answers: Answers) -> CaseRecord:
        accepted = tuple(ApiAnswer(text, tuple(names)) for text, names in answers)
        text = "Which method does it?" if answers in METHODS else "Which one does it?"
        question = ApiQuestion("one", text, accepted)
        entry = SuiteEntry(question, None, Path("suite.yaml"))
        return await api_record("one", entry, question, runners.of(target))

    async def run_all(*cases: Answers) -> list[CaseRecord]:
        return await asyncio.gather(*map(record, cases))

    def run(*answers: tuple[str, Sequence[str]]) -> CaseRecord:
        if answers not in found:
            found.update(zip(cases, loop.run_until_complete(run_all(*cases)), strict=True))
        return found[answers]

    found: dict[Answers, CaseRecord] = {}
    # All at once: the runner is busy all the time then.
    cases = [
        *(((one, (name,)),) for one, name in (*SOUND, *DOUBTFUL)),
        *(((one, names),) for one, names, *_ in WRONG),
        NOTED,
        BESIDE,
    ]
    yield run
    loop.run_until_complete(runners.__aexit__(None, None, None))
    loop.close()


def verdict_of(record: CaseRecord) -> str:
    assert isinstance(record.detail, dict)
    return str(record.detail["verdict"])


def states(record: CaseRecord) -> list[dict[str, str]]:
    assert isinstance(record.detail, dict)
    return [one["names"] for one in record.detail["accepted"]]


SOUND = [
    # The class, function or constant itself, also in the forms of a template.
    ("AsyncClient", "httpx.AsyncClient"),
    ("class AsyncClient(BaseClient):", "httpx.AsyncClient"),
    ("`Environment`", "jinja2.Environment"),
    ("TypeAdapter", "pydantic.type_adapter.TypeAdapter"),
    ("define", "attrs.define"),
    ("@validate_call", "pydantic.validate_call"),
    ("MAX_DRAFT", "harbor.ships.MAX_DRAFT"),
    ("harbor.ships", "harbor.ships.Ship"),
    ("from httpx import Timeout", "httpx.Timeout"),
    # Members, fields and parameters of all kinds.
    ("follow_redirects", "httpx.Client"),
    ("raise_for_status", "httpx.Response"),
    ("raise_for_status()", "httpx.Response"),
    ("response.raise_for_status()", "httpx.Response"),
    ("Response.raise_for_status", "httpx.Response"),
    ("def raise_for_status(self) -> Response:", "httpx.Response"),
    ("is_success", "httpx.Response"),
    ("autoescape", "jinja2.Environment"),
    ("autoescape=True", "jinja2.Environment"),
    ("from_string", "jinja2.Environment"),
    ("model_dump", "pydantic.BaseModel"),
    ("context", "pydantic.ValidationInfo"),
    ("test_client", "flask.Flask"),
    ("url_prefix", "flask.Blueprint"),
    ("load_default", "marshmallow.fields.Field"),
    ("many", "marshmallow.Schema"),
    ("exclude", "marshmallow.Schema"),
    ("hide_input", "click.Option"),
    ("invoke_without_command", "click.Group"),
    ("is_prerelease", "packaging.version.Version"),
    ("irange", "sortedcontainers.SortedList"),
    ("encode", "msgspec.json.Encoder"),
    ("frozen", "attrs.define"),
    ("kw_only", "attrs.field"),
    ("intcomma", "humanize"),
    ("minimum_unit", "humanize.precisedelta"),
    ("hull", "harbor.ships.Ship"),
    ("tonnage", "harbor.ships.Ship"),
    ("tonnage: float", "harbor.ships.Ship"),
    ("flag", "harbor.Vessel"),
    ("_crew", "harbor.ships.Ship"),
    ("crew", "harbor.ships.Ship"),
    ("manifest", "harbor.ships.Ship"),
    ("yard", "harbor.ships.Ship"),
    ("async def sail(self, *, destination)", "harbor.ships.Ship"),
    ("destination", "harbor.ships.Ship"),
    ("GREEN", "harbor.ships.Signal"),
    ("Signal.GREEN", "harbor.ships.Signal"),
    ("length", "harbor.ships.Berth"),
    ("row", "harbor.ships.Slot"),
    ("weight", "harbor.ships.Cargo"),
    ("seal", "harbor.ships.Cargo"),
    ("berth", "harbor.ships.dock"),
    ("dock", "harbor.ships"),
    ("customs", "harbor"),
]

# Nothing may be concluded: what is asked for may be there, or be meant in another way.
DOUBTFUL = [
    ("forbid_unknown_fields", "msgspec.Struct"),  # a keyword of the statement `class`
    ("speed_limit", "harbor.ships.Tug"),  # takes any keyword
    ("colour", "harbor.ships.Buoy"),  # makes attributes up
    ("terms_of_trade", "harbor.ships.charter"),
    ("inspector", "harbor.ships.Cargo"),  # set from elsewhere
    ("duty", "harbor.ships.Cargo"),  # by setattr
    ("pump", "harbor.ships.Ship"),  # a subclass has it
    ("Tanker", "harbor.ships.Ship"),  # a class of the target that is not listed
    ("Ship", "harbor.ships.Tanker"),
    ("LlmShip.sail", "harbor.ships.Ship"),
    ("range_km", "harbor.radar.Radar"),  # an extra is not installed
    ("Radar", "harbor.Radar"),
    ("Crane", "harbor.crane.Crane"),
    ("open_port", "harbor.open_port"),  # on another platform
    ("HARBOR_TOKEN", "harbor.ships.Ship"),  # a variable of the environment
    ("green", "harbor.ships.Signal"),  # a value
    ("True", "harbor.ships.Ship"),
    ("str", "harbor.ships.Ship"),
    ("12", "harbor.ships.Ship"),
    ("carries freight", "harbor.ships.Ship"),
    ("freight", "harbor.ships.Ship"),  # only said about it
    ("ship = Ship(1)\nship.sail()", "harbor.ships.Ship"),
    ("port", "absent_dependency.Port"),  # nothing of it is installed
    ("port", "N/A"),
    ("user", "flask.Flask"),
    ("verify_ssl", "jinja2.Environment.extend"),
    ("colour", "click.Command"),  # a constructor that passes keywords on
]

WRONG = [
    ("SyncClient", ("httpx.SyncClient",), "httpx.SyncClient does not exist in", "httpx."),
    ("Timeout", ("httpx.timeouts.Timeout",), "does not exist", "httpx.Timeout"),
    ("BaseSettings", ("pydantic.settings.BaseSettings",), "does not exist", ""),
    ("raise_on_status", ("httpx.Response",), "has no `raise_on_status`", "raise_for_status"),
    ("Response.raise_on_status()", ("httpx.Response",), "has no", "raise_for_status"),
    ("def is_prereleased(self):", ("packaging.version.Version",), "has no", "is_prerelease"),
    (
        "tonage",
        (
            "harbor.ships.Ship",
            "harbor.Vessel",
        ),
        "has no `tonage`",
        "tonnage",
    ),
    ("wieght", ("harbor.ships.Cargo",), "has no `wieght`", "weight"),
    ("berths", ("harbor.ships.dock",), "has no `berths`", "berth"),
    ("PURPLE", ("harbor.ships.Signal",), "has no `PURPLE`", ""),
    ("lenght", ("harbor.ships.Berth",), "has no `lenght`", "length"),
    (
        "Submarine",
        (
            "harbor.ships.Submarine",
            "harbor.Submarine",
        ),
        "do not exist",
        "",
    ),
    (
        "Submarine",
        (
            "harbor.ships.Submarine",
            "harbor.ships.Ship",
        ),
        "has no `Submarine`",
        "",
    ),
    ("irange_keys", ("sortedcontainers.SortedList",), "has no", "irange"),
    ("embargo", ("harbor.customs",), "has no `embargo`", ""),
]


METHODS = [(("raise_on_status", ("httpx.Response",)),)]
NOTED = (("tonnage", ("harbor.fleet.Ship", "harbor.ships.Signal", "harbor.Ship")),)
BESIDE = (("tonnage", ("harbor.Ship",)), ("tonage", ("harbor.Ship",)))


@pytest.mark.parametrize(("answer", "name"), SOUND)
def test_an_answer_that_is_there_holds(verify: Any, answer: str, name: str) -> None:
    record = verify((answer, (name,)))
    assert verdict_of(record) == "Unproven"
    assert states(record) == [{name: "holds"}], record.reason
    assert "whether it is what is asked takes a model or a person" in record.reason


@pytest.mark.parametrize(("answer", "name"), DOUBTFUL)
def test_a_doubtful_absence_accuses_nobody(verify: Any, answer: str, name: str) -> None:
    record = verify((answer, (name,)))
    assert verdict_of(record) == "Unproven", record.reason


@pytest.mark.parametrize(("answer", "names", "reason", "nearest"), WRONG)
def test_an_answer_that_is_not_there_is_incorrect(
    verify: Any, answer: str, names: tuple[str, ...], reason: str, nearest: str
) -> None:
    record = verify((answer, names))
    assert verdict_of(record) == "Incorrect", record.reason
    assert reason in record.reason
    assert f"nearest: {nearest}" in record.reason if nearest else True


def test_an_answer_that_one_of_its_classes_has_is_not_wrong(verify: Any) -> None:
    record = verify(*NOTED)
    assert verdict_of(record) == "Unproven"
    assert record.detail["notes"] == ["dead-name: harbor.fleet.Ship; nearest: harbor.Ship"]


def test_a_dead_answer_beside_a_live_one_is_a_note(verify: Any) -> None:
    record = verify(*BESIDE)
    assert verdict_of(record) == "Unproven"
    assert "harbor.Ship has no `tonage`" in record.reason
    (note,) = record.detail["notes"]
    assert note.startswith("dead-answer: harbor.Ship has no `tonage` in")
    assert note.endswith("nearest: tonnage")


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("BaseAgent", ("BaseAgent",)),
        ("`a.b.C`", ("a", "b", "C")),
        ("C.method()", ("C", "method")),
        ("method(x, y=1)", ("method",)),
        ("@define", ("define",)),
        ("class A(B[int], metaclass=M):", ("A",)),
        ("class A", ("A",)),
        ("@staticmethod\ndef register(pattern: str, kind)", ("register",)),
        ("async def run(self, *args) -> None:", ("run",)),
        ("limit: Optional[int] = None", ("limit",)),
        ("limit=3", ("limit",)),
        ("Tools = Union[A, B]", ("Tools",)),
        ("Tools: TypeAlias = A | B", ("Tools",)),
        ("from a.b import C", ("a", "b", "C")),
        ("import a.b", ("a", "b")),
        ("None", None),
        ("ValueError", None),
        ("'text'", None),
        ("3.5", None),
        ("use the class A", None),
        ("a = 1\nb = 2", None),
        ("", None),
    ],
)
def test_every_form_of_an_answer_is_read(text: str, name: tuple[str, ...] | None) -> None:
    assert read_answer(text) == name


@pytest.mark.parametrize(
    "proof",
    [
        prove_existence("1", "shop.inner.Thing", "shop"),
        prove_possible_existence("1", "shop.inner.Thing", "shop"),
        prove_member("1", "shop.Thing", "price"),
        prove_possible_member("1", "shop.Thing", "price", "shop"),
    ],
)
def test_the_proofs_are_fit_to_be_read(proof: Any) -> None:
    file = read_proof(proof.source)
    assert file.controls
    assert file.has_counterpart
    assert inspect_proof(proof.source).objections == ()
    assert proof.claim.fresh is (proof.claim.kind != "member")


@pytest.mark.parametrize(
    "found", [*product(AnswerState, repeat=1), *product(AnswerState, repeat=2)]
)
def test_only_an_answer_that_none_of_its_classes_can_have_is_wrong(
    found: tuple[AnswerState, ...],
) -> None:
    lookups = tuple(Lookup(f"shop.Name{place}", one) for place, one in enumerate(found))
    refuted = all(one in (AnswerState.LACKS, AnswerState.GONE) for one in found)
    one = AnswerFinding("price", lookups)
    verdict, reason, notes = judge_answers([one], "shop==1")
    assert verdict is (Verdict.INCORRECT if refuted else Verdict.UNPROVEN)
    if AnswerState.HOLDS in found:
        assert "the answer exists" in reason
        assert len(notes) == found.count(AnswerState.GONE)
    other = AnswerFinding("cost", (Lookup("shop.Other", AnswerState.OPEN),))
    assert judge_answers([one, other], "shop==1")[0] is Verdict.UNPROVEN


def test_without_any_name_nothing_is_said() -> None:
    assert judge_answers([], "shop==1")[0] is Verdict.UNPROVEN
    assert judge_answers([AnswerFinding("price", ())], "shop==1")[0] is Verdict.UNPROVEN
