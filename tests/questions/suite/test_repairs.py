"""Under which name a test imports the file to be repaired, and which files it needs beside it."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.questions.model import FixQuestion
from assay.questions.suite.formats import FixError
from assay.questions.suite.references import MissingFileError, read_repair
from tests.questions.suite_support import write


def repair(folder: Path, test: str, **files: str) -> FixQuestion:
    """A question in a repository of its own whose test is the given text."""
    (folder / ".git").mkdir(exist_ok=True)
    write(folder / "cases" / "test_it.py", test)
    write(folder / "cases" / "unfixed.py", files.get("unfixed", "def run(): ...\n"))
    write(folder / "cases" / "fixed.py", files.get("fixed", "def run(): return 1\n"))
    fields = FixError(
        id="fix",
        test_file="cases/test_it.py",
        unfixed_file="cases/unfixed.py",
        fixed_file="cases/fixed.py",
    )
    return read_repair(fields, folder / "suite.yaml")


@pytest.mark.parametrize(
    ("test", "module"),
    [
        ("import unfixed\n", "unfixed"),
        ("from unfixed import run\n", "unfixed"),
        ("import pytest\nfrom fixed import run\n", "fixed"),
        ("def test():\n    import fixed as module\n", "fixed"),
        ("def test_a():\n    import unfixed\ndef test_b():\n    import fixed\n", "fixed"),
        ("import os, pytest\nfrom solution import run\n", "solution"),
        ("from . import solution\n", "solution"),
        ("from .solution import run\n", "solution"),
        ("import one_thing\nimport another_thing\n", "unfixed"),
        ("import os\n", "unfixed"),
        ("def broken(:\n", "unfixed"),
    ],
)
def test_the_name_of_the_repair(test: str, module: str, tmp_path: Path) -> None:
    assert repair(tmp_path, test).module == module


def test_the_library_of_the_program_is_not_taken_for_the_repair(tmp_path: Path) -> None:
    question = repair(
        tmp_path,
        "import absent_library\nfrom solution import run\n",
        unfixed="from absent_library import x\n",
    )
    assert question.module == "solution"


def test_a_test_that_imports_both_files_has_the_broken_one_beside_it(tmp_path: Path) -> None:
    test = "def test_a():\n    import unfixed\ndef test_b():\n    import fixed\n"
    question = repair(tmp_path, test)
    assert question.companions == (("unfixed.py", "def run(): ...\n"),)


def test_helpers_come_along_with_their_own_imports(tmp_path: Path) -> None:
    write(tmp_path / "kit" / "helpers.py", "from kit.names import NAME\nimport json\n")
    write(tmp_path / "kit" / "names.py", "NAME = 1\n")
    write(tmp_path / "kit" / "unused.py", "")
    question = repair(tmp_path, "from kit.helpers import NAME\nimport unfixed\n")
    assert question.module == "unfixed"
    assert [name for name, _ in question.companions] == ["kit/helpers.py", "kit/names.py"]


def test_a_library_is_never_brought_along(tmp_path: Path) -> None:
    # A folder beside the suite with the name of what is tested would stand before it.
    write(tmp_path / "library" / "__init__.py", "fake = True\n")
    write(tmp_path / "pytest" / "__init__.py", "fake = True\n")
    test = "import library\nimport pytest\nimport unfixed\n"
    assert repair(tmp_path, test, fixed="import library\n").companions == ()


def test_a_missing_file_names_its_field(tmp_path: Path) -> None:
    repair(tmp_path, "import unfixed\n")
    (tmp_path / "cases" / "fixed.py").unlink()
    fields = FixError(
        id="fix",
        test_file="cases/test_it.py",
        unfixed_file="cases/unfixed.py",
        fixed_file="cases/fixed.py",
    )
    with pytest.raises(MissingFileError, match=r"cases/fixed\.py does not exist") as caught:
        read_repair(fields, tmp_path / "suite.yaml")
    assert caught.value.field == "fixed_file"


def test_companions_are_part_of_the_fingerprint(tmp_path: Path) -> None:
    write(tmp_path / "helpers.py", "NAME = 1\n")
    before = repair(tmp_path, "import helpers\nimport unfixed\n").fingerprint()
    write(tmp_path / "helpers.py", "NAME = 2\n")
    assert repair(tmp_path, "import helpers\nimport unfixed\n").fingerprint() != before
