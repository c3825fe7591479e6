"""The specification's own examples, read from its text where that is at hand.

They are not copied: where the document is absent (it is no part of the distribution) their tests
skip, and the equivalents in our own words still run.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

_BESIDE = Path(__file__).parents[2].parent / "shared" / "spec"
FILE = Path(os.environ.get("ASSAY_SPECIFICATION", _BESIDE)) / "submissions.md"
_BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def section(heading: str) -> str:
    """The Python of a section; skips the test if there is no document to read."""
    if not FILE.is_file():
        pytest.skip("the specification is not here; ASSAY_SPECIFICATION names its folder")
    text = FILE.read_text(encoding="utf-8")
    parts = re.split(r"^#{2,} ", text, flags=re.MULTILINE)
    (found,) = [part for part in parts if part.startswith(f"{heading}\n")]
    return "\n".join(_BLOCK.findall(found))
