"""What becomes of a correction that is Valid: a patch, an edit in place, or a commit of its own."""

from __future__ import annotations

import asyncio
import json
import os
from collections import Counter
from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path
from typing import Any

from assay.documents import replace_file
from assay.errors import InputError
from assay.model import CaseRecord
from assay.questions.correct import (
    Repository,
    commit_change,
    commit_message,
    edit_suite,
    patch,
    read_suite_text,
    write_suite_text,
)
from assay.questions.model import Question
from assay.questions.model_prover.correction_loop import Pass, Remediation
from assay.questions.proofs.store import ProofStore
from assay.runs import Run

PATCH = "fixes.patch"


class Fixing(StrEnum):
    """How far a fix may go."""

    PATCH = "patch"
    APPLY = "apply"
    COMMIT = "commit"


class Keeper:
    """Puts corrections where they were asked for, one at a time."""

    def __init__(self, fixing: Fixing) -> None:
        self.fixing = fixing
        self._writing = asyncio.Lock()

    def check(self, suites: Iterable[Path]) -> None:
        """Refuse at the start what would be refused at the end."""
        if self.fixing is Fixing.COMMIT:
            for suite in suites:
                Repository.of(suite).require_clean()

    async def keep(self, remediation: Remediation, lock: str, *, writes: bool) -> str:
        """Carry a correction out; what was done, in words."""
        kept = remediation.kept
        assert kept is not None
        if self.fixing is Fixing.PATCH:
            return f"in {PATCH}"
        async with self._writing:
            return await asyncio.to_thread(self._carry_out, remediation, kept, lock, writes)

    def _carry_out(self, remediation: Remediation, kept: Pass, lock: str, writes: bool) -> str:
        entry = kept.work.entry
        store = remediation.first.work.store
        assert kept.revision is not None
        text = edit_suite(
            read_suite_text(entry.file),
            entry.id,
            kept.revision.changes,
            suffix=entry.file.suffix,
        )
        if writes:
            _keep_proofs(kept, store, lock)
        if self.fixing is Fixing.APPLY:
            write_suite_text(entry.file, text)
            return "applied"
        assert isinstance(entry.question, Question)
        own = _files(store.folder(entry.question)) if writes else []
        others = _files(store.root) if writes else []
        commit = commit_change(entry.file, text, _message(remediation), also=own, but=others)
        return f"committed as {commit[:12]}"


def _keep_proofs(kept: Pass, store: ProofStore, lock: str) -> None:
    question = kept.work.entry.question
    assert isinstance(question, Question)
    assert kept.examination is not None
    if kept.examination.new:
        store.save(question, kept.examination.new, lock)


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def _message(remediation: Remediation) -> str:
    first, kept = remediation.first, remediation.kept
    assert kept is not None
    assert kept.revision is not None
    assert first.record is not None
    assert kept.record is not None
    options: dict[str, Any] = (kept.record.detail or {}).get("options", {})
    changed = ", ".join(kept.revision.changes)
    return commit_message(
        kept.work.entry.id,
        f"{first.verdict}, now {kept.verdict}",
        [
            f"It was {first.record.reason}",
            f"Changed: {changed}",
            "",
            "Every option was proven again, by execution and without knowledge of the key:",
            *(f"{letter} {one['state']}: {one['reason']}" for letter, one in options.items()),
        ],
    )


def correction_record(
    remediation: Remediation, carried_out: str | None, problem: str | None = None
) -> CaseRecord:
    """Return the record of a question that was to be corrected.

    What stands in the suite afterwards is what the record is about: with a patch alone that is the
    question as it was.
    """
    record, told = remediation.first.record, remediation.as_values()
    assert record is not None
    if told is None:
        return record
    if remediation.kept is None or problem is not None:
        told |= {"status": "needs human review", "problem": problem or ""}
        words = f"needs human review: {problem or _tries(told)}"
        return _with_fix(record, told, f"{record.reason}; {words}")
    assert carried_out is not None
    told |= {"was": record.reason, "kept": carried_out}
    if carried_out.startswith("in "):
        return _with_fix(record, told, f"{record.reason}; a correction is {carried_out}")
    assert remediation.kept.record is not None
    new = remediation.kept.record
    return _with_fix(new, told, f"{new.reason} (corrected and {carried_out}; was {record.reason})")


def _tries(told: dict[str, Any]) -> str:
    number = len(told["tries"])
    return told["notes"][-1] if told["notes"] else f"none of {number} corrections is Valid"


def _with_fix(record: CaseRecord, told: dict[str, Any], reason: str) -> CaseRecord:
    detail = {**(record.detail or {}), "fix": json.loads(json.dumps(told))}
    return record.model_copy(update={"detail": detail, "reason": reason})


def fix_counts(run: Run) -> str:
    """Return how many questions were corrected and how many are left to people; empty if none."""
    counts: Counter[str] = Counter()
    for row in run.rows():
        fix = (run.read_packed(row)["detail"] or {}).get("fix")
        counts.update([fix["status"]] if fix else [])
    return ", ".join(f"{number} {status}" for status, number in sorted(counts.items()))


def write_patch(run: Run) -> Path | None:
    """Return the corrections of a run that were not carried out, as one patch in its folder."""
    texts: dict[Path, tuple[str, str]] = {}
    for row in run.rows():
        packed = run.read_packed(row)
        fix = (packed["detail"] or {}).get("fix") or {}
        if fix.get("status") != "fixed" or not str(fix.get("kept")).startswith("in "):
            continue
        file, _, _ = str(packed["detail"]["place"]).rpartition(":")
        path = Path(file)
        before, after = texts.get(path) or (read_suite_text(path),) * 2
        name = str(packed["id"]).rpartition("::")[2]
        texts[path] = before, edit_suite(after, name, fix["changes"], suffix=path.suffix)
    if not texts:
        return None
    target = run.path / PATCH
    parts = [patch(before, after, _name(path)) for path, (before, after) in texts.items()]
    replace_file(target, [part.encode() for part in parts])
    return target


def _name(path: Path) -> str:
    """Return a path as a patch names it: from the folder where the command runs."""
    seen = os.path.relpath(path)
    if seen.startswith(".."):
        raise InputError(
            "lies outside of the current folder, so that no patch can name it",
            where=str(path),
            advice="run the command above it, or use --apply",
        )
    return Path(seen).as_posix()
