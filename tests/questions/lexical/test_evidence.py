"""What is evidence and what is not, each decision seen through the real sandbox.

The package asked about has a member of every sort that is easily overlooked, a module that needs
what is not installed, and a submodule that is there only once it was imported.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from assay.questions.verdict.stems import classify
from assay.questions.verdict.verdict import Verdict, judge
from assay.sandbox import Environment, Target
from tests.questions.lexical.conftest import settling
from tests.questions.lexical.support import Settle, question, states
from tests.sandbox.support import build, write_files

FILES = {
    "pyproject.toml": (
        '[project]\nname = "beacon-works"\nversion = "1.0"\ndependencies = ["pydantic>=2.9"]\n'
    ),
    "src/beacons/__init__.py": (
        '"""Beacons."""\n'
        "from beacons.towers import Beacon, BrokenMirrorError, Gallery, Plan, Tower\n"
    ),
    "src/beacons/towers.py": '''
"""Towers."""
from pydantic import BaseModel, Field


class BrokenMirrorError(LookupError):
    """The mirror is broken."""


class Tower:
    """A tower."""

    height: int

    def __init__(self, storeys=3):
        self.steps = storeys * 20

    def climb(self):
        """Go up."""
        self.visitors = 1
        raise BrokenMirrorError("mind the glass")

    @property
    def view(self):
        return "sea"


class Gallery(Tower):
    """A tower with more to it; options are given to whoever builds it: see `rust_proofing`."""

    def __init__(self, storeys=3, **options):
        super().__init__(storeys)


class Plan(BaseModel):
    """A drawing."""

    paper_size: str = Field(default="A2", alias="paperSize")
    scale: int = 100


class Beacon:
    """Gives light. The old name of its lamp was `argand_burner`."""

    def light(self, colour="white"):
        """Turn it on."""
        return colour
''',
    "src/beacons/radio.py": "import a_radio_that_is_not_there\n\n\nclass Radio:\n    pass\n",
    "src/beacons/fog.py": '"""Fog signals."""\n\n\nclass Horn:\n    """Blows."""\n',
}


@pytest.fixture(scope="session")
def beacons(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    return build(Target(sources=(write_files(tmp_path_factory.mktemp("beacons"), FILES),)))


@pytest.fixture(scope="session")
def ask(beacons: Environment) -> Iterator[Settle]:
    yield from settling(beacons, ("beacons",))


@pytest.mark.parametrize(
    ("text", "options", "expected"),
    [
        pytest.param(
            "What opens the door of a tower?",
            ["`beacons.Tower.climb`", "`beacons.Tower.open_door`", "`beacons.doors.Door`"],
            "UFF",
            id="a full path that leads nowhere",
        ),
        pytest.param(
            "Which attribute of `Tower` is meant?",
            ["`view`", "`height`", "`steps`", "`visitors`", "`storeys`", "`cellar`"],
            "UUUUUF",
            id="property, annotation, instance attribute, parameter: all are there",
        ),
        pytest.param(
            "Which field of `Plan` is meant?",
            ["`paper_size`", "`paperSize`", "`scale`", "`ink`"],
            "UUUF",
            id="fields and aliases",
        ),
        pytest.param(
            "Which parameter of `Gallery` is meant?",
            ["`storeys`", "`railing`"],
            "UU",
            id="whatever is taken by keyword cannot be absent",
        ),
        pytest.param(
            "Which class of the library turns the lamp?",
            ["`Tower`", "`rust_proofing`", "`argand_burner`", "`clock_work`"],
            "UUUF",
            id="a bare word that stands in some text is not absent",
        ),
        pytest.param(
            "Which import statement gives you `Radio`?",
            ["`from beacons.radio import Radio`", "`from beacons.wires import Radio`"],
            "UF",
            id="an optional extra that is missing",
        ),
        pytest.param(
            "Which class turns the lamp?",
            ["`Tower`", "`numpy.ndarray`", "`OrderedDict`", "`MyTurner`", "`foo_bar`", "`dict`"],
            "UUUUUU",
            id="other people's names, Python's and placeholders",
        ),
        pytest.param(
            "Which exception does `Tower().climb()` raise?",
            ["`BrokenMirrorError`", "`LookupError`", "`KeyError`", "`Exception`"],
            "HFFF",
            id="the nearest exception",
        ),
        pytest.param(
            "Which exception does `Tower().climb()` raise?",
            ["`LookupError`", "`KeyError`", "`ValueError`"],
            "HFF",
            id="an ancestor, where the class itself is not offered",
        ),
    ],
)
def test_decisions(ask: Settle, text: str, options: list[str], expected: str) -> None:
    found = ask(text, *options)
    assert states(found) == expected, "\n".join(one.reason for one in found.values())


@pytest.mark.parametrize(
    ("code", "cause"),
    [
        ("from beacons.radio import Radio\n\nprint(Radio())\n", "a_radio_that_is_not_there"),
        ("import a_module_of_nobody\n\nprint(a_module_of_nobody.x)\n", "a_module_of_nobody"),
        (
            "from beacons import Beacon\n\nprint(Beacon().light(colour_of_choice))\n",
            "nothing defines",
        ),
        ("def f():\n    print(g)\n    g = 1\n\nfrom beacons import Beacon\nf()\n", "NameError"),
        ("from beacons import Beacon\n\nprint(open('no/such/file'))\n", "FileNotFoundError"),
        ("from beacons import Beacon\n\nraise ValueError('no API key was given')\n", "API key"),
    ],
)
def test_trouble_around_the_code_is_no_outcome(ask: Settle, code: str, cause: str) -> None:
    text = "What happens when this code runs?"
    found = ask(text, "No error is raised.", "It raises an error.", "It prints `x`.", snippet=code)
    assert states(found) == "UUU"
    assert cause in found["A"].reason or "UnboundLocalError" in found["A"].reason


def test_what_an_earlier_import_left_behind_does_not_count(ask: Settle) -> None:
    """A warm process may have the submodule as an attribute; a new interpreter does not."""
    assert states(ask("Which import statement gives you `Horn`?", "`from beacons.fog import Horn`"))
    found = ask(
        "Which of these can be imported from `beacons`?", "`Tower`", "`Horn`", "`fog_signal`"
    )
    assert states(found) == "HFF", "\n".join(one.reason for one in found.values())


def test_a_submodule_that_nobody_imported_is_no_attribute(ask: Settle) -> None:
    code = "import beacons\n\nprint(beacons.fog)\n"
    found = ask(
        "Which exception does this code raise?", "`AttributeError`", "`KeyError`", snippet=code
    )
    assert states(found) == "HF", "\n".join(one.reason for one in found.values())
    imported = code.replace("\n\n", "\nimport beacons.fog\n\n")
    found = ask("What happens when this code runs?", "No error is raised.", snippet=imported)
    assert states(found) == "H", "\n".join(one.reason for one in found.values())


def test_two_options_that_work_are_no_ambiguity_of_the_best_way(ask: Settle) -> None:
    options = ["`from beacons import Tower`", "`from beacons.towers import Tower`"]
    best = "What is the recommended import statement for `Tower`?"
    asked, plain = question(best, *options), question(best.replace("recommended ", ""), *options)
    verdicts = {
        one.text: judge(one, classify(one.text), ask(one.text, *options), "A").verdict
        for one in (asked, plain)
    }
    assert verdicts[asked.text] is Verdict.UNPROVEN
    assert verdicts[plain.text] is Verdict.AMBIGUOUS
