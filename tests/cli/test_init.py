"""What the workflow of `assay init` installs: never a name that no package index has."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
import yaml

from assay._version import __version__
from assay.cli import run
from tests.conftest import Command

WHEEL = f"wheels/assaykit-{__version__}-py3-none-any.whl"


@pytest.mark.parametrize(
    ("about", "source"),
    [
        (None, WHEEL),
        ({"url": "file:///home/me/assay", "dir_info": {"editable": True}}, WHEEL),
        (
            {"url": "file:///tmp/assaykit-9.9-py3-none-any.whl", "archive_info": {}},
            "wheels/assaykit-9.9-py3-none-any.whl",
        ),
        (
            {"url": "https://example.org/assaykit-9.9.whl", "archive_info": {}},
            "https://example.org/assaykit-9.9.whl",
        ),
        (
            {
                "url": "https://me:secret@example.org/assay.git",
                "vcs_info": {"vcs": "git", "commit_id": "abc"},
            },
            "git+https://example.org/assay.git@abc",
        ),
    ],
)
def test_the_source_is_where_this_assay_came_from(
    about: dict[str, Any] | None, source: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorded = None if about is None else json.dumps(about)
    installed = Mock(read_text=Mock(return_value=recorded))
    monkeypatch.setattr(run, "distribution", Mock(return_value=installed))
    assert run.find_source() == source


def test_the_workflow_installs_it_and_says_how_to_change_that(
    assay: Command, tmp_path: Path
) -> None:
    said = assay("init").stdout
    workflow = (tmp_path / ".github/workflows/assay.yml").read_text()
    assert f"the workflow installs {WHEEL}; change ASSAY in it" in said
    assert yaml.safe_load(workflow)["env"] == {"ASSAY": WHEEL}
    assert 'pip install "$ASSAY"' in workflow
    assert "pip install assaykit" not in workflow
