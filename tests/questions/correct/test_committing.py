"""Patches that git applies, and commits of one question each, in real repositories."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import InputError
from assay.questions.correct.apply_correction import (
    Repository,
    commit_change,
    commit_message,
    patch,
    read_suite_text,
    write_suite_text,
)
from assay.questions.correct.editing import edit_suite

SUITE = "benchmarks:\r\n- id: one  # ü\r\n  question: Which?\r\n  correct_answer: A\r\n"


def git(folder: Path, *words: str, text: str | None = None) -> str:
    done = subprocess.run(
        ["git", "-c", "core.autocrlf=false", *words],
        cwd=folder, input=None if text is None else text.encode(),
        capture_output=True, check=True,
    )  # fmt: skip
    return done.stdout.decode()


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    folder = tmp_path / "repository" / "suites"
    folder.mkdir(parents=True)
    path = folder / "süite.yaml"
    path.write_bytes(SUITE.encode())
    (folder / "other.txt").write_text("other\n")
    git(folder.parent, "init", "--quiet")
    git(folder, "config", "user.name", "Ada")
    git(folder, "config", "user.email", "ada@example.org")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "--message", "begin")
    return path


@given(
    st.lists(st.sampled_from(["a", "b", "ü", "\u2028", "\x0c", ""]), max_size=8),
    st.lists(st.sampled_from(["a", "b", "c", ""]), max_size=8),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from(["", "\n"]),
)
def test_a_patch_names_every_line_that_differs(
    old: list[str], new: list[str], newline: str, end: str
) -> None:
    before, after = newline.join(old) + end, newline.join(new)
    told = patch(before, after, "suite.yaml")
    assert (told == "") is (before == after)
    assert told == "" or told.startswith("--- a/suite.yaml\n+++ b/suite.yaml\n@@")


@pytest.mark.parametrize("before", [SUITE, SUITE.rstrip(), SUITE.replace("\r", "")])
def test_git_applies_a_patch(before: str, suite: Path) -> None:
    suite.write_bytes(before.encode())
    after = edit_suite(before, "one", {"correct_answer": "B"})
    told = patch(before, after, "suites/süite.yaml")
    git(suite.parents[1], "apply", "--check", "-", text=told)
    git(suite.parents[1], "apply", "--whitespace=nowarn", "-", text=told)
    assert suite.read_bytes() == after.encode()


def test_one_commit_holds_one_question_and_its_evidence(suite: Path) -> None:
    text = edit_suite(read_suite_text(suite), "one", {"correct_answer": "B"})
    proof = suite.parent / "proofs" / "test_option_B.py"
    proof.parent.mkdir()
    proof.write_text("def test(): ...\n")
    (suite.parent / "stray.txt").write_text("not asked for\n")
    message = commit_message(
        "one", "Incorrect → Valid", ["# option B HOLDS: it is there", "", "options A FAILS"]
    )
    name = commit_change({suite: text}, message, also=[proof])
    assert git(suite.parent, "rev-parse", "HEAD").strip() == name
    shown = git(suite.parent, "-c", "core.quotePath=false", "show", "--name-only", "--format=%B")
    assert shown.splitlines()[0] == "Fix question one: Incorrect → Valid"
    assert "# option B HOLDS: it is there" in shown
    assert shown.splitlines()[-2:] == ["suites/proofs/test_option_B.py", "suites/süite.yaml"]
    diff = git(suite.parent, "show", "--format=", "--", suite.name)
    assert [line for line in diff.splitlines() if line[:1] in "+-"][2:] == [
        "-  correct_answer: A",
        "+  correct_answer: B",
    ]


@pytest.mark.parametrize("staged", [True, False])
@pytest.mark.parametrize("name", ["other.txt", "süite.yaml"])
def test_a_dirty_tree_is_refused(suite: Path, name: str, staged: bool) -> None:
    with (suite.parent / name).open("a") as file:
        file.write("# mine\n")
    if staged:
        git(suite.parent, "add", ".")
    before = suite.read_bytes()
    with pytest.raises(InputError, match="working tree has changes") as caught:
        commit_change({suite: SUITE + "# more\r\n"}, "m")
    assert name in str(caught.value)
    assert suite.read_bytes() == before
    assert git(suite.parent, "log", "--format=%s") == "begin\n"


def test_a_renamed_file_is_a_change(suite: Path) -> None:
    git(suite.parent, "mv", "other.txt", "another.txt")
    with pytest.raises(InputError, match=r"another\.txt"):
        Repository.of(suite).require_clean()


def test_what_git_does_not_keep_cannot_be_committed(suite: Path, tmp_path: Path) -> None:
    new = suite.parent / "new.yaml"
    new.write_text("benchmarks: []\n")
    with pytest.raises(InputError, match="not under version control"):
        commit_change({new: "x"}, "m")
    outside = tmp_path / "outside.yaml"
    outside.write_text("benchmarks: []\n")
    with pytest.raises(InputError, match="no git repository"):
        commit_change({outside: "x"}, "m")


def test_a_hook_that_refuses_leaves_the_suite_as_it_was(suite: Path) -> None:
    hook = suite.parents[1] / ".git" / "hooks" / "pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho not today >&2\nexit 1\n")
    hook.chmod(0o755)
    with pytest.raises(InputError, match="not today"):
        commit_change({suite: SUITE + "# more\r\n"}, "m")
    assert suite.read_bytes() == SUITE.encode()
    Repository.of(suite).require_clean()


def test_writing_keeps_the_mode_and_a_link(suite: Path) -> None:
    suite.chmod(0o640)
    link = suite.parent / "link.yaml"
    link.symlink_to(suite.name)
    write_suite_text(link, "new\r\n")
    assert suite.read_bytes() == b"new\r\n"
    assert link.is_symlink()
    assert suite.stat().st_mode & 0o777 == 0o640


def test_a_long_subject_is_cut_and_stays_one_line() -> None:
    subject = commit_message("a\nb " * 40, "x", ["evidence"]).splitlines()[0]
    assert len(subject) <= 72
    assert subject.endswith("…")


def test_a_question_and_its_code_are_one_commit_or_none(suite: Path) -> None:
    code = suite.parent / "code.py"
    code.write_bytes(b"x = 1\r\n")
    git(suite.parent, "add", "code.py")
    git(suite.parent, "commit", "--quiet", "--message", "code")
    texts = {suite: edit_suite(SUITE, "one", {"correct_answer": "B"}), code: "x = 2\r\n"}
    commit_change(texts, "both")
    shown = git(suite.parent, "show", "--name-only", "--format=", "-z", "HEAD")
    assert sorted(shown.strip("\0\n").split("\0")) == ["suites/code.py", "suites/süite.yaml"]
    hook = suite.parents[1] / ".git" / "hooks" / "pre-commit"
    hook.write_text("#!/bin/sh\nexit 1\n")
    hook.chmod(0o755)
    before = {path: path.read_bytes() for path in texts}
    with pytest.raises(InputError, match="git commit failed"):
        commit_change({suite: SUITE, code: "x = 3\r\n"}, "m")
    assert {path: path.read_bytes() for path in texts} == before
    other = suite.parent / "elsewhere"
    other.mkdir()
    (other / "code.py").write_text("x = 1\n")
    git(other, "init", "--quiet")
    git(other, "add", ".")
    with pytest.raises(InputError, match="in different repositories"):
        commit_change({suite: SUITE, other / "code.py": "x = 3\n"}, "m")
