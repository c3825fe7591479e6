"""The proof store: per question a folder of pytest files and a `proof.json`, meant to be committed.

It holds no key, time or path, and no outcome that counts as evidence: stored proofs are run again.
Writing the same proofs again does not change a byte.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
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
from assay.questions.proofs.claims import WRITTEN, Claim, Grounds, Proof, Relation
from assay.questions.verdict.option_findings import Truth
from assay.tracebacks import first_problem

FOLDER = "proofs"
MANIFEST = "proof.json"
LOCKS = "locks"
_SLUG_LENGTH = 80


class StoredClaim(BaseModel):
    """One claim of `proof.json`: what its file is to show, for which text of the option."""

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

    def claim(self) -> Claim:
        return Claim(**{name: getattr(self, name) for name in Claim.__dataclass_fields__})


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
    """A proof of the store: whether the question still reads as it did, and what was seen then."""

    proof: Proof
    is_current: bool
    expected: Mapping[str, str]


@dataclass(frozen=True)
class NewProof:
    """A proof that settled its claim, as the store takes it in."""

    proof: Proof
    truth: Truth
    tests: tuple[str, str, tuple[str, ...]]

    def outcomes(self) -> dict[str, Literal["passed", "failed"]]:
        holds, fails, controls = self.tests
        is_true = self.truth is Truth.TRUE
        return {
            holds: "passed" if is_true else "failed",
            fails: "failed" if is_true else "passed",
            **dict.fromkeys(controls, "passed"),
        }


class ProofStore:
    """The proofs of one suite file: beside it, or in a folder of their own."""

    def __init__(self, suite: Path, root: Path | None = None) -> None:
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
        """Return the proofs of a question; those of a changed option are not current."""
        folder = self.folder(question)
        stored = self._read(folder)
        if stored is None:
            return []
        kept = []
        for claim in stored.claims:
            proof = Proof(claim.claim(), claim.file, _source(folder / claim.file), claim.prover)
            kept.append(StoredProof(proof, _is_current(question, claim), claim.expected))
        return kept

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
        claims = [*kept, *(_to_claim(question, one) for one in new)]
        if len({claim.file for claim in claims}) < len(claims):
            raise ValueError("two proofs of one question share a file name")
        stored = ProofManifest(
            question=question.id,
            fingerprint=question.fingerprint(),
            lock=_digest(lock),
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
            written.append(_put(self.root / LOCKS / f"{stored.lock}.txt", lock))
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


def slug(identifier: str) -> str:
    """Return a unique folder name for a question's id."""
    plain = re.sub(r"[^\w.-]+", "-", identifier, flags=re.ASCII).strip("-.")
    if plain == identifier and len(plain) <= _SLUG_LENGTH:
        return plain
    mark = hashlib.sha256(identifier.encode()).hexdigest()[:8]
    return f"{plain[:_SLUG_LENGTH].rstrip('-.')}-{mark}"


def _to_claim(question: Question, new: NewProof) -> StoredClaim:
    return StoredClaim(
        **asdict(new.proof.claim),
        prover=new.proof.prover,
        file=new.proof.file,
        option_fingerprint=question.option_fingerprint(new.proof.claim.option),
        expected=new.outcomes(),
    )


def _manifest_text(stored: ProofManifest) -> str:
    return json.dumps(stored.model_dump(mode="json"), indent=2, sort_keys=True) + "\n"


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


def _digest(lock: str) -> str:
    return hashlib.sha256(lock.encode()).hexdigest()[:16]
