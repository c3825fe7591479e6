"""Writers: one per kind of claim, each turning a claim into a proof with two sides and controls.

The same claim about the same target gives the same proof. Whoever makes claims, the words of a
question, a person or a model, never writes these proofs.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable
from typing import Any

from assay.questions.claims import kinds, proof_helpers
from assay.questions.claims.library import CLASSES, ImportPath, Library
from assay.questions.claims.proof_text import ProofParts, write_file
from assay.questions.proofs.claims import Claim, Proof, proof_name

Writer = Callable[[Any, Library], ProofParts]


def write_proof(option: str, claim: kinds.TypedClaim, library: Library, author: str) -> Proof:
    """Return the proof of a claim about an option, as it is stored and run."""
    head = Claim(
        option=option,
        statement=claim.statement,
        relation=claim.relation,
        kind=claim.kind,
        grounds=claim.grounds,
        fresh=claim.fresh or getattr(claim, "fresh_interpreter", False),
        absent_path=claim.absent_path,
    )
    if isinstance(claim, kinds.FreeProgram):
        return Proof(head, proof_name(option), claim.source, author)
    parts = WRITERS[type(claim)](claim, library)
    return Proof(head, proof_name(option), write_file(option, claim.statement, parts), author)


# --- Names -------------------------------------------------------------------------------------


def write_import(claim: kinds.ImportRuns, library: Library) -> ProofParts:
    name = claim.code.split()[-1].rpartition(".")[2]
    found = library.owner(name, ("class", "exception", "function", "constant"))
    place = None if found is None else library.place(found)
    instead = place.statement if place and place.names and place.statement != claim.code else None
    return ProofParts(
        imports=("import re",),
        disputed=repr(claim.code),
        instead=None if instead is None else repr(instead),
        helpers=(proof_helpers.IMPORTS,),
        holds="assert works(DISPUTED)",
        fails="assert not works(DISPUTED)",
        controls=() if instead else (f"assert works({'import ' + library.roots[0]!r})",),
    )


def write_path(claim: kinds.PathExists, library: Library) -> ProofParts:
    anchor = next((one for one in library.roots if f"{claim.subject}.".startswith(f"{one}.")), "")
    return ProofParts(
        imports=("import importlib",),
        disputed=repr(claim.subject),
        helpers=(proof_helpers.EXISTS,),
        holds='assert exists(DISPUTED), f"{DISPUTED} cannot be reached"',
        fails='assert not exists(DISPUTED), f"{DISPUTED} can be reached"',
        controls=(f"assert exists({anchor or claim.subject.partition('.')[0]!r})",),
    )


def write_word(claim: kinds.WordOccurs, library: Library) -> ProofParts:
    return ProofParts(
        imports=("import re", *proof_helpers.FILES_IMPORTS),
        disputed=repr(claim.value),
        instead=repr(library.roots[0].rpartition(".")[2]),
        constants=library.file_constants,
        helpers=(proof_helpers.FILES, proof_helpers.OCCURS),
        holds="assert occurs(DISPUTED)",
        fails="assert not occurs(DISPUTED)",
    )


def write_same(claim: kinds.SameThing, library: Library) -> ProofParts:
    found = library.index.resolve(claim.subject)
    is_method = found is not None and found.kind == "method"
    return ProofParts(
        imports=("import importlib", "import inspect", "import types"),
        disputed=repr(claim.value),
        constants=(("FIRST", repr(claim.subject)), ("IS_METHOD", repr(is_method))),
        helpers=(proof_helpers.FOUND, proof_helpers.IS_ONE),
        holds="assert is_one(found(DISPUTED), found(FIRST))",
        fails="assert not is_one(found(DISPUTED), found(FIRST))",
        controls=("assert found(FIRST) is not None",),
    )


# --- Members and parameters --------------------------------------------------------------------


def write_member(claim: kinds.HasMember, library: Library) -> ProofParts:
    owner, place = library.index.resolve(claim.subject), library.place_at(claim.subject)
    has_signature = owner is None or owner.parameters is not None
    has_fields = bool(owner and owner.extra)
    helper = proof_helpers.names_of_class(has_signature=has_signature, has_fields=has_fields)
    names = "fields" if claim.as_field and has_fields else "names"
    return ProofParts(
        imports=(
            "import dis",
            "import functools",
            *(("import inspect",) if has_signature else ()),
            place.statement,
        ),
        helpers=(helper,),
        holds=f"assert DISPUTED in {names}({place.expression})",
        fails=f"assert DISPUTED not in names({place.expression})",
        disputed=repr(claim.value),
        instead=_sibling(claim.subject, claim.value, library),
        controls=(f"assert names({place.expression})",),
    )


def write_parameter(claim: kinds.TakesParameter, library: Library) -> ProofParts:
    place = library.place_at(claim.subject)
    return ProofParts(
        imports=("import inspect", place.statement),
        constants=(("PARAMETERS", f"inspect.signature({place.expression}).parameters"),),
        holds="assert DISPUTED in PARAMETERS",
        fails="assert DISPUTED not in PARAMETERS",
        disputed=repr(claim.value),
        instead=_sibling(claim.subject, claim.value, library),
        controls=(f"assert inspect.signature({place.expression})",),
    )


def _sibling(subject: str, name: str, library: Library) -> str | None:
    """Return a member the owner does have, where the one in question is missing."""
    owner = library.index.resolve(subject)
    if owner is None or name in library.names_of(owner):
        return None
    taken = () if owner.is_enum else owner.parameters or ()
    own = [one.name for one in taken if not one.kind.startswith("var_")]
    if not own and owner.kind in CLASSES:
        own = [one for one in sorted(library.members(owner)) if not one.startswith("_")]
    return repr(own[0]) if own else None


def write_default(claim: kinds.DefaultIs, library: Library) -> ProofParts:
    place = library.place_at(claim.subject)
    owner = library.index.resolve(claim.subject)
    parameter = owner.parameter(claim.parameter) if owner else None
    real = parameter.default if parameter else None
    instead = real if real is not None and _literal(real) and real != repr(claim.value) else None
    return ProofParts(
        imports=("import inspect", place.statement),
        disputed=repr(claim.value),
        instead=instead,
        constants=(
            ("OWNER", place.expression),
            ("PARAMETER", f"inspect.signature(OWNER).parameters[{claim.parameter!r}]"),
        ),
        helpers=(proof_helpers.IS_DEFAULT,),
        holds="assert is_default(DISPUTED)",
        fails="assert not is_default(DISPUTED)",
        controls=(f"assert PARAMETER.name == {claim.parameter!r}",),
    )


def _literal(text: str) -> bool:
    try:
        ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return False
    return True


def write_call(claim: kinds.AcceptsCall, library: Library) -> ProofParts:
    place = library.place_at(claim.subject)
    return ProofParts(
        imports=("import inspect", place.statement),
        disputed=repr(claim.keywords),
        constants=(
            ("SIGNATURE", f"inspect.signature({place.expression})"),
            ("POSITIONAL", repr((None,) * (claim.positional + claim.is_method))),
        ),
        helpers=(proof_helpers.ACCEPTS,),
        holds="assert accepts(DISPUTED)",
        fails="assert not accepts(DISPUTED)",
        controls=("assert SIGNATURE.bind_partial() is not None",),
    )


def write_option(claim: kinds.HasOption, library: Library) -> ProofParts:
    program, *subcommands = claim.subject.split()
    command = library.owner(claim.subject, ("command",))
    known = (
        sorted(one for one in library.members(command) if one.startswith("-")) if command else []
    )
    others = [one for one in known if one not in ("--help", claim.value)]
    return ProofParts(
        imports=proof_helpers.COMMAND_IMPORTS,
        disputed=repr(claim.value),
        instead=None if claim.value in known else repr(next(iter(others), "--help")),
        constants=(
            ("PROGRAM", repr(program)),
            ("SUBCOMMANDS", repr(tuple(subcommands))),
            ("CLICK", repr((("click", "Command"), ("typer._click.core", "Command")))),
        ),
        helpers=(proof_helpers.COMMAND,),
        holds="assert DISPUTED in options()",
        fails="assert DISPUTED not in options()\nassert not is_short_for(DISPUTED)",
        controls=("assert options() is not None",),
    )


# --- Types, classes and values -----------------------------------------------------------------


def write_annotation(claim: kinds.AnnotationIs, library: Library) -> ProofParts:
    place = library.place_at(claim.subject)
    apart = "plain(ANNOTATED) != plain(DISPUTED)"
    return ProofParts(
        imports=(
            "import inspect",
            "import types",
            "import typing",
            place.statement,
            *(library.imports_of_type(claim.value) or ()),
        ),
        disputed=claim.value,
        constants=(("ANNOTATED", _annotated(claim, place, library)),),
        helpers=(proof_helpers.PLAIN, *(() if claim.exact else (proof_helpers.APART,))),
        holds="assert plain(ANNOTATED) == plain(DISPUTED)",
        fails=f"assert {apart if claim.exact else 'are_apart(ANNOTATED, DISPUTED)'}",
        controls=("assert ANNOTATED is not inspect.Signature.empty",),
    )


def _annotated(claim: kinds.AnnotationIs, place: ImportPath, library: Library) -> str:
    """Return the expression that gets at the annotation: of a parameter, a field or a return."""
    owner, name = place.expression, claim.parameter
    if name is None:
        return f"inspect.signature({owner}, eval_str=True).return_annotation"
    symbol = library.index.resolve(claim.subject)
    if symbol is None or symbol.parameter(name) is not None:
        return f"inspect.signature({owner}, eval_str=True).parameters[{name!r}].annotation"
    member = library.members(symbol).get(name)
    if member is not None and member.kind == "property":
        return f"inspect.signature({owner}.{name}.fget, eval_str=True).return_annotation"
    return f"typing.get_type_hints({owner})[{name!r}]"


def write_base(claim: kinds.InheritsFrom, library: Library) -> ProofParts:
    place, offered = library.place_at(claim.subject), library.place_at(claim.value)
    holds = "__mro__" if claim.which == "any" else "__bases__"
    fails = "__bases__" if claim.which == "direct" else "__mro__"
    return ProofParts(
        imports=(place.statement, offered.statement),
        disputed=offered.expression,
        instead=f"{place.expression}.__bases__[0]",
        holds=f"assert DISPUTED in {place.expression}.{holds}",
        fails=f"assert DISPUTED not in {place.expression}.{fails}",
    )


_NATURES = {
    "class method": "classmethod",
    "static method": "staticmethod",
    "property": "property",
    "asynchronous": "collections.abc.Awaitable",
    "instance method": "types.FunctionType",
}


def write_nature(claim: kinds.IsOfNature, library: Library) -> ProofParts:
    place = library.place_at(claim.subject)
    return ProofParts(
        imports=(*proof_helpers.SORTS_IMPORTS, place.statement),
        # As the class that shows it: a proof that brings the word could find it in itself.
        disputed=_NATURES[claim.value],
        constants=(("MEMBER", f"inspect.getattr_static({place.expression}, {claim.member!r})"),),
        helpers=(proof_helpers.SORTS_OF_METHOD,),
        holds="assert DISPUTED in sorts(MEMBER)",
        fails="assert DISPUTED not in sorts(MEMBER)",
        controls=("assert sorts(MEMBER)",),
    )


def write_constant(claim: kinds.ConstantIs, library: Library) -> ProofParts:
    place = library.place_at(claim.subject)
    return ProofParts(
        imports=("import enum", place.statement),
        disputed=repr(claim.value),
        constants=(("FOUND", place.expression),),
        helpers=(proof_helpers.CONSTANT,),
        holds="assert is_value(FOUND, DISPUTED)",
        fails="assert not is_value(FOUND, DISPUTED)",
        controls=("assert values(FOUND)",),
    )


def write_enumeration(claim: kinds.InEnumeration, library: Library) -> ProofParts:
    place = library.place_at(claim.subject)
    known = {"name": "NAMES", "value": "VALUES", "either": "VALUES | NAMES"}[claim.by]
    return ProofParts(
        imports=(place.statement,),
        disputed=repr(claim.value),
        constants=(
            ("NAMES", f"set({place.expression}.__members__)"),
            ("VALUES", f"{{one.value for one in {place.expression}}}"),
        ),
        holds=f"assert DISPUTED in {known}",
        # Neither as it is written nor in capitals, neither as a name nor as a value.
        fails="known = {str(one).lower() for one in NAMES | VALUES}\n"
        "assert str(DISPUTED).lower() not in known",
        controls=("assert NAMES",),
    )


# --- Experiments -------------------------------------------------------------------------------


def _program(claim: kinds.Experiment) -> tuple[tuple[str, str], ...]:
    literal = proof_helpers.literal
    constants = ("SETUP", literal(claim.setup)), ("CODE", literal(claim.code))
    return *constants, ("IS_EXPRESSION", repr(_is_expression(claim.code)))


def _is_expression(code: str) -> bool:
    try:
        ast.parse(code.strip(), mode="eval")
    except SyntaxError:
        return False
    return True


def write_raises(claim: kinds.Raises, library: Library) -> ProofParts:
    if claim.value is None:
        return ProofParts(
            imports=proof_helpers.PROGRAM_IMPORTS,
            disputed="Exception",
            constants=_program(claim),
            helpers=(proof_helpers.RAISED,),
            holds="assert isinstance(raised(), DISPUTED)",
            fails="assert not isinstance(raised(), DISPUTED)",
            controls=(proof_helpers.CONTROL,),
        )
    expression, imports = _exception(claim, library)
    return ProofParts(
        imports=("import pytest", *proof_helpers.PROGRAM_IMPORTS, *imports),
        disputed=expression,
        constants=_program(claim),
        helpers=(proof_helpers.RAISED,),
        holds="""
error = raised()
assert isinstance(error, DISPUTED), f"it ends with {error!r}"
with pytest.raises(DISPUTED):
    raise error
""",
        fails="assert not isinstance(raised(), DISPUTED)",
        controls=(proof_helpers.CONTROL,),
    )


def _exception(claim: kinds.Raises | kinds.Warns, library: Library) -> tuple[str, tuple[str, ...]]:
    """Return a class as a proof writes it, with its imports: those given, or the target's."""
    assert claim.value is not None
    if claim.imports:
        return claim.value, (claim.imports,)
    if isinstance(getattr(builtins, claim.value, None), type):
        return claim.value, ()
    place = library.place_at(claim.value)
    return place.expression, (place.statement,)


def write_runs(claim: kinds.Runs, library: Library) -> ProofParts:
    return ProofParts(
        imports=proof_helpers.PROGRAM_IMPORTS,
        disputed="None",
        constants=_program(claim),
        helpers=(proof_helpers.RAISED,),
        holds="assert raised() is DISPUTED",
        fails="assert raised() is not DISPUTED",
        controls=(proof_helpers.CONTROL,),
    )


def write_prints(claim: kinds.Prints, library: Library) -> ProofParts:
    fails = "assert loose(outcome()) != loose(DISPUTED)"
    if claim.among:
        fails = "printed = outcome()\nassert printed in OPTIONS\nassert printed != DISPUTED"
    elif claim.exact:
        fails = "assert outcome() != DISPUTED"
    elif not claim.value:
        # Code that raises before it prints prints nothing too.
        fails = "assert outcome() != DISPUTED\nassert not outcome().startswith('raises ')"
    is_loose = bool(claim.value) and not claim.among and not claim.exact
    among = (("OPTIONS", _lines(claim.among)),) if claim.among else ()
    return ProofParts(
        imports=(
            "import contextlib",
            "import io",
            *(("import ast",) if is_loose else ()),
            *proof_helpers.PROGRAM_IMPORTS,
        ),
        disputed=repr(claim.value),
        constants=(*_program(claim), *among),
        helpers=(proof_helpers.OUTCOME, *((proof_helpers.LOOSE,) if is_loose else ())),
        holds="assert outcome() == DISPUTED",
        fails=fails,
        controls=(proof_helpers.CONTROL,),
    )


def write_returns(claim: kinds.Returns, library: Library) -> ProofParts:
    return ProofParts(
        imports=proof_helpers.PROGRAM_IMPORTS,
        disputed=repr(claim.value),
        constants=(*_program(claim), *((("OPTIONS", _lines(claim.among)),) if claim.among else ())),
        helpers=(proof_helpers.VALUE,),
        holds="found = value()\nassert type(found) is type(DISPUTED)\nassert found == DISPUTED",
        fails="found = value()\nassert found in OPTIONS\nassert found != DISPUTED"
        if claim.among
        else "assert not may_be_told_as(value(), DISPUTED)",
        controls=(proof_helpers.CONTROL,),
    )


def write_warns(claim: kinds.Warns, library: Library) -> ProofParts:
    expression, imports = _exception(claim, library)
    return ProofParts(
        imports=("import warnings", *proof_helpers.PROGRAM_IMPORTS, *imports),
        disputed=expression,
        constants=_program(claim),
        helpers=(proof_helpers.WARNED,),
        holds="assert any(issubclass(one, DISPUTED) for one in warned())",
        fails="assert not any(issubclass(one, DISPUTED) for one in warned())",
        controls=(proof_helpers.CONTROL,),
    )


def _lines(texts: tuple[Any, ...]) -> str:
    return "(" + "".join(f"\n    {one!r}," for one in texts) + "\n)"


WRITERS: dict[type[kinds.TypedClaim], Writer] = {
    kinds.ImportRuns: write_import,
    kinds.PathExists: write_path,
    kinds.WordOccurs: write_word,
    kinds.SameThing: write_same,
    kinds.HasMember: write_member,
    kinds.TakesParameter: write_parameter,
    kinds.DefaultIs: write_default,
    kinds.AcceptsCall: write_call,
    kinds.HasOption: write_option,
    kinds.AnnotationIs: write_annotation,
    kinds.InheritsFrom: write_base,
    kinds.IsOfNature: write_nature,
    kinds.ConstantIs: write_constant,
    kinds.InEnumeration: write_enumeration,
    kinds.Raises: write_raises,
    kinds.Runs: write_runs,
    kinds.Prints: write_prints,
    kinds.Returns: write_returns,
    kinds.Warns: write_warns,
}
