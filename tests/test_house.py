"""The rules of the tree that can be counted: layers, front doors, names.

`python -m benchmarks.house --names` lists what is counted here, with its place.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import house

# Names that problems written for SlopCodeBench import: they are given.
GIVEN = "submissions/slopcode/"


@pytest.fixture(scope="module")
def package() -> house.Package:
    return house.Package(house.SOURCE)


def test_dependencies_point_downwards_and_no_subject_imports_another() -> None:
    command = [str(Path(sys.executable).parent / "lint-imports"), "--no-cache"]
    result = subprocess.run(command, cwd=house.ROOT, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout


def test_a_public_class_has_a_name_of_its_own(package: house.Package) -> None:
    homonyms = {
        name: [str(home) for home in homes]
        for name, homes in house.find_homonyms(package).items()
        if not any(home.module.startswith(GIVEN) for home in homes)
    }
    assert len(homonyms) < 10, homonyms


def test_functions_are_named_by_verbs(package: house.Package) -> None:
    participles = [str(function) for function in house.find_participles(package)]
    assert len(participles) < 40, participles


def test_packages_are_entered_by_their_front_doors(package: house.Package) -> None:
    imports = [str(each) for each in house.find_imports_past_a_front_door(package)]
    assert len(imports) < 20, imports


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("kept", True),
        ("_told", True),
        ("redacted_text", True),
        ("redact", False),
        ("is_kept", False),
        ("feed", False),
        ("find_known", False),
    ],
)
def test_participles_are_recognised(name: str, expected: bool) -> None:
    assert house.is_participle(name) is expected
