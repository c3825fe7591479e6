"""A small library to ask about, and what the prover settles about it in the real sandbox."""

from __future__ import annotations

from collections.abc import Callable

from assay.questions.model import Question, Snippet
from assay.questions.verdict.option_findings import OptionFinding
from assay.questions.verdict.verdict import Judgement

Settle = Callable[..., dict[str, OptionFinding]]
JudgeQuestion = Callable[..., Judgement]

FILES = {
    "pyproject.toml": '[project]\nname = "lantern-works"\nversion = "1.0"\ndependencies = []\n',
    "src/lanterns/__init__.py": (
        '"""Lanterns of all sorts."""\n'
        "from lanterns.lamps import BaseLamp, Box, DarkError, Lamp, Magic, OilLamp, light_all\n"
        "from lanterns.lamps import light_all as light_every\n"
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

    def top_up(self, litres=1):
        """Refill it."""
        return self.refill(litres)

    def top_off(self, litres=2):
        """Refill it with more."""
        return self.refill(litres)

    glow = light


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


def light_street(lamps, *, delay=0.5):
    """Light all lamps of a street."""
    return light_all(lamps, delay=delay)


def light_twice(lamps, *, delay=0.5):
    """Light all lamps once more."""
    return light_all(lamps * 2, delay=delay)
''',
    "src/lanterns/cli.py": '''
"""The command line, called like the package."""
import argparse
import optparse


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--colour", "-c")
    inner = parser.add_subparsers().add_parser("refill")
    inner.add_argument("--litres")
    parser.parse_args()


def old():
    parser = optparse.OptionParser()
    parser.add_option("-b", "--bright")
    parser.parse_args()
''',
    "src/lanterns/shop.py": '''
"""Where lamps are sold."""
import enum
from typing import Optional

from lanterns.lamps import Lamp


class Wick(enum.Enum):
    """What a wick is made of."""

    COTTON = "cotton"
    GLASS = "fibre"


class Shop:
    """Sells lamps."""

    def __init__(self, name: str, lamps: Optional[list[Lamp]] = None, limit: int = 3):
        self.name = name

    @classmethod
    def open(cls, name: str) -> "Shop":
        """Open one."""
        return cls(name)

    @staticmethod
    def price(lamp: Lamp) -> float:
        """What a lamp costs."""
        return 2.5

    @property
    def address(self) -> str | None:
        """Where it is."""
        return None

    def stock(self) -> list[str]:
        """What it has."""
        return []

    async def deliver(self) -> int:
        """Bring the lamps."""
        return 1
''',
    "src/lanterns/keepers.py": '''
"""Who looks after lamps, and what tells them how."""
import os
import socket
from abc import ABC, abstractmethod


TINT = os.environ.get("LANTERN_TINT", "white")


class FireError(OSError):
    """Something burns."""


class WildFireError(FireError):
    """Everything burns."""


def burn():
    """Raise an error of its own."""
    raise FireError("it burns")


def call_out():
    """Raise it because the network is not there."""
    try:
        raise ConnectionRefusedError
    except OSError as error:
        raise FireError("nobody answers") from error


class Adviser(ABC):
    """Knows what to do; a real one lives elsewhere."""

    @property
    @abstractmethod
    def place(self):
        """Where it lives."""

    @abstractmethod
    def advise(self, question):
        """Ask it."""


class Keeper:
    """Does what the adviser says."""

    def __init__(self, name: str, adviser: Adviser | None):
        if not isinstance(adviser, Adviser):
            raise TypeError("an adviser is needed")
        if not name:
            raise ValueError("a keeper has a name")
        self.name = name
        self.adviser = adviser

    def work(self):
        """Ask and do; whatever goes wrong is not told."""
        try:
            return self.adviser.advise("what now?")
        except Exception:
            return "nothing"


class Telegraph:
    """Is connected from the start."""

    def __init__(self, host="203.0.113.1"):
        try:
            socket.create_connection((host, 80), timeout=1)
        except OSError as error:
            raise RuntimeError("no line") from error


class QuietTelegraph:
    """Does not say that it is not connected."""

    def __init__(self, host="203.0.113.1"):
        self.is_connected = False
        try:
            socket.create_connection((host, 80), timeout=1)
        except OSError:
            return
        self.is_connected = True
''',
    "src/lanterns/_oil.py": '"""Kept inside."""\nfrom lanterns.lamps import OilLamp\n',
    "src/lantern_works-1.0.dist-info/METADATA": (
        "Metadata-Version: 2.1\nName: lantern-works\nVersion: 1.0\n"
    ),
    "src/lantern_works-1.0.dist-info/entry_points.txt": (
        "[console_scripts]\nlanterns = lanterns.cli:main\nold-lanterns = lanterns.cli:old\n"
    ),
    "src/lanterns/gas.py": "import a_module_that_is_not_there\n\n\nclass GasLamp:\n    pass\n",
}


def question(text: str, *options: str, snippet: str | None = None) -> Question:
    letters = dict(zip("ABCDEFGH", options, strict=False))
    return Question("q", text, letters, Snippet(snippet) if snippet else None)


def states(findings: dict[str, OptionFinding]) -> str:
    """H, F, U or C for each option."""
    return "".join(finding.state.value[0] for finding in findings.values())
