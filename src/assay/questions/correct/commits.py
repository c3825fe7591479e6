"""Suite files on disk: read, written, compared as a patch, committed with their evidence."""

from __future__ import annotations

import difflib
import os
import re
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from assay.documents import LARGEST_DOCUMENT, read_text
from assay.errors import InfrastructureError, InputError

_LINES = re.compile(r"[^\n]*\n|[^\n]+\Z")


def read_suite_text(path: Path) -> str:
    """Return the text of a file as it is: no line end and no mark at its beginning is lost."""
    try:
        return read_text(path, LARGEST_DOCUMENT, keep_mark=True)
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", where=str(path)) from None


def write_suite_text(path: Path, text: str) -> None:
    """Put a text in place of the file's; whoever reads it sees the old one or the new one."""
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
    """Lines as git counts them: other separators are characters of a line."""
    return _LINES.findall(text)


_SECONDS = 120
_SUBJECT = 72


@dataclass(frozen=True)
class Repository:
    """The git repository that a file is in."""

    root: Path

    @classmethod
    def of(cls, path: Path) -> Repository:
        """Return the repository of a file that git keeps; an InputError if it does not."""
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
        """Refuse if anything that git keeps is changed; new files, and those of `but`, may be."""
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
                advice="commit or stash them first, so that a fix is a commit of its own",
            )

    def commit(self, paths: Sequence[Path], message: str) -> str:
        """Commit these files and nothing else; the name of the commit."""
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


def commit_change(
    suite: Path,
    text: str,
    message: str,
    *,
    also: Sequence[Path] = (),
    but: Sequence[Path] = (),
) -> str:
    """Write the new text of a suite and commit it, alone with the files of `also` (its proofs).

    Refused where the tree has changes other than in the files of `but`, which are left alone. If
    git refuses, the suite is as it was.
    """
    repository = Repository.of(suite)
    repository.require_clean(but=(*also, *but))
    before = read_suite_text(suite)
    write_suite_text(suite, text)
    try:
        return repository.commit([suite, *also], message)
    except BaseException:
        write_suite_text(suite, before)
        names = [str(path.resolve()) for path in (suite, *also)]
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
