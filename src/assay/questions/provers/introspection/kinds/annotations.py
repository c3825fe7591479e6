"""Annotations: the type of a parameter or field, a return type, or what has a given type."""

from __future__ import annotations

import ast
import builtins
import re
import typing
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from assay.questions.index import Symbol
from assay.questions.proofs.claims import Relation
from assay.questions.provers.introspection.drafts import Draft, ProofParts
from assay.questions.provers.introspection.library import CALLABLES, CLASSES
from assay.questions.provers.introspection.proof_helpers import APART, PLAIN
from assay.questions.provers.introspection.reading import (
    CodeForm,
    Mention,
    ParsedOption,
    ParsedQuestion,
)
from assay.questions.provers.introspection.reading.parsed_question import (
    resolve_owner,
)

_WRITTEN_OTHERWISE = {
    "List": "list", "Dict": "dict", "Tuple": "tuple", "Set": "set", "Type": "type",
    "FrozenSet": "frozenset",
}  # fmt: skip


def parse_type(
    mention: Mention | None, parsed: ParsedQuestion
) -> tuple[str, tuple[str, ...]] | None:
    """Return a type as a proof writes it, with its imports; None if it is no known type."""
    tree = _expression(mention.code) if mention else None
    if tree is None or mention is None:
        return None
    imports: list[str] = []
    for path in dict.fromkeys(_paths(tree)):
        statement = _import_of(path, parsed)
        if statement is None:
            return None
        imports += [statement] if statement else []
    return mention.code, tuple(imports)


def _expression(code: str) -> ast.expr | None:
    try:
        tree = ast.parse(code.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    allowed = (
        ast.Name, ast.Attribute, ast.Subscript, ast.BinOp, ast.BitOr, ast.Tuple, ast.List,
        ast.Load, ast.Constant,
    )  # fmt: skip
    return tree if all(isinstance(one, allowed) for one in ast.walk(tree)) else None


def _paths(tree: ast.expr) -> Iterator[str]:
    """Yield the names in a type, each as far as its dots go."""
    inner = {id(one.value) for one in ast.walk(tree) if isinstance(one, ast.Attribute)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name | ast.Attribute) and id(node) not in inner:
            yield ast.unparse(node)


def _import_of(path: str, parsed: ParsedQuestion) -> str | None:
    """Return the import a name in a type needs: none for Python's own; None if nobody knows it."""
    if isinstance(getattr(builtins, path, None), type):
        return ""
    library = parsed.library
    found = library.owner(path, CLASSES)
    if found is not None:
        place = library.place(found)
        if place.names == (path,):
            return place.statement
        return (
            f"import {place.module}" if f"{place.module}.{'.'.join(place.names)}" == path else None
        )
    if "." not in path and path in typing.__all__:
        return f"from typing import {path}"
    return None


def normalize_type(annotation: str) -> str:
    """Return a type as text, without regard to how it is written."""
    tree = _expression(annotation.strip("'\""))
    return annotation if tree is None else _format_type(tree)


def _format_type(node: ast.expr) -> str:
    if isinstance(node, ast.Name | ast.Attribute):
        last = node.id if isinstance(node, ast.Name) else node.attr
        return _WRITTEN_OTHERWISE.get(last, last)
    if isinstance(node, ast.BinOp):
        return _union([node.left, node.right])
    if isinstance(node, ast.Subscript):
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        name = _format_type(node.value)
        if name in ("Union", "Optional"):
            return _union([*parts, *([ast.Constant(None)] if name == "Optional" else [])])
        return f"{name}[{', '.join(_format_type(one) for one in parts)}]"
    return ast.unparse(node)


def _union(parts: Sequence[ast.expr]) -> str:
    inner = {piece for one in parts for piece in _format_type(one).split(" | ")}
    return " | ".join(sorted(inner))


_CODE = r"`([^`]+)`"
_ARTICLE = r"(?:the |an? )?"
_PARAMETER = r"(?:(?:keyword |constructor )?(?:parameter|argument))"
_SORT = rf"(?:{_PARAMETER}|field|attribute|property)"
_KIND = r"(?:class|function|method|model|constructor|dataclass)"
_TYPE = r"(?:data ?type|type(?: annotation| hint)?|annotation)"
_OWNER = rf"(?:of|in|on|for) {_ARTICLE}(?:{_KIND} )?{_CODE}(?: {_KIND})?"
_END = r"\s*[?.:]*\s*$"
_ANNOTATED = r"(?:annotated|declared|typed)(?: with| as)?(?: the)?(?: type)?"
_OF_MEMBER = (
    re.compile(
        rf"\b(?:what|which) is the (?:declared )?{_TYPE} of (?:the )?(?P<sort>{_SORT} )?{_CODE}"
        rf"(?P<after> {_SORT})? {_OWNER}{_END}",
        re.IGNORECASE,
    ),
    re.compile(
        rf"\b(?:what|which) {_TYPE} (?:is|does|has) (?:the )?(?P<sort>{_SORT} )?{_CODE}"
        rf"(?P<after> {_SORT})? {_OWNER}(?: have)?(?: {_ANNOTATED})?{_END}",
        re.IGNORECASE,
    ),
    re.compile(
        rf"\bhow is (?:the )?(?P<sort>{_SORT} )?{_CODE}(?P<after> {_SORT})? {_OWNER} "
        rf"annotated{_END}",
        re.IGNORECASE,
    ),
)
_RETURNED = re.compile(
    rf"\b(?:what|which) is the (?:declared )?return(?: value)?(?: (?P<by>type|annotation"
    rf"|type annotation|type hint))? of {_ARTICLE}(?:{_KIND} )?{_CODE}(?: {_KIND})?{_END}"
    rf"|\b(?:what|which) {_TYPE} does {_ARTICLE}(?:{_KIND} )?{_CODE}(?: {_KIND})? return{_END}",
    re.IGNORECASE,
)
_HAVING = re.compile(
    rf"\b(?:which|what) (?P<sort>{_SORT}s?) {_OWNER} (?:has (?:the )?{_TYPE}|is of (?:the )?type"
    rf"|is {_ANNOTATED}) {_CODE}{_END}",
    re.IGNORECASE,
)
# Decorators that leave what a function returns as it is.
_HARMLESS = re.compile(r"(?:\w+\.)*(?:classmethod|staticmethod|property|abstractmethod|override)")


@dataclass(frozen=True)
class _Annotated:
    """Something that has an annotation: how it is called, how a proof gets at it, its text."""

    what: str
    expression: str
    annotation: str
    imports: tuple[str, ...]


class Annotations:
    """Options that are types, or names of which the question says the type."""

    name = "annotation"

    def drafts(self, parsed: ParsedQuestion) -> Iterable[Draft]:
        prose = parsed.focus.prose
        if found := _HAVING.search(prose):
            yield from _having(found, parsed)
            return
        annotated = _find_annotated(prose, parsed)
        if annotated is None:
            return
        written = {one.letter: parse_type(one.whole, parsed) for one in parsed.options.values()}
        exact = normalize_type(annotated.annotation)
        is_strict = any(one and normalize_type(one[0]) == exact for one in written.values())
        for option, one in written.items():
            if one is not None:
                yield _draft(option, annotated, one, is_strict=is_strict)


def _find_annotated(prose: str, parsed: ParsedQuestion) -> _Annotated | None:
    """Return what the question asks the type of, if it has an annotation."""
    if found := _RETURNED.search(prose):
        text = next(one for one in found.groups()[1:] if one)
        return _find_return(text, "annotation" in prose, parsed)
    for pattern in _OF_MEMBER:
        if found := pattern.search(prose):
            groups = [one for one in found.groups() if one]
            codes = [one for one in groups if one not in (found["sort"], found["after"])]
            said = f"{found['sort'] or ''}{found['after'] or ''}".lower()
            return _find_member(codes[0], codes[1], said, parsed)
    return None


def _owner(text: str, parsed: ParsedQuestion) -> Symbol | None:
    mention = next((one for one in parsed.focus.mentions if one.code == text.strip()), None)
    found = resolve_owner(mention, parsed.library) if mention else None
    return found if found and found.kind in (*CLASSES, *CALLABLES) and found.available else None


def _find_return(text: str, is_of_annotation: bool, parsed: ParsedQuestion) -> _Annotated | None:
    """Return the annotation of a plain function; a wrapped one may return something else."""
    owner = _owner(text, parsed)
    if owner is None or owner.kind not in CALLABLES or not owner.returns:
        return None
    is_plain = not owner.is_async and all(_HARMLESS.fullmatch(one) for one in owner.decorators)
    if not is_plain and not is_of_annotation:
        return None
    place = parsed.library.place(owner)
    return _Annotated(
        f"what `{place.expression}` returns",
        f"inspect.signature({place.expression}, eval_str=True).return_annotation",
        owner.returns,
        ("import inspect", place.statement),
    )


def _find_member(name: str, holder: str, said: str, parsed: ParsedQuestion) -> _Annotated | None:
    """Return a parameter or an attribute; where a name is both, the words must say which."""
    owner = _owner(holder, parsed)
    if owner is None or not name.isidentifier():
        return None
    place = parsed.library.place(owner)
    members = parsed.library.members(owner) if owner.kind in CLASSES else {}
    parameter, member = owner.parameter(name), members.get(name)
    is_parameter = "parameter" in said or "argument" in said
    if parameter is not None and parameter.annotation:
        differs = member is not None and normalize_type(member.annotation) != normalize_type(
            parameter.annotation
        )
        if is_parameter or (not differs and "property" not in said):
            return _Annotated(
                f"the parameter `{name}` of `{place.expression}`",
                f"inspect.signature({place.expression}, eval_str=True)"
                f".parameters[{name!r}].annotation",
                parameter.annotation,
                ("import inspect", place.statement),
            )
        return None
    if parameter is not None or is_parameter or member is None or not member.annotation:
        return None
    return _attribute(name, place.expression, place.statement, member)


def _attribute(name: str, owner: str, statement: str, member: Symbol) -> _Annotated | None:
    what = f"`{name}` of `{owner}`"
    if member.kind == "property" and all(_HARMLESS.fullmatch(one) for one in member.decorators):
        getter = f"inspect.signature({owner}.{name}.fget, eval_str=True).return_annotation"
        return _Annotated(what, getter, member.annotation, ("import inspect", statement))
    if member.kind in ("field", "attribute"):
        hints = f"typing.get_type_hints({owner})[{name!r}]"
        return _Annotated(what, hints, member.annotation, (statement,))
    return None


# --- Proofs ------------------------------------------------------------------------------------


def _draft(
    option: str, annotated: _Annotated, written: tuple[str, tuple[str, ...]], *, is_strict: bool
) -> Draft:
    """Refute only a type that is quite another one, unless some option is the very one."""
    code, imports = written
    is_it = normalize_type(code) == normalize_type(annotated.annotation)
    apart = "plain(ANNOTATED) != plain(DISPUTED)" if is_strict else "are_apart(ANNOTATED, DISPUTED)"
    return Draft(
        option=option,
        relation=Relation.EQUIVALENT,
        text=ProofParts(
            statement=f"the type of {annotated.what} is `{code}`",
            imports=("import types", "import typing", *annotated.imports, *imports),
            disputed=code,
            constants=(("ANNOTATED", annotated.expression),),
            helpers=(PLAIN, *(() if is_strict else (APART,))),
            holds="assert plain(ANNOTATED) == plain(DISPUTED)",
            fails=f"assert {apart}",
            controls=("assert ANNOTATED is not inspect.Signature.empty",)
            if "import inspect" in annotated.imports
            else ("assert ANNOTATED",),
        ),
        expected=True if is_it else None,
    )


def _having(found: re.Match[str], parsed: ParsedQuestion) -> Iterator[Draft]:
    """Options that are parameters, of which the question says the type."""
    codes = [one for one in found.groups() if one and one != found["sort"]]
    owner = _owner(codes[0], parsed)
    wanted = next((one for one in parsed.focus.mentions if one.code == codes[-1]), None)
    written = parse_type(wanted, parsed)
    if owner is None or written is None:
        return
    having = {
        one.name
        for one in owner.parameters or ()
        if normalize_type(one.annotation) == normalize_type(written[0])
    }
    names = {one.whole.name for one in parsed.options.values() if one.whole}
    for option in parsed.options.values():
        parameter = owner.parameter(option.whole.name) if option.whole else None
        if parameter is not None and parameter.annotation:
            yield _draft_parameter(option, owner, written, bool(names & having), having, parsed)


def _draft_parameter(
    option: ParsedOption,
    owner: Symbol,
    written: tuple[str, tuple[str, ...]],
    is_strict: bool,
    having: set[str],
    parsed: ParsedQuestion,
) -> Draft:
    assert option.whole is not None
    assert option.whole.form is CodeForm.NAME
    place = parsed.library.place(owner)
    apart = "plain(found) != plain(WANTED)" if is_strict else "are_apart(found, WANTED)"
    return Draft(
        option=option.letter,
        relation=Relation.EQUIVALENT,
        text=ProofParts(
            statement=f"`{option.whole.name}` of `{place.expression}` is a `{written[0]}`",
            imports=(
                "import inspect",
                "import types",
                "import typing",
                place.statement,
                *written[1],
            ),
            disputed=repr(option.whole.name),
            constants=(
                ("WANTED", written[0]),
                ("PARAMETERS", f"inspect.signature({place.expression}, eval_str=True).parameters"),
            ),
            helpers=(PLAIN, *(() if is_strict else (APART,))),
            holds="assert plain(PARAMETERS[DISPUTED].annotation) == plain(WANTED)",
            fails="found = PARAMETERS[DISPUTED].annotation if DISPUTED in PARAMETERS else ()\n"
            f"assert found == () or {apart}",
            controls=("assert PARAMETERS",),
        ),
        expected=True if option.whole.name in having else None,
    )
