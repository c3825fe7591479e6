"""Annotations: the type of a parameter or field, what a function returns, or what has a type."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from assay.questions.index import Symbol
from assay.questions.proofs.claims import Relation
from assay.questions.provers.introspection.kinds.kind import Draft
from assay.questions.provers.introspection.library import CALLABLES, CLASSES
from assay.questions.provers.introspection.reading import Form, Offer, Reading
from assay.questions.provers.introspection.reading.types import same_type, written_type
from assay.questions.provers.introspection.reading.understanding import resolve_owner
from assay.questions.provers.introspection.writing import ProofText
from assay.questions.provers.introspection.writing.types import APART, PLAIN

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

    def drafts(self, reading: Reading) -> Iterable[Draft]:
        prose = reading.asked.prose
        if found := _HAVING.search(prose):
            yield from _having(found, reading)
            return
        annotated = _asked_for(prose, reading)
        if annotated is None:
            return
        written = {one.option: written_type(one.whole, reading) for one in reading.offers.values()}
        exact = same_type(annotated.annotation)
        is_strict = any(one and same_type(one[0]) == exact for one in written.values())
        for option, one in written.items():
            if one is not None:
                yield _draft(option, annotated, one, is_strict=is_strict)


def _asked_for(prose: str, reading: Reading) -> _Annotated | None:
    """What the question asks the type of, if it has an annotation."""
    if found := _RETURNED.search(prose):
        text = next(one for one in found.groups()[1:] if one)
        return _returned(text, "annotation" in prose, reading)
    for pattern in _OF_MEMBER:
        if found := pattern.search(prose):
            groups = [one for one in found.groups() if one]
            codes = [one for one in groups if one not in (found["sort"], found["after"])]
            said = f"{found['sort'] or ''}{found['after'] or ''}".lower()
            return _member(codes[0], codes[1], said, reading)
    return None


def _owner(text: str, reading: Reading) -> Symbol | None:
    mention = next((one for one in reading.asked.mentions if one.code == text.strip()), None)
    found = resolve_owner(mention, reading.library) if mention else None
    return found if found and found.kind in (*CLASSES, *CALLABLES) and found.available else None


def _returned(text: str, is_of_annotation: bool, reading: Reading) -> _Annotated | None:
    """What is returned is what is annotated, unless the function is wrapped or not yet awaited."""
    owner = _owner(text, reading)
    if owner is None or owner.kind not in CALLABLES or not owner.returns:
        return None
    is_plain = not owner.is_async and all(_HARMLESS.fullmatch(one) for one in owner.decorators)
    if not is_plain and not is_of_annotation:
        return None
    place = reading.library.place(owner)
    return _Annotated(
        f"what `{place.expression}` returns",
        f"inspect.signature({place.expression}, eval_str=True).return_annotation",
        owner.returns,
        ("import inspect", place.statement),
    )


def _member(name: str, holder: str, said: str, reading: Reading) -> _Annotated | None:
    """A parameter or an attribute; where a name is both and they differ, the words must say."""
    owner = _owner(holder, reading)
    if owner is None or not name.isidentifier():
        return None
    place = reading.library.place(owner)
    members = reading.library.members(owner) if owner.kind in CLASSES else {}
    parameter, member = owner.parameter(name), members.get(name)
    is_parameter = "parameter" in said or "argument" in said
    if parameter is not None and parameter.annotation:
        differs = member is not None and same_type(member.annotation) != same_type(
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
    """Only a type that is quite another one is refuted, unless some option is the very one."""
    code, imports = written
    is_it = same_type(code) == same_type(annotated.annotation)
    apart = "plain(ANNOTATED) != plain(DISPUTED)" if is_strict else "are_apart(ANNOTATED, DISPUTED)"
    return Draft(
        option=option,
        relation=Relation.EQUIVALENT,
        text=ProofText(
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


def _having(found: re.Match[str], reading: Reading) -> Iterator[Draft]:
    """Options that are parameters, of which the question says the type."""
    codes = [one for one in found.groups() if one and one != found["sort"]]
    owner = _owner(codes[0], reading)
    wanted = next((one for one in reading.asked.mentions if one.code == codes[-1]), None)
    written = written_type(wanted, reading)
    if owner is None or written is None:
        return
    having = {
        one.name
        for one in owner.parameters or ()
        if same_type(one.annotation) == same_type(written[0])
    }
    names = {one.whole.name for one in reading.offers.values() if one.whole}
    for offer in reading.offers.values():
        parameter = owner.parameter(offer.whole.name) if offer.whole else None
        if parameter is not None and parameter.annotation:
            yield _named(offer, owner, written, bool(names & having), having, reading)


def _named(
    offer: Offer,
    owner: Symbol,
    written: tuple[str, tuple[str, ...]],
    is_strict: bool,
    having: set[str],
    reading: Reading,
) -> Draft:
    assert offer.whole is not None
    assert offer.whole.form is Form.NAME
    place = reading.library.place(owner)
    apart = "plain(found) != plain(WANTED)" if is_strict else "are_apart(found, WANTED)"
    return Draft(
        option=offer.option,
        relation=Relation.EQUIVALENT,
        text=ProofText(
            statement=f"`{offer.whole.name}` of `{place.expression}` is a `{written[0]}`",
            imports=(
                "import inspect",
                "import types",
                "import typing",
                place.statement,
                *written[1],
            ),
            disputed=repr(offer.whole.name),
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
        expected=True if offer.whole.name in having else None,
    )
