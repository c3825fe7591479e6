"""Applies a Valid correction: as a patch, in place, or as a commit with its evidence."""

from __future__ import annotations

import asyncio
import difflib
import json
import os
import re
import subprocess
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.documents import LARGEST_DOCUMENT, read_text, replace_file
from assay.errors import InfrastructureError, InputError
from assay.model import CaseRecord
from assay.questions.correct.correction import CodeChange
from assay.questions.correct.editing import Changes, edit_suite
from assay.questions.model import Question
from assay.questions.proofs.store import ProofStore
from assay.runs import Run

if TYPE_CHECKING:
    from assay.questions.model_prover.correction_loop import CorrectionResult, Pass


_LINES = re.compile(r"[^\n]*\n|[^\n]+\Z")


def read_suite_text(path: Path) -> str:
    """Return the exact text of a file, keeping line ends and a byte order mark."""
    try:
        return read_text(path, LARGEST_DOCUMENT, keep_mark=True)
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", where=str(path)) from None


def write_suite_text(path: Path, text: str) -> None:
    """Replace the text of a file atomically."""
    new = path.with_name(f".{path.name}.new")
    try:
        # What an earlier try left, or a link that somebody put there: it is not written through.
        new.unlink(missing_ok=True)
        with new.open("xb") as file:
            file.write(text.encode("utf-8"))
        new.chmod(path.stat().st_mode & 0o7777)
        new.replace(path.resolve())
    except OSError as error:
        new.unlink(missing_ok=True)
        raise InfrastructureError(f"cannot be written: {error.strerror}", where=str(path)) from None


def patch(old: str, new: str, path: str) -> str:
    """Return the unified difference, as `git apply` and `patch -p1` take it; empty if none."""
    lines = difflib.unified_diff(_lines(old), _lines(new), f"a/{path}", f"b/{path}")
    told = []
    for line in lines:
        told.append(line)
        if not line.endswith("\n"):
            told.append("\n\\ No newline at end of file\n")
    return "".join(told)


def _lines(text: str) -> list[str]:
    """Return lines as git counts them: other separators are ordinary characters."""
    return _LINES.findall(text)


_SECONDS = 120
_SUBJECT = 72


@dataclass(frozen=True)
class Repository:
    """The git repository that a file is in."""

    root: Path

    @classmethod
    def of(cls, path: Path) -> Repository:
        """Return the repository of a tracked file; raise InputError if it is not tracked."""
        folder = path.resolve().parent
        found = _git(folder, "rev-parse", "--show-toplevel")
        if found.returncode != 0:
            raise InputError(
                "is in no git repository, so nothing can be committed",
                where=str(path),
                advice="use --apply, or put it under version control",
            )
        repository = cls(Path(found.stdout.rstrip("\n")))
        known = _git(folder, "ls-files", "--error-unmatch", "--", str(path.resolve()))
        if known.returncode != 0:
            raise InputError(
                "is not under version control yet", where=str(path), advice="commit it first"
            )
        return repository

    def require_clean(self, *, but: Iterable[Path] = ()) -> None:
        """Refuse if tracked files have changes; new files, and those in `but`, may."""
        status = _git(self.root, "status", "--porcelain", "-z", "--untracked-files=no")
        if status.returncode != 0:
            raise InfrastructureError(f"git status failed: {status.stderr.strip()}")
        allowed = {path.resolve() for path in but}
        dirty = [name for name in _names(status.stdout) if (self.root / name) not in allowed]
        if dirty:
            more = f" and {len(dirty) - 1} more" if len(dirty) > 1 else ""
            raise InputError(
                f"the working tree has changes: {dirty[0]}{more}",
                where=str(self.root),
                advice="commit or stash them first, so that each fix is a separate commit",
            )

    def commit(self, paths: Sequence[Path], message: str) -> str:
        """Commit only these files; return the commit id."""
        names = [str(path.resolve()) for path in paths]
        for words in (
            ("add", "--", *names),
            ("commit", "--quiet", "--only", "--cleanup=whitespace", "--file=-", "--", *names),
        ):
            done = _git(self.root, *words, text=message)
            if done.returncode != 0:
                said = (done.stderr or done.stdout).strip()
                raise InputError(f"git {words[0]} failed: {said}", where=str(self.root))
        return _git(self.root, "rev-parse", "HEAD").stdout.strip()


def write_texts(texts: Mapping[Path, str]) -> dict[Path, str]:
    """Replace the texts of files, all or none; return those that they had."""
    before = {path: read_suite_text(path) for path in texts}
    try:
        for path, text in texts.items():
            write_suite_text(path, text)
    except BaseException:
        for path, text in before.items():
            write_suite_text(path, text)
        raise
    return before


def commit_change(
    texts: Mapping[Path, str],
    message: str,
    *,
    also: Sequence[Path] = (),
    but: Sequence[Path] = (),
) -> str:
    """Write the new texts of files and commit them, alone with the files of `also` (the proofs).

    Refused where the tree has changes other than in the files of `but`, which are left alone. If
    git refuses, the files are as they were.
    """
    repository, *others = [Repository.of(path) for path in texts]
    if any(one != repository for one in others):
        raise InputError(
            "the question and its code are in different repositories",
            where=", ".join(map(str, texts)),
            advice="use --apply",
        )
    repository.require_clean(but=(*also, *but))
    before = write_texts(texts)
    try:
        return repository.commit([*texts, *also], message)
    except BaseException:
        write_texts(before)
        names = [str(path.resolve()) for path in (*texts, *also)]
        _git(repository.root, "reset", "--quiet", "--", *names)
        raise


def commit_message(question_id: str, change: str, evidence: Iterable[str]) -> str:
    """Return the message of a commit: the question, what was wrong, and the evidence."""
    subject = " ".join(f"Fix question {question_id}: {change}".split())
    if len(subject) > _SUBJECT:
        subject = f"{subject[: _SUBJECT - 1].rstrip()}…"
    return "\n".join([subject, "", *evidence]) + "\n"


def _names(status: str) -> list[str]:
    """Return the paths of `git status -z`, where a renamed file is followed by its old name."""
    parts, names = iter(status.split("\0")), []
    for part in parts:
        if part:
            names.append(part[3:])
            if part[0] in "RC":
                next(parts, None)
    return names


def _git(folder: Path, *words: str, text: str = "") -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C.UTF-8"}
    try:
        return subprocess.run(  # noqa: S603 - the words are ours, the paths follow `--`
            ["git", *words],  # noqa: S607 - the user's own git
            cwd=folder,
            input=text,
            capture_output=True,
            text=True,
            encoding="utf-8",
            errors="surrogateescape",
            timeout=_SECONDS,
            env=environment,
            check=False,
        )
    except FileNotFoundError:
        raise InfrastructureError("git is not installed", advice="use --apply instead") from None
    except subprocess.TimeoutExpired:
        raise InfrastructureError(f"git {words[0]} did not end in {_SECONDS} s") from None


PATCH = "fixes.patch"


class FixMode(StrEnum):
    """How far a fix may go."""

    PATCH = "patch"
    APPLY = "apply"
    COMMIT = "commit"


class CorrectionWriter:
    """Puts corrections where they were asked for, one at a time."""

    def __init__(self, fixing: FixMode) -> None:
        self.fixing = fixing
        self._writing = asyncio.Lock()

    def check(self, suites: Iterable[Path]) -> None:
        """Check at the start everything that could be refused at the end."""
        if self.fixing is FixMode.COMMIT:
            for suite in suites:
                Repository.of(suite).require_clean()

    async def keep(self, result: CorrectionResult, lock: str, *, writes: bool) -> str:
        """Apply a correction; return a description of what was done."""
        kept = result.kept
        assert kept is not None
        assert kept.correction is not None
        if self.fixing is FixMode.PATCH:
            for path in _revise_entry(kept):
                _name(path)
            return f"in {PATCH}"
        async with self._writing:
            return await asyncio.to_thread(self._carry_out, result, kept, lock, writes)

    def _carry_out(self, result: CorrectionResult, kept: Pass, lock: str, writes: bool) -> str:
        entry = kept.work.entry
        store = result.first.work.store
        assert kept.correction is not None
        texts = _revise_entry(kept)
        # Only multiple-choice questions have proofs that are stored.
        writes = writes and isinstance(entry.question, Question)
        if writes:
            _keep_proofs(kept, store, lock)
        if self.fixing is FixMode.APPLY:
            write_texts(texts)
            return "applied"
        own: list[Path] = []
        if writes and isinstance(entry.question, Question):
            own = _files(store.folder(entry.question))
            own += [path for path in (store.lock_file(lock),) if path.is_file()]
        others = _files(store.root) if writes else []
        commit = commit_change(texts, _message(result), also=own, but=others)
        return f"committed as {commit[:12]}"


def _revise(
    texts: Mapping[Path, str], file: Path, case: str, changes: Changes, code: CodeChange | None
) -> dict[Path, str]:
    """Return the files that a correction changes, as they are with it.

    `texts` are those that other corrections have changed already.
    """
    changed: dict[Path, str] = {}
    if changes:
        text = texts.get(file) or read_suite_text(file)
        changed[file] = edit_suite(text, case, changes, suffix=file.suffix)
    if code is not None:
        changed[code.file] = code.apply(texts.get(code.file) or read_suite_text(code.file))
    return changed


def _revise_entry(kept: Pass) -> dict[Path, str]:
    correction, entry = kept.correction, kept.work.entry
    assert correction is not None
    return _revise({}, entry.file, entry.id, correction.changes, correction.code)


def _keep_proofs(kept: Pass, store: ProofStore, lock: str) -> None:
    question = kept.work.entry.question
    assert isinstance(question, Question)
    if kept.new:
        store.save(question, kept.new, lock)


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def _message(result: CorrectionResult) -> str:
    first, kept = result.first, result.kept
    assert kept is not None
    assert kept.correction is not None
    assert first.record is not None
    assert kept.record is not None
    detail: dict[str, Any] = kept.record.detail or {}
    options: dict[str, Any] = detail.get("options") or detail.get("candidates", {})
    changed = ", ".join(kept.correction.changed)
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
    result: CorrectionResult, carried_out: str | None, problem: str | None = None
) -> CaseRecord:
    """Return the record of a question that was to be corrected.

    What stands in the suite afterwards is what the record is about: with a patch alone that is the
    question as it was.
    """
    record, told = result.first.record, result.as_values()
    assert record is not None
    if told is None:
        return record
    if result.kept is None or problem is not None:
        told |= {"status": "needs human review", "problem": problem or ""}
        words = f"needs human review: {problem or _tries(told)}"
        return _with_fix(record, told, f"{record.reason}; {words}")
    assert carried_out is not None
    told |= {"was": record.reason, "kept": carried_out}
    if carried_out.startswith("in "):
        return _with_fix(record, told, f"{record.reason}; a correction is {carried_out}")
    assert result.kept.record is not None
    new = result.kept.record
    return _with_fix(new, told, f"{new.reason} (corrected and {carried_out}; was {record.reason})")


def _tries(told: dict[str, Any]) -> str:
    number = len(told["tries"])
    return told["notes"][-1] if told["notes"] else f"none of {number} corrections is Valid"


def _with_fix(record: CaseRecord, told: dict[str, Any], reason: str) -> CaseRecord:
    detail = {**(record.detail or {}), "fix": json.loads(json.dumps(told))}
    return record.model_copy(update={"detail": detail, "reason": reason})


def fix_counts(run: Run) -> str:
    """Return how many questions were corrected and how many are left; empty if none."""
    counts: Counter[str] = Counter()
    for row in run.rows():
        fix = (run.read_packed(row)["detail"] or {}).get("fix")
        counts.update([fix["status"]] if fix else [])
    return ", ".join(f"{number} {status}" for status, number in sorted(counts.items()))


def write_patch(run: Run) -> Path | None:
    """Return the unapplied corrections of a run, as one patch in its folder."""
    before: dict[Path, str] = {}
    after: dict[Path, str] = {}
    for row in run.rows():
        packed = run.read_packed(row)
        fix = (packed["detail"] or {}).get("fix") or {}
        if fix.get("status") != "fixed" or not str(fix.get("kept")).startswith("in "):
            continue
        file, _, _ = str(packed["detail"]["place"]).rpartition(":")
        name = str(packed["id"]).rpartition("::")[2]
        code = CodeChange.of_values(fix["code"]) if fix.get("code") else None
        changed = _revise(after, Path(file), name, fix["changes"], code)
        before |= {path: read_suite_text(path) for path in changed if path not in before}
        after |= changed
    if not after:
        return None
    target = run.path / PATCH
    parts = [patch(before[path], text, _name(path)) for path, text in after.items()]
    replace_file(target, [part.encode() for part in parts])
    return target


def _name(path: Path) -> str:
    """Return a path for a patch, relative to the current directory."""
    seen = os.path.relpath(path)
    if seen.startswith(".."):
        raise InputError(
            "lies outside of the current folder, so that no patch can name it",
            where=str(path),
            advice="run the command above it, or use --apply",
        )
    return Path(seen).as_posix()
