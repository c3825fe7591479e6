"""A small library to ask about, and what the prover settles about it in the real sandbox."""

from __future__ import annotations

from collections.abc import Callable

from assay.questions.findings import Finding
from assay.questions.model import Question, Snippet

Settle = Callable[..., dict[str, Finding]]

FILES = {
    "pyproject.toml": '[project]\nname = "lantern-works"\nversion = "1.0"\ndependencies = []\n',
    "src/lanterns/__init__.py": (
        '"""Lanterns of all sorts."""\n'
        "from lanterns.lamps import BaseLamp, Box, DarkError, Lamp, Magic, OilLamp, light_all\n"
    ),
    "src/lanterns/lamps.py": '''
"""Lamps."""
from abc import ABC, abstractmethod


class DarkError(ValueError):
    """Raised when there is nothing to see."""


class BaseLamp(ABC):
    """The base class of every lamp."""

    @abstractmethod
    def light(self):
        """Make it bright."""


class Lamp(BaseLamp):
    """A lamp.

    Args:
        colour: The tint of the glass.
        brightness: How much light it gives, in candles.
        timeout: After how many seconds it goes out by itself.
    """

    def __init__(self, colour="white", *, brightness=5, timeout=None):
        if brightness < 0:
            raise DarkError("too dark")
        self.fuel = 10
        self.colour = colour

    def light(self):
        """Make it bright."""
        return self.colour

    def refill(self, litres=1):
        """Pour oil into the tank."""
        self.fuel += litres
        return self.fuel


class OilLamp(Lamp):
    """Burns oil."""


class Box:
    """Takes whatever it is given."""

    def __init__(self, **things):
        self.things = things


class Magic:
    """Has whatever it is asked for."""

    def __getattr__(self, name):
        return name


def light_all(lamps, *, delay=0.5):
    """Light them one after the other."""
    return [lamp.light() for lamp in lamps]
''',
    "src/lanterns/gas.py": "import a_module_that_is_not_there\n\n\nclass GasLamp:\n    pass\n",
}


def question(text: str, *options: str, snippet: str | None = None) -> Question:
    letters = dict(zip("ABCDEFGH", options, strict=False))
    return Question("q", text, letters, Snippet(snippet) if snippet else None)
