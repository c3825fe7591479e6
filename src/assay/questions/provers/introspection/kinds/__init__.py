"""Kinds of claims, in the order in which they are asked.

To add one, write a class with a `name` and `drafts(reading)` in a module of its own and list it.
"""

from __future__ import annotations

from assay.questions.provers.introspection.kinds.annotations import Annotations
from assay.questions.provers.introspection.kinds.bases import Bases
from assay.questions.provers.introspection.kinds.calls import Calls
from assay.questions.provers.introspection.kinds.commands import Commands
from assay.questions.provers.introspection.kinds.decorations import Decorations
from assay.questions.provers.introspection.kinds.defaults import Defaults
from assay.questions.provers.introspection.kinds.documented import Documented
from assay.questions.provers.introspection.kinds.enums import Enums
from assay.questions.provers.introspection.kinds.imports import Imports
from assay.questions.provers.introspection.kinds.kind import Draft, Kind
from assay.questions.provers.introspection.kinds.members import Members
from assay.questions.provers.introspection.kinds.names import Names
from assay.questions.provers.introspection.kinds.outcomes import Outcomes
from assay.questions.provers.introspection.kinds.sorts import Sorts

KINDS: tuple[Kind, ...] = (
    Imports(),
    Outcomes(),
    Calls(),
    Defaults(),
    Bases(),
    Annotations(),
    Decorations(),
    Enums(),
    Commands(),
    Members(),
    Sorts(),
    Names(),
    Documented(),
)

__all__ = ["KINDS", "Draft", "Kind"]
