"""What the tests share: values to generate, and the real command line."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st

# A slow machine is no reason to fail; the number of examples bounds the time instead.
settings.register_profile("assay", deadline=None, max_examples=100)
settings.load_profile("assay")

scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text()
    | st.sampled_from(["42", "null", "true", "1e5", "", "ü", "\ud800", "NaN", "$bytes", "-0.0"])
)
keys = st.text() | st.sampled_from(["$bytes", "$float", "$object", "$", "id"])
json_values: st.SearchStrategy[Any] = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=4),
    max_leaves=12,
)
values_and_bytes: st.SearchStrategy[Any] = st.recursive(
    scalars | st.binary() | st.sampled_from([float("inf"), float("-inf")]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=4),
    max_leaves=12,
)

Command = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def assay(tmp_path: Path) -> Command:
    """Runs the real `assay` command in a folder of its own."""

    def run(
        *words: str | Path, cwd: Path = tmp_path, **more: Any
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "assay", *map(str, words)],
            cwd=cwd,
            capture_output=True,
            text=True,
            timeout=60,
            env={**os.environ, "NO_COLOR": "1", "COLUMNS": "100"},
            **more,
        )

    return run
