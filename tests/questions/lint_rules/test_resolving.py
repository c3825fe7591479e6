"""Names are looked up in real packages on disk, and nothing of them is run."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from assay.questions.lint_rules import StaticResolver
from tests.questions.suite_support import write


@pytest.fixture
def resolver(tmp_path: Path) -> StaticResolver:
    package = tmp_path / "library_on_disk"
    bomb = "raise SystemExit('this was run')\n"
    write(package / "__init__.py", bomb + "from .inner import Thing as Shown\nVERSION, = 1,\n")
    branches = "if x:\n    def late(): ...\ntry:\n    import json\nexcept E: ...\n"
    write(package / "inner.py", f"{bomb}class Thing: member = 1\n{branches}")
    write(package / "lazy.py", bomb + "def __getattr__(name): ...\n")
    write(package / "stars.py", bomb + "from os import *\n")
    write(package / "sub" / "deep.py", bomb)
    return StaticResolver([str(tmp_path)])


@pytest.mark.parametrize(
    ("module", "member", "expected"),
    [
        ("library_on_disk", "Shown", True),
        ("library_on_disk", "VERSION", True),
        ("library_on_disk", "inner", True),
        ("library_on_disk", "Thing", False),
        ("library_on_disk", "member", False),
        ("library_on_disk.inner", "Thing", True),
        ("library_on_disk.inner", "late", True),
        ("library_on_disk.inner", "json", True),
        ("library_on_disk.inner", "member", False),
        ("library_on_disk.inner", None, True),
        ("library_on_disk.sub.deep", None, True),
        ("library_on_disk.absent", None, False),
        ("library_on_disk.absent", "Thing", False),
        ("library_on_disk.absent.more", None, False),
        ("library_on_disk.lazy", "anything", None),
        ("library_on_disk.stars", "anything", None),
        ("not_there_at_all", "x", None),
        ("os", "absent", None),
    ],
)
def test_what_is_there(
    resolver: StaticResolver, module: str, member: str | None, expected: bool | None
) -> None:
    assert resolver(module, member) is expected
    assert not any(name.startswith("library_on_disk") for name in sys.modules)
