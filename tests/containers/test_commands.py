"""`assay environments`: each command prints for people and, with --json, one object."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.commands import Command
from tests.containers.conftest import podman_store as podman_store
from tests.containers.conftest import store as store
from tests.containers.machine_image import NAME

pytestmark = pytest.mark.usefixtures("podman_store")


def test_an_image_that_is_built_is_listed_and_removed(assay: Command, tmp_path: Path) -> None:
    (tmp_path / "Containerfile").write_text(f"FROM {NAME}\nENV MADE=1\n")
    (tmp_path / "env.yaml").write_text(
        "type: podman\nname: built\npodman: {containerfile: Containerfile}\n"
        "commands: {command: python3}\n"
    )
    pulled = json.loads(assay("environments", "pull", "env.yaml", "--json", check=True).stdout)
    assert [one["file"] for one in pulled["pulled"]] == ["env.yaml"]
    listed = json.loads(assay("environments", "list", "--json", check=True).stdout)
    (image,) = listed["images"]
    assert image["engine"] == "podman"
    assert image["key"] in assay("environments", "list", check=True).stdout
    removed = assay("environments", "remove", image["key"], "--json", check=True)
    assert json.loads(removed.stdout) == {"removed": [image["key"]]}
    assert json.loads(assay("environments", "list", "--json").stdout) == {"images": []}
