"""Views of a base as an ordinary user: what may not be set later is right from the beginning."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from assay.sandbox.isolation import available_levels, probe
from tests.sandbox.hostile.support import ORDINARY_USER, SOURCE, reachable_python
from tests.waiting import PATIENCE

SCRIPT = """
import asyncio, sys
from assay.sandbox.overlay_base import hand_over, new_base
from assay.sandbox.programs import Programs

async def main():
    level = sys.argv[1]
    with new_base(level) as base:
        (base.path / "deep").mkdir()
        (base.path / "deep" / "file").write_text("original\\n")
        (base.path / "closed").write_text("read-only\\n")
        (base.path / "closed").chmod(0o400)
        hand_over(base)
        change = "cat closed; echo more >>deep/file; cat deep/file; rm -r deep; mkdir deep; ls deep"
        for work, scripts in (
            ("fresh", [change, change]),
            ("kept", ["echo kept >> deep/file", "cat deep/file"]),
            ("base", ["echo made > made; mkdir -m 000 shut", "cat made deep/file"]),
        ):
            async with Programs(isolation=level, base=base, work=work) as programs:
                for script in scripts:
                    result = await programs.run(["sh", "-c", script])
                    print(work, result.exit_status, result.stdout + result.stderr)
    print("gone", not base.path.parent.exists())

asyncio.run(main())
"""
EXPECTED = r"""
fresh 0 b'read-only\noriginal\nmore\n'
fresh 0 b'read-only\noriginal\nmore\n'
kept 0 b''
kept 0 b'original\nkept\n'
base 0 b''
base 0 b'made\noriginal\n'
gone True
"""


@pytest.fixture
def place() -> Iterator[Path]:
    """A copy of Assay and a folder for temporary files that an ordinary user can reach."""
    with tempfile.TemporaryDirectory(prefix="assay-tests-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        (folder / "scratch").mkdir()
        (folder / "scratch").chmod(0o1777)
        for package in ("sandbox", "processes"):
            shutil.copytree(SOURCE / package, folder / "assay" / package)
        for module in ("__init__.py", "_version.py", "errors.py"):
            shutil.copy(SOURCE / module, folder / "assay")
        yield folder
        assert list((folder / "scratch").iterdir()) == []


@pytest.mark.parametrize("level", [*available_levels(probe()), "none"])
def test_an_ordinary_user_has_views_too(place: Path, level: str) -> None:
    if os.geteuid() != 0:
        pytest.skip("these tests do not run as root, so that all of them show this")
    ended = subprocess.run(
        [reachable_python(), "-c", SCRIPT, level],
        cwd=place,
        env={"PYTHONPATH": str(place), "TMPDIR": str(place / "scratch"), "PATH": "/usr/bin:/bin"},
        user=ORDINARY_USER,
        group=ORDINARY_USER,
        extra_groups=[],
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )
    assert ended.stdout.strip() == EXPECTED.strip(), ended.stderr
