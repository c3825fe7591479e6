"""Kinds of claims, in the order in which they are tried.

To add one, write a class with a `name` and `drafts(parsed)` in its own module and list it here.
"""

from __future__ import annotations

from assay.questions.provers.introspection.drafts import ClaimKind
from assay.questions.provers.introspection.kinds.annotations import Annotations
from assay.questions.provers.introspection.kinds.classes import Bases, ClassRoles, Decorations
from assay.questions.provers.introspection.kinds.documented import Documented
from assay.questions.provers.introspection.kinds.members import CommandOptions, Members
from assay.questions.provers.introspection.kinds.names import Imports, Names
from assay.questions.provers.introspection.kinds.outcomes import Calls, Outcomes
from assay.questions.provers.introspection.kinds.values import Defaults, Enums

KINDS: tuple[ClaimKind, ...] = (
    Imports(),
    Outcomes(),
    Calls(),
    Defaults(),
    Bases(),
    Annotations(),
    Decorations(),
    Enums(),
    CommandOptions(),
    Members(),
    ClassRoles(),
    Names(),
    Documented(),
)

__all__ = ["KINDS"]
