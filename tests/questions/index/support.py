"""A package that has one of everything: what an index must show, and what it must survive."""

from __future__ import annotations

PYPROJECT = """
[project]
name = "depot-parcels"
version = "3.1.0"
dependencies = ["pydantic>=2.9", "click>=8.1"]
"""

# `depot` has no `__init__`: it is a namespace, as other distributions may add to it.
FILES = {
    "pyproject.toml": PYPROJECT,
    "src/depot/parcels/__init__.py": '''
"""Parcels and how they travel."""
from depot.parcels.models import Address, Parcel
from depot.parcels.states import State
from pydantic import ValidationError

__all__ = ["Address", "Courier", "Parcel", "State", "ValidationError", "weigh"]

def __getattr__(name):
    if name == "Courier":
        from depot.parcels.couriers import Courier
        return Courier
    if name == "weigh":
        from depot.parcels.scales import weigh
        return weigh
    raise AttributeError(name)
''',
    "src/depot/parcels/models.py": '''
"""What is sent."""
from __future__ import annotations
from dataclasses import dataclass, field
from typing import Optional
from pydantic import AliasChoices, BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

class Address(BaseModel):
    """Where a parcel goes.

    Attributes:
      street: The street and the
        number of the house.
      zip_code: Five digits.
    """
    model_config = ConfigDict(extra="forbid", alias_generator=to_camel, populate_by_name=True)
    street: str
    zip_code: str = "00000"
    town: Optional[str] = Field(default=None, validation_alias=AliasChoices("town", "city"))

class Parcel(BaseModel):
    """Something in a box that is sent from one place to another."""
    to: Address
    weight: float = Field(description="In kilograms.", gt=0)
    tags: list[str] = Field(default_factory=list)
    """Words that were stuck on the box."""

class Express(Parcel):
    """A parcel in a hurry."""
    hours: int = 24

@dataclass
class Label:
    """A label."""
    text: str
    copies: int = 1
    notes: list[str] = field(default_factory=list)
''',
    "src/depot/parcels/states.py": '''
import enum
LONGEST_WAIT: int = 14
"""Days until a parcel goes back."""
_HIDDEN = 1

class State(enum.Enum):
    """How far a parcel has come."""
    WAITING = "waiting"
    GONE = "gone"
''',
    "src/depot/parcels/couriers.py": '''
"""Who carries parcels."""
from abc import ABC, abstractmethod
from depot.parcels.errors import LostError
from depot.parcels.states import LONGEST_WAIT, State

class Courier(ABC):
    """Carries parcels.

    Args:
        name: What the courier is called.
        capacity (int): How many parcels fit.
    """
    fleet: str = "green"

    def __init__(self, name: str, *, capacity: int = 10) -> None:
        self.name = name
        self.load: list = []

    @abstractmethod
    async def deliver(self, parcel, /, *stops: str, urgent: bool = False) -> bool:
        """Bring a parcel to its receiver."""

    @property
    def is_full(self) -> bool:
        """Whether nothing more fits."""
        return False

    @classmethod
    def named(cls, name: str) -> "Courier":
        """A courier by name.

        .. deprecated:: 3.0
           Use the constructor.
        """

    @staticmethod
    def fee(distance: float, rate: float = 0.5) -> float:
        """What a tour costs.

        Parameters
        ----------
        distance : float
            In kilometres.
        rate
            Per kilometre.
        """
        return distance * rate

    class Badge:
        """What a courier wears."""
        colour = "blue"

class Cyclist(Courier):
    """A courier on a bicycle, for the last mile."""
    async def deliver(self, parcel, /, *stops, urgent=False):
        return True

def route(start: str, end: str = "depot") -> list:
    """Find the way between two places.

    :param start: Where to begin.
    :param str end: Where to
        arrive.
    """
    return [start, end]
''',
    "src/depot/parcels/errors.py": '''
class LostError(LookupError):
    """A parcel cannot be found any more."""
''',
    "src/depot/parcels/scales.py": '''
"""Needs an extra that is not installed."""
import heavy_scales

def weigh(parcel, *, unit: str = "kg") -> float:
    """Put a parcel on the scales."""
    return heavy_scales.weigh(parcel, unit)

class Scale:
    """A scale."""
    limit: int = 30
    def tare(self) -> None: ...
''',
    "src/depot/parcels/wrapped.py": '''
try:
    import heavy_scales
except ImportError as error:
    raise ImportError("install depot-parcels[scales]") from error
''',
    "src/depot/parcels/soft.py": '''
try:
    from heavy_scales import Fine
except ImportError:
    pass
''',
    "src/depot/parcels/leaves.py": "import sys\nsys.exit(3)\n",
    "src/depot/parcels/gone.py": "import os\nos._exit(0)\n",
    "src/depot/parcels/hangs.py": "import time\nclass Sleeper: ...\ntime.sleep(600)\n",
    "src/depot/parcels/noisy.py": '''
import sys, threading
print("noise" * 100000)
sys.stderr.write("more")
threading.Thread(target=threading.Event().wait).start()
QUIET = False
''',
    "src/depot/parcels/lazy.py": '''
class _Shy:
    def __getattr__(self, name):
        raise ModuleNotFoundError("not while anybody looks")

class Holder:
    """Holds something shy."""
    shy = _Shy()
    plain = 1

shy = _Shy()
''',
    "src/depot/parcels/_private.py": '"""Parcels nobody should use."""\ndef parcel_helper(): ...\n',
    "src/depot/parcels/__main__.py": "raise SystemExit(9)\n",
    "src/depot/parcels/data.json": '{"made_up_setting": "UnheardOfName"}',
    "src/depot/parcels/cli.py": '''
import argparse
import click

@click.group()
def main():
    """Sends parcels."""

@main.command("send")
@click.option("--fast/--slow", default=False, help="Whether it is urgent.")
@click.option("-w", "--weight", type=float, required=True, help="In kilograms.")
@click.argument("town")
def send(fast, weight, town):
    """Send one parcel."""

def old():
    parser = argparse.ArgumentParser(description="The old command.")
    parser.add_argument("--depth", default=2, help="How deep.")
    inner = parser.add_subparsers().add_parser("list", description="Lists.")
    inner.add_argument("--all", action="store_true")
    parser.parse_args()
    raise AssertionError("nothing may run after the arguments")

def stuck():
    import time
    time.sleep(600)
''',
}  # fmt: skip

# A copied source has no entry points of its own; a dist-info folder in it is kept as it is.
METADATA = "src/depot_parcels-3.1.0.dist-info"
FILES[f"{METADATA}/METADATA"] = "Metadata-Version: 2.1\nName: depot-parcels\nVersion: 3.1.0\n"
FILES[f"{METADATA}/entry_points.txt"] = (
    "[console_scripts]\nparcels = depot.parcels.cli:main\n"
    "parcels-old = depot.parcels.cli:old\nparcels-stuck = depot.parcels.cli:stuck\n"
)
