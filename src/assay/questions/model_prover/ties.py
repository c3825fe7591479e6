"""What ties a model's claim and proof to their option, whatever the model says of them. Pure."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace

from assay.questions.claims import kinds
from assay.questions.model import Question
from assay.questions.proofs.binding import check_disputed, occurs
from assay.questions.proofs.claims import Grounds, Proof, Relation
from assay.questions.proofs.forgery import names_in_proof, read_given
from assay.questions.proofs.proof_file import DISPUTED, UnfitProofError, find_assignment

# Kinds that say that a name is there: true of many options that are not the answer.
_LOOKUPS = (
    kinds.ImportRuns, kinds.PathExists, kinds.WordOccurs, kinds.HasMember, kinds.TakesParameter,
    kinds.AcceptsCall, kinds.HasOption,
)  # fmt: skip
# What reads texts about the library, or its files, instead of running it.
_TEXTS = frozenset(
    {"__doc__", "getdoc", "getsource", "getsourcelines", "getcomments", "getsourcefile", "getfile",
     "__file__", "__path__", "origin", "submodule_search_locations", "linecache", "get_data",
     "get_source", "locate_file", "resources", "read_binary", "co_consts", "co_names"}
)  # fmt: skip
# Functions that only ask whether there is something of that name.
_LOOKING = frozenset(
    {"hasattr", "getattr", "getattr_static", "dir", "vars", "signature", "getmembers",
     "import_module", "find_spec", "__import__", "get_type_hints", "get_annotations", "callable",
     "isclass", "isfunction", "keys", "set", "list", "tuple", "sorted", "frozenset", "any", "all",
     "bool", "len", "next", "iter", "split", "rpartition", "partition", "raises", "reduce"}
)  # fmt: skip
# What is asked beyond a name: its default, its type, what it inherits from.
_BEYOND = frozenset(
    {"default", "annotation", "kind", "value", "return_annotation", "__mro__", "__bases__",
     "default_factory", "metadata"}
)  # fmt: skip
_IMPORT = re.compile(r"(?:import|from)\s+\w")
_CLASS_NAME = re.compile(r"\b[A-Z][a-z0-9]+(?:[A-Z]\w*)+\b|`(?:[\w.]*\.)?([A-Z]\w+)[^`]*`")


def tie_claim(claim: kinds.TypedClaim) -> kinds.TypedClaim:
    """Return a model's claim with a relation that it can bear."""
    if isinstance(claim, _LOOKUPS) or (
        isinstance(claim, kinds.InEnumeration) and claim.by == "name"
    ):
        return claim.model_copy(update={"relation": Relation.NECESSARY})
    return claim


def tie_proof(proof: Proof) -> Proof:
    """Return a model's free proof with the relation and the grounds that its text can bear."""
    claim = proof.claim
    if is_lookup(proof.source):
        claim = replace(claim, relation=Relation.NECESSARY)
    if reads_texts(proof.source):
        claim = replace(claim, grounds=Grounds.DOCUMENTED)
    return replace(proof, claim=claim)


def find_loose_end(question: Question, proof: Proof) -> str | None:
    """Return why a model's proof is not about its option, if that can be seen."""
    given = read_given(question, proof.claim.option)
    try:
        check_disputed(proof.source, given, strict=True)
    except UnfitProofError as error:
        return f"the proof is not about option {proof.claim.option}: {error}"
    named = set(_class_names(given.option)) - _disputed_words(proof.source)
    used = set(names_in_proof(proof.source)) - _disputed_words(proof.source)
    if named and named.isdisjoint(used):
        shown = ", ".join(f"`{one}`" for one in sorted(named)[:3])
        return f"the proof uses nothing that option {proof.claim.option} names: {shown}"
    return None


def find_foreign_code(question: Question, option: str, claim: kinds.TypedClaim) -> str | None:
    """Return what a claim about running code brings along that the question does not show."""
    if not isinstance(claim, kinds.Experiment):
        return None
    given = read_given(question, option)
    lines = [one for one in claim.setup.splitlines() if one.strip()]
    strange = [one for one in lines if not _IMPORT.match(one) and not given.shows(one)]
    if given.shows(claim.code) and not strange:
        return None
    return "the code is not that of the question or the option: make it a claim of kind program"


def find_difference(question: Question, option: str, subjects: Iterable[str]) -> str:
    """Return which things a claim or proof is about that neither question nor option names."""
    given = read_given(question, option)
    said = f"{given.prose}\n{given.code}"
    unsaid = [one for one in subjects if not any(occurs(part, said) for part in one.split("."))]
    named = ", ".join(f"`{one}`" for one in dict.fromkeys(unsaid))
    return f"it is about {named}, which neither the question nor the option names" if named else ""


def proof_subjects(source: str, modules: Collection[str]) -> Iterator[str]:
    """Yield the classes and functions of the target that a proof imports or reaches by a path."""
    roots = {one.partition(".")[0] for one in modules}
    tree = _parse(source)
    for node in ast.walk(tree) if tree else ():
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] in roots:
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.Attribute) and getattr(node.value, "id", None) in roots:
            yield node.attr


def reads_texts(source: str) -> bool:
    """Tell whether a proof reads documentation or files of the library."""
    tree = _parse(source)
    names = (
        getattr(node, "attr", None) or getattr(node, "id", None) or getattr(node, "name", None)
        for node in (ast.walk(tree) if tree else ())
    )
    return any(part in _TEXTS for name in names for part in str(name).split("."))


def is_lookup(source: str) -> bool:
    """Tell whether a proof only asks if something of a name is there, and calls nothing."""
    tree = _parse(source)
    node = find_assignment(tree, DISPUTED) if tree else None
    if tree is None or not _is_dotted(node):
        return False
    own = {one.name for one in ast.walk(tree) if isinstance(one, ast.FunctionDef)}
    for one in ast.walk(tree):
        if isinstance(one, ast.Call):
            name = getattr(one.func, "attr", getattr(one.func, "id", None))
            if name not in _LOOKING | own or _is_splat(one):
                return False
        if isinstance(one, ast.Attribute) and one.attr in _BEYOND:
            return False
    return True


def _is_splat(call: ast.Call) -> bool:
    return any(one.arg is None for one in call.keywords)


def _is_dotted(node: ast.expr | None) -> bool:
    value = node.value if isinstance(node, ast.Constant) else None
    return isinstance(value, str) and all(part.isidentifier() for part in value.split("."))


def _disputed_words(source: str) -> set[str]:
    tree = _parse(source)
    node = find_assignment(tree, DISPUTED) if tree else None
    return set(re.findall(r"\w+", ast.unparse(node))) if node is not None else set()


def _class_names(text: str) -> Iterator[str]:
    for found in _CLASS_NAME.finditer(text):
        yield found[1] or found[0]


def _parse(source: str) -> ast.Module | None:
    try:
        return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
