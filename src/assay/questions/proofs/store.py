"""The proof store: per question a folder of pytest files and a `proof.json`, meant to be committed.

It holds no key, time or path, and no outcome that counts as evidence: stored proofs are run again.
A proof that is not as it was taken in is refused. Writing the same proofs again does not change a
byte.
"""

from __future__ import annotations

import hashlib
import json
import re
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from assay.documents import (
    LARGEST_RECORD,
    LARGEST_SOURCE,
    read_bytes,
    read_record,
    read_text,
    replace_file,
)
from assay.errors import InfrastructureError, InputError
from assay.questions.model import Question
from assay.questions.proofs.binding import Binding, Bound, digest_source, find_misfit
from assay.questions.proofs.claims import FORMER_PROVERS, WRITTEN, Claim, Grounds, Proof, Relation
from assay.questions.verdict.option_findings import Truth
from assay.tracebacks import first_problem

FOLDER = "proofs"
MANIFEST = "proof.json"
LOCKS = "locks"
_SLUG_LENGTH = 80


class StoredClaim(BaseModel):
    """One claim of `proof.json`: what its file is to show, for which text of the option.

    A claim without a binding was written by an earlier version, or somebody took it out.
    """

    model_config = ConfigDict(extra="forbid")

    option: str
    statement: str
    relation: Relation
    kind: str
    grounds: Grounds
    fresh: bool
    absent_path: bool
    prover: str
    file: str = Field(pattern=r"^test_\w+\.py$")
    option_fingerprint: str
    expected: dict[str, Literal["passed", "failed"]]
    bound: Binding | None = None
    model: str = ""
    asks: str = ""
    reviewer: str = ""
    agreed: Literal["", "necessary", "sufficient", "equivalent"] = ""
    agreed_asks: str = ""

    def claim(self) -> Claim:
        return Claim(**{name: getattr(self, name) for name in _STORED})

    def bound_to(self, source: str) -> Bound:
        """Return what the digest covers, with the source that the file has now."""
        proof = Proof(self.claim(), self.file, source, self.prover)
        return Bound(proof, self.option_fingerprint, self.expected)


# A claim about two options, or by a person, is read anew each time.
_STORED = Claim.__dataclass_fields__.keys() - {"twin", "by_person"}


class ProofManifest(BaseModel):
    """`proof.json`: the claims on one question and the lock of the target they were shown on."""

    model_config = ConfigDict(extra="forbid")

    schema_version: Literal[1] = 1
    question: str
    fingerprint: str
    lock: str
    claims: list[StoredClaim]


@dataclass(frozen=True)
class StoredProof:
    """A proof of the store: whether the question still reads as it did, and what was seen then.

    `lock` is the hash of the lock on which that was seen, `changes` are the parts that are not as
    they were taken in, `change` says so, and `address` is that of the question.
    """

    proof: Proof
    is_current: bool
    expected: Mapping[str, str]
    path: Path = Path()
    address: str = ""
    lock: str | None = None
    change: str | None = None
    changes: tuple[str, ...] = ()

    def refuse(self, reason: str, *, more: int = 0) -> InputError:
        """Return the error that names this proof; `more` others of the question are like it."""
        others = f" ({more} more of this question)" if more else ""
        option = "" if more else f" --option {shlex.quote(self.proof.claim.option)}"
        command = f"assay questions prove {shlex.quote(self.address)}{option} --accept"
        return InputError(
            f"{reason}{others}",
            where=str(self.path),
            advice=f"restore it, or look at it and take it in as it is: {command}",
        )


@dataclass(frozen=True)
class NewProof:
    """A proof that was run, as the store takes it in; one whose sides both pass decides nothing."""

    proof: Proof
    truth: Truth
    tests: tuple[str, str, tuple[str, ...]]

    def outcomes(self) -> dict[str, Literal["passed", "failed"]]:
        holds, fails, controls = self.tests
        return {
            holds: "failed" if self.truth is Truth.FALSE else "passed",
            fails: "failed" if self.truth is Truth.TRUE else "passed",
            **dict.fromkeys(controls, "passed"),
        }


class ProofStore:
    """The proofs of one suite file: beside it, or in a folder of their own."""

    def __init__(self, suite: Path, root: Path | None = None) -> None:
        self._suite = suite
        self.root = suite.parent / FOLDER if root is None else root
        self._folder = self.root / suite.stem
        # A folder that the user names may be a link. Below it and beside a suite no link is
        # followed: proofs would be written wherever it points.
        for folder in (*([self.root] if root is None else []), self._folder, self.root / LOCKS):
            _refuse_link(folder)

    def folder(self, question: Question) -> Path:
        folder = self._folder / slug(question.id)
        _refuse_link(folder)
        return folder

    def load(self, question: Question) -> list[StoredProof]:
        """Return the proofs of a question; those of a changed option are not current.

        A proof that was edited, moved or swapped, or is not bound, is an InputError.
        """
        found = self.inspect(question)
        changed = [one for one in found if one.change]
        for one in changed:
            raise one.refuse(str(one.change), more=len(changed) - 1)
        return found

    def inspect(self, question: Question) -> list[StoredProof]:
        """Return the proofs of a question as they are, each with what was changed about it."""
        folder = self.folder(question)
        stored = self._read(folder)
        if stored is None:
            return []
        return [self._inspect(question, stored, claim, folder) for claim in stored.claims]

    def _inspect(
        self, question: Question, stored: ProofManifest, claim: StoredClaim, folder: Path
    ) -> StoredProof:
        source = _source(folder / claim.file)
        bound = claim.bound_to(source)
        change, changes = None, bound.list_changes(claim.bound) if claim.bound else ()
        if claim.bound is None:
            change = (
                f"the proof of option {claim.option} is not bound to it: an earlier version of "
                "Assay wrote it, or its digest was removed"
            )
        elif changes:
            change = self._describe(question, claim, claim.bound, bound, changes)
        elif stored.question != question.id:
            change = f"this is a proof of the question {stored.question!r}"
        elif _is_current(question, claim):
            change = find_misfit(question, bound.proof)
        prover = FORMER_PROVERS.get(claim.prover, claim.prover)
        return StoredProof(
            replace(bound.proof, prover=prover),
            _is_current(question, claim),
            claim.expected,
            folder / claim.file,
            f"{self._suite}::{question.id}",
            claim.bound.lock if claim.bound else None,
            change,
            changes,
        )

    def _describe(
        self,
        question: Question,
        claim: StoredClaim,
        binding: Binding,
        bound: Bound,
        changes: tuple[str, ...],
    ) -> str:
        """Say what was changed, and whose proof it is if that is known."""
        if "source" in changes and (owner := self._find_owner(question, bound.proof)):
            return f"this is the proof of {owner}, and not of option {claim.option}"
        if "claim" in changes:
            for option in question.options:
                moved = replace(bound.proof, claim=replace(bound.proof.claim, option=option))
                if replace(bound, proof=moved).bind(binding.lock).claim == binding.claim:
                    return (
                        f"this is the proof of option {option} of {question.id}, and not of option "
                        f"{claim.option}: its claim in {MANIFEST} was edited"
                    )
        named = " and ".join(_CHANGES[change] for change in changes)
        return f"{named} of option {claim.option} changed after the proof was taken in"

    def _find_owner(self, question: Question, proof: Proof) -> str | None:
        """Return whose proof this text is, if it is another of the same suite."""
        digest = digest_source(proof.source)
        own = self.folder(question)
        for folder in (own, *sorted(self._folder.iterdir())):
            stored = self._read(folder) if not folder.is_symlink() else None
            for claim in stored.claims if stored else ():
                is_same = folder == own and claim.file == proof.file
                if not is_same and claim.bound is not None and claim.bound.source == digest:
                    return f"option {claim.option} of {stored.question}" if stored else None
        return None

    def save(
        self, question: Question, shown: Iterable[NewProof], lock: str, *, beside: bool = False
    ) -> bool:
        """Add proofs, in place of those of the same options; whether anything was written.

        With `beside` only a file of the same name is replaced. Proofs of other options stay as
        they are if their option still reads the same.
        """
        new = list(shown)
        folder = self.folder(question)
        replaced = {one.proof.file if beside else one.proof.claim.option for one in new}
        before = self._read(folder)
        kept = [
            claim
            for claim in (before.claims if before else [])
            if (claim.file if beside else claim.option) not in replaced
            and (claim.prover == WRITTEN or _is_current(question, claim))
        ]
        claims = [*kept, *(_to_claim(question, one, lock) for one in new)]
        if len({claim.file for claim in claims}) < len(claims):
            raise ValueError("two proofs of one question share a file name")
        stored = ProofManifest(
            question=question.id,
            fingerprint=question.fingerprint(),
            lock=digest_lock(lock),
            claims=sorted(claims, key=lambda claim: (claim.option, claim.file)),
        )
        files = {one.proof.file: one.proof.source for one in new}
        # Only Assay's own files: drafts of the user are kept.
        gone = {claim.file for claim in (before.claims if before else [])}
        return self._write(folder, stored, files, lock, gone - {claim.file for claim in claims})

    def remove(self, question: Question, option: str) -> int:
        """Remove the proofs of an option from the store; return how many there were."""
        folder = self.folder(question)
        stored = self._read(folder)
        if stored is None:
            return 0
        gone = [claim for claim in stored.claims if claim.option == option]
        left = [claim for claim in stored.claims if claim.option != option]
        for claim in gone:
            (folder / claim.file).unlink(missing_ok=True)
        if left:
            text = _manifest_text(stored.model_copy(update={"claims": left}))
            _put(folder / MANIFEST, text)
        else:
            (folder / MANIFEST).unlink()
        return len(gone)

    def _read(self, folder: Path) -> ProofManifest | None:
        path = folder / MANIFEST
        try:
            stored = ProofManifest.model_validate_json(read_record(path, follow=False))
        except (FileNotFoundError, NotADirectoryError):
            return None
        except ValidationError as error:
            raise InputError(
                f"is not a proof that Assay wrote: {first_problem(error)}",
                where=str(path),
                advice="remove the folder to have the question proven again",
            ) from None
        except OSError as error:
            raise InfrastructureError(
                f"cannot be read: {error.strerror}", where=str(path)
            ) from None
        if len({claim.file for claim in stored.claims}) < len(stored.claims):
            raise InputError(
                "names a file twice",
                where=str(path),
                advice="remove the folder to have the question proven again",
            )
        return stored

    def lock_file(self, lock: str) -> Path:
        """Return where the lock of a target is kept."""
        return self.root / LOCKS / f"{digest_lock(lock)}.txt"

    def _write(
        self,
        folder: Path,
        stored: ProofManifest,
        files: Mapping[str, str],
        lock: str,
        gone: Iterable[str],
    ) -> bool:
        text = _manifest_text(stored)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            written = [_put(folder / name, source) for name, source in sorted(files.items())]
            # Last, so that a proof.json never names a file that is not there.
            written.append(_put(self.lock_file(lock), lock))
            written.append(_put(folder / MANIFEST, text))
            for name in gone:
                (folder / name).unlink(missing_ok=True)
                written.append(True)
        except OSError as error:
            raise InfrastructureError(
                f"the proofs cannot be kept: {error.strerror}", where=str(folder)
            ) from None
        return any(written)


class NoProofs(ProofStore):
    """An empty store: everything is proven anew or not at all."""

    def load(self, question: Question) -> list[StoredProof]:
        return []


def _is_current(question: Question, claim: StoredClaim) -> bool:
    """Return whether the option is unchanged since its proof was accepted."""
    return (
        claim.option in question.options
        and claim.option_fingerprint == question.option_fingerprint(claim.option)
    )


_CHANGES = {
    "claim": f"the claim (in {MANIFEST})",
    "source": "the source",
    "expected": f"the expected outcome (in {MANIFEST})",
    "binding": f"the fingerprint, the lock or the digest (in {MANIFEST})",
}


def slug(identifier: str) -> str:
    """Return a unique folder name for a question's id."""
    plain = re.sub(r"[^\w.-]+", "-", identifier, flags=re.ASCII).strip("-.")
    if plain == identifier and len(plain) <= _SLUG_LENGTH:
        return plain
    mark = hashlib.sha256(identifier.encode()).hexdigest()[:8]
    return f"{plain[:_SLUG_LENGTH].rstrip('-.')}-{mark}"


def _to_claim(question: Question, new: NewProof, lock: str) -> StoredClaim:
    claim = StoredClaim(
        **{name: value for name, value in asdict(new.proof.claim).items() if name in _STORED},
        prover=new.proof.prover,
        file=new.proof.file,
        option_fingerprint=question.option_fingerprint(new.proof.claim.option),
        expected=new.outcomes(),
    )
    bound = claim.bound_to(new.proof.source).bind(digest_lock(lock))
    return claim.model_copy(update={"bound": bound})


_OF_MODELS = ("model", "reviewer", "agreed", "agreed_asks")


def _manifest_text(stored: ProofManifest) -> str:
    values = stored.model_dump(mode="json")
    for claim in values["claims"]:
        # Only a model's claim names one, and only one that was reviewed has a reviewer.
        for name in _OF_MODELS:
            if not claim[name]:
                del claim[name]
    return json.dumps(values, indent=2, sort_keys=True) + "\n"


def _source(path: Path) -> str:
    try:
        return read_text(path, LARGEST_SOURCE, follow=False, keep_mark=True)
    except FileNotFoundError:
        raise InputError(
            "is named by its proof.json but is not there",
            where=str(path),
            advice="restore it, or remove the folder to have the question proven again",
        ) from None
    except OSError as error:
        raise InputError(f"cannot be read: {error}", where=str(path)) from None


def _refuse_link(folder: Path) -> None:
    if folder.is_symlink():
        raise InputError(
            "is a symbolic link",
            where=str(folder),
            advice="put the folder itself in its place, or name another with --proofs",
        )


def _put(path: Path, text: str) -> bool:
    """Write a file unless its content is the same."""
    data = text.encode()
    try:
        if read_bytes(path, LARGEST_RECORD, follow=False) == data:
            return False
    except FileNotFoundError:
        path.parent.mkdir(parents=True, exist_ok=True)
    replace_file(path, [data])
    return True


def digest_lock(lock: str) -> str:
    """Return the name under which the lock of a target is kept."""
    return hashlib.sha256(lock.encode()).hexdigest()[:16]
