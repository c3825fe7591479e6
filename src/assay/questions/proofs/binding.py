"""A proof belongs to its option: a digest notices edits, and what is disputed is in the question.

The digest is no signature: whoever writes proof.json can compute it too. Pure.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, asdict, dataclass, fields
from typing import Any

from pydantic import BaseModel, ConfigDict
from pydantic_core import to_jsonable_python

from assay.model import compute_fingerprint
from assay.questions.model import Question
from assay.questions.proofs.claims import MODELLED, PERSON, WRITTEN, Proof
from assay.questions.proofs.forgery import PIECE, Given, read_given
from assay.questions.proofs.proof_file import DISPUTED, UnfitProofError, find_assignment

_ESCAPE = re.compile(r"\\[nrt]")
_CODE_LIKE = re.compile(r"[`\"_=]|(?<!\w)'|\w\(|[a-z][A-Z.][a-z]|^\s*\w+\s*$")
_NUMBERS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_SHOWN = 80


class Binding(BaseModel):
    """What proof.json keeps of a proof that was taken in: the digest, and those that name an edit.

    `lock` is the hash of the target's lock on which the expected outcomes were seen.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    lock: str
    claim: str
    source: str
    expected: str
    digest: str


@dataclass(frozen=True)
class Bound:
    """What a digest covers."""

    proof: Proof
    option_fingerprint: str
    expected: Mapping[str, str]

    def bind(self, lock: str) -> Binding:
        """Return the binding of a proof as it is now."""
        claim, expected = _claim_values(self.proof), dict(self.expected)
        return Binding(
            lock=lock,
            claim=compute_fingerprint(claim),
            source=digest_source(self.proof.source),
            expected=compute_fingerprint(expected),
            digest=compute_fingerprint(
                claim, self.option_fingerprint, self.proof.source, expected, lock
            ),
        )

    def list_changes(self, binding: Binding) -> tuple[str, ...]:
        """Return which parts are not as they were bound; `binding` if only that itself is not."""
        now = self.bind(binding.lock)
        if now == binding:
            return ()
        parts = ("claim", "source", "expected")
        changed = (part for part in parts if getattr(now, part) != getattr(binding, part))
        return tuple(changed) or ("binding",)


def digest_source(source: str) -> str:
    """Return the digest by which the text of a proof is known again."""
    return compute_fingerprint(source)


def _claim_values(proof: Proof) -> dict[str, Any]:
    """Return a claim without the fields that have their default: a new field unbinds no proof."""
    claim, values = proof.claim, asdict(proof.claim)
    for field in fields(claim):
        default = field.default if field.default_factory is MISSING else field.default_factory()
        if getattr(claim, field.name) == default:
            del values[field.name]
    plain: dict[str, Any] = to_jsonable_python(
        {**values, "prover": proof.prover, "file": proof.file}
    )
    return plain


def find_misfit(question: Question, proof: Proof) -> str | None:
    """Return why a proof that somebody wrote is not about its option, if that can be seen."""
    if proof.prover not in (WRITTEN, PERSON, MODELLED):
        return None
    try:
        check_disputed(proof.source, read_given(question, proof.claim.option))
    except UnfitProofError as error:
        what = "claim" if proof.prover == PERSON else "proof"
        return f"the {what} is not about option {proof.claim.option}: {error}"
    return None


def check_disputed(source: str, given: Given, *, strict: bool = False) -> None:
    """Raise UnfitProofError if the disputed element is neither in the option nor in the question.

    Only texts, numbers and names can be looked for. A path is there if its last name is. Unless it
    is `strict`, an option in plain words may mean any name, and one without digits any number.
    """
    try:
        tree = ast.parse(source)
        node = find_assignment(tree, DISPUTED)
    except (SyntaxError, ValueError, RecursionError, MemoryError, UnfitProofError):
        return
    said = f"{given.prose}\n{given.code}"
    # What is printed may be written with escapes.
    said = f"{said}\n{_ESCAPE.sub(' ', said)}"
    if strict and not _is_plain(node):
        shown = ast.unparse(node)[:_SHOWN] if node else ""
        raise UnfitProofError(f"{DISPUTED} must be a literal or the name of a class: {shown}")
    for value in _find_values(tree, node):
        if not _is_said(value, said, None if strict else given.option):
            where = "occurs neither in the option nor in the question"
            raise UnfitProofError(f"{DISPUTED} {where}: {str(value)[:_SHOWN]!r}")


def _is_plain(node: ast.expr | None) -> bool:
    """Tell whether it can be seen what an expression is: a literal, or the name of something."""
    if isinstance(node, ast.Name | ast.Attribute) or node is None:
        return True
    try:
        ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return False
    return True


def _find_values(tree: ast.Module, node: ast.expr | None) -> Iterator[str | float]:
    """Yield the texts and numbers of a disputed element, or the name of what it imports."""
    if isinstance(node, ast.Attribute):
        yield node.attr
        return
    if isinstance(node, ast.Name):
        known = vars(builtins).get(node.id)
        if isinstance(known, type) and issubclass(known, BaseException):
            yield node.id
        yield from (
            alias.name.rpartition(".")[2]
            for one in ast.walk(tree)
            if isinstance(one, ast.Import | ast.ImportFrom)
            for alias in one.names
            if (alias.asname or alias.name) == node.id
        )
        return
    try:
        waiting = [] if node is None else [ast.literal_eval(node)]
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            waiting += [*value.keys(), *value.values()]
        elif isinstance(value, list | tuple | set | frozenset):
            waiting += value
        elif isinstance(value, bytes):
            yield value.decode("latin-1")
        elif isinstance(value, str) or (
            isinstance(value, int | float) and not isinstance(value, bool)
        ):
            yield value


def _is_said(value: str | float, said: str, option: str | None) -> bool:
    """Tell whether a value occurs in a text; an `option` in plain words may mean any."""
    if not isinstance(value, str):
        plain = option is not None and not re.search(r"\d", option)
        return value in _find_numbers(said) or plain
    if option is not None and not _CODE_LIKE.search(option):
        return True
    words = re.findall(r"\w+", value)
    is_path = all(part.isidentifier() for part in value.split("."))
    return all(occurs(word, said) for word in words[-1 if is_path else 0 :])


def occurs(word: str, text: str) -> bool:
    """Return whether a word is in a text, as `ValidationError` is in "a validation error"."""
    pieces = " ".join(PIECE.findall(word)).lower()
    if not pieces:
        return word in text
    return f" {pieces} " in f" {' '.join(PIECE.findall(text)).lower()} "


def _find_numbers(text: str) -> set[float]:
    digits = re.findall(r"\d[\d_,]*(?:\.\d+)?(?:[eE][+-]?\d+)?", text)
    plain = {float(one) for one in re.findall(r"\d+(?:\.\d+)?", text)}
    written = {float(re.sub(r"[_,]", "", one)) for one in digits}
    words = {
        float(_NUMBERS.index(one)) for one in re.findall(r"\w+", text.lower()) if one in _NUMBERS
    }
    found = plain | written | words
    return found | {-one for one in found}
