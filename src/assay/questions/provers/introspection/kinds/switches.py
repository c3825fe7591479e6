"""Switches: "it is enabled by default", of a setting that nobody but the reader can switch on."""

from __future__ import annotations

import re
from collections.abc import Iterable

from assay.questions.index import Symbol
from assay.questions.proofs.claims import Relation
from assay.questions.provers.introspection.kinds.documented import Documented
from assay.questions.provers.introspection.kinds.kind import Draft
from assay.questions.provers.introspection.kinds.members import Member, members_of
from assay.questions.provers.introspection.reading import Offer, Reading
from assay.questions.provers.introspection.reading.stand_ins import declared
from assay.questions.provers.introspection.reading.turned import is_turned
from assay.questions.provers.introspection.writing import ProofText
from assay.questions.provers.introspection.writing.helpers import FILES, FILES_IMPORTS
from assay.questions.provers.introspection.writing.nearness import is_same, words

_BY_DEFAULT = re.compile(
    r"(?:It|This|That)(?: feature| behaviou?r)?(?:'s| is)(?: already)? "
    r"(?:enabled|on|active|activated|switched on|turned on) by default\.?",
    re.IGNORECASE,
)
_HOW = re.compile(
    r"\bhow (?:do|can|would|should) (?:you|we|i|one) (?:configure|enable|make|set up|get|let|allow"
    r"|activate|turn on|switch on)\b",
    re.IGNORECASE,
)
# A question for how something is ended is answered by what is off.
_ENDING = re.compile(
    r"\b(?:stop|prevent|disabl|avoid|forbid|suppress|skip|block|den(?:y|ies)|without|no\b|off\b"
    r"|only\b|ignor|exclud|less\b)",
    re.IGNORECASE,
)
# What is on when it is true, and says so.
_POSITIVE = re.compile(
    r"(?:is|enable|allow|support|use)_(?!(?:dis|un|non|no_|not_|in_?act|im|off|skip|without))\w+"
)

_IS_ON = '''
def is_on(configuration):
    """Whether any switch is on; where there is no configuration, as one that is told nothing."""
    return any(getattr(configuration or CONFIGURATION(), one) for one in SWITCHES)


def nodes():
    """Everything in those files of the target that speak of the configuration or a switch."""
    for file in (one for one in files() if one.suffix == ".py"):
        text = file.read_text("utf-8", "replace")
        if any(one in text for one in (CONFIGURATION.__name__, *SWITCHES)):
            yield from ast.walk(ast.parse(text))


def is_made():
    """Whether the target makes such a configuration itself, or sets a switch."""
    for node in nodes():
        called = node.func if isinstance(node, ast.Call) else None
        if getattr(called, "attr", getattr(called, "id", "")) == CONFIGURATION.__name__:
            return True
        is_set = isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)
        if is_set and node.attr in SWITCHES:
            return True
    return False


class Setting(ast.NodeTransformer):
    """Puts one name in place of whatever leads to the setting."""

    def visit_Attribute(self, node):
        return ast.Name("setting") if node.attr == SETTING else self.generic_visit(node)

    def visit_Name(self, node):
        return ast.Name("setting") if node.id == SETTING else node


def conditions():
    """What becomes of conditions on a switch if there is no configuration, and if it is off."""
    found = []
    for node in nodes():
        if not isinstance(node, (ast.BoolOp, ast.IfExp)):
            continue
        text = ast.unparse(Setting().visit(node))
        names = {one.id for one in ast.walk(ast.parse(text)) if isinstance(one, ast.Name)}
        if names == {"setting"} and any(f"setting.{one}" in text for one in SWITCHES):
            both = (None, CONFIGURATION())
            found.append([bool(eval(text, {"setting": one})) for one in both])
    return found
'''


class Switches:
    """An option that says no more than that it is on by default, where another names the setting.

    Which setting is meant is clear if one option alone is what the documentation speaks for. That
    its default is None says little. But if its class has nothing but switches and all are off, if
    the target never makes one, and if its conditions take none for one that is off, then it is off.
    """

    name = "switch"

    def drafts(self, reading: Reading) -> Iterable[Draft]:
        prose = reading.asked.prose
        claiming = [one for one in reading.offers.values() if _BY_DEFAULT.fullmatch(one.text)]
        if not claiming or not _HOW.search(prose) or _ENDING.search(prose) or is_turned(prose):
            return
        setting = _setting(reading)
        configuration = _configuration(setting, reading) if setting else None
        if setting is None or configuration is None or len(reading.library.distributions) != 1:
            return
        for offer in claiming:
            yield _draft(offer, setting, configuration, reading)


def _setting(reading: Reading) -> Member | None:
    options = {one.option for one in Documented().drafts(reading)}
    found = {
        (one.owner.path, one.name): one
        for option in options
        for one in members_of(reading.offers[option], reading)
    }
    return next(iter(found.values())) if len(options) == 1 == len(found) else None


def _configuration(setting: Member, reading: Reading) -> Symbol | None:
    """The class of a setting that is left out by default, if it is made of switches alone."""
    parameter = setting.owner.parameter(setting.name)
    if parameter is None or parameter.default != "None":
        return None
    found = next(iter(declared(parameter.annotation, reading.library).values()), None)
    switches = found.parameters or () if found else ()
    are_off = all(one.annotation == "bool" and one.default == "False" for one in switches)
    if not switches or not are_off or not all(_is_asked_for(one.name, reading) for one in switches):
        return None
    return found


def _is_asked_for(switch: str, reading: Reading) -> bool:
    """Whether a switch says that what the question asks for is on."""
    if not _POSITIVE.fullmatch(switch):
        return False
    asked = words(reading.asked.prose)
    return any(is_same(one, other) for one in words(switch)[1:] for other in asked)


def _draft(offer: Offer, setting: Member, configuration: Symbol, reading: Reading) -> Draft:
    library = reading.library
    owner, made = library.place(setting.owner), library.place(configuration)
    switches = tuple(one.name for one in configuration.parameters or ())
    return Draft(
        option=offer.option,
        relation=Relation.NECESSARY,
        text=ProofText(
            statement=f"`{setting.name}` of `{owner.expression}` is on if nothing is said of it",
            imports=(
                "import ast",
                "import inspect",
                *FILES_IMPORTS,
                owner.statement,
                made.statement,
            ),
            disputed=f"inspect.signature({owner.expression}).parameters[{setting.name!r}].default",
            instead=f"{made.expression}({switches[0]}=True)",
            constants=(
                ("CONFIGURATION", made.expression),
                ("SETTING", repr(setting.name)),
                ("SWITCHES", repr(switches)),
                *library.file_constants,
            ),
            helpers=(FILES, _IS_ON),
            holds="assert is_on(DISPUTED)",
            fails="assert not is_on(DISPUTED)\nassert not is_made()\n"
            "assert all(without == off for without, off in conditions())",
            controls=("assert conditions()",),
        ),
        expected=False,
    )
