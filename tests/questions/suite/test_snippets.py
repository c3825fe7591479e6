"""Sections are cut out of their files with exactly the imports they use."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.questions.model import Snippet
from assay.questions.suite.formats import SnippetReference
from assay.questions.suite.references import MissingFileError, SnippetFiles, find_imports, find_used
from tests.questions.suite_support import write

SOURCE = """
import os
import json as text_format, sys
from typing import TYPE_CHECKING, Any
if TYPE_CHECKING:
    from collections import OrderedDict
try:
    from fast import thing
except ImportError:
    from slow import thing
from package.gone import Missing


class Helper: ...


# --8<-- [start:outer]
def build():
    # --8<-- [start:inner]
    loaded = text_format.loads("{}")
    return thing(loaded, OrderedDict(), Helper)
    # --8<-- [end:inner]
# --8<-- [end:outer]

# --8<-- [start:own]
import os
os.getcwd()
# --8<-- [end:own]

# --8<-- [start:open]
pass
"""


@pytest.fixture
def files(tmp_path: Path) -> SnippetFiles:
    (tmp_path / ".git").mkdir()
    write(tmp_path / "snippets.py", SOURCE)
    return SnippetFiles(tmp_path / "suite.yaml")


def resolve(files: SnippetFiles, section: str | None) -> Snippet:
    return files.resolve(SnippetReference(file="snippets.py", section=section))


def test_a_section_is_dedented_and_loses_its_markers(files: SnippetFiles) -> None:
    assert resolve(files, "inner").code == (
        'loaded = text_format.loads("{}")\nreturn thing(loaded, OrderedDict(), Helper)\n'
    )
    assert resolve(files, "outer").code == (
        'def build():\n    loaded = text_format.loads("{}")\n'
        "    return thing(loaded, OrderedDict(), Helper)\n"
    )


def test_a_section_gets_the_imports_it_uses_one_by_one_and_nothing_else(
    files: SnippetFiles,
) -> None:
    assert resolve(files, "outer").imports == (
        "import json as text_format",
        "from collections import OrderedDict",
        "from fast import thing",
    )


def test_an_import_inside_the_section_is_not_given_again(files: SnippetFiles) -> None:
    snippet = resolve(files, "own")
    assert snippet.code == "import os\nos.getcwd()\n"
    # The file imports `os` at its top as well: that is the line that counts.
    assert snippet.imports == ("import os",)


def test_without_a_section_the_whole_file_is_meant(files: SnippetFiles) -> None:
    snippet = resolve(files, None)
    assert snippet.imports == ()
    assert "8<" not in snippet.code
    assert snippet.code.startswith("import os\nimport json")


@pytest.mark.parametrize(
    ("section", "says", "advice"),
    [("outre", "has no section 'outre'", "'outer'"), ("open", "never ends", "[end:open]")],
)
def test_a_section_that_is_not_there(
    files: SnippetFiles, section: str, says: str, advice: str
) -> None:
    with pytest.raises(MissingFileError, match=says) as caught:
        resolve(files, section)
    assert caught.value.field == "code_snippet_ref.section"
    assert advice in caught.value.advice


def test_a_file_that_is_not_there(files: SnippetFiles) -> None:
    with pytest.raises(MissingFileError, match="does not exist") as caught:
        files.resolve(SnippetReference(file="other.py", section="x"))
    assert caught.value.field == "code_snippet_ref.file"


def test_a_file_is_sought_in_the_folders_above_up_to_the_repository(tmp_path: Path) -> None:
    (tmp_path / "repository" / ".git").mkdir(parents=True)
    write(tmp_path / "outside.py", "x = 1\n")
    write(tmp_path / "repository" / "suites" / "snippets.py", "y = 2\n")
    files = SnippetFiles(tmp_path / "repository" / "suites" / "deep" / "suite.yaml")
    assert files.get("suites/snippets.py").text == "y = 2\n"
    assert files.get("../snippets.py").text == "y = 2\n"
    for name in ("outside.py", "../../../outside.py", str(tmp_path / "outside.py")):
        with pytest.raises(MissingFileError, match="does not exist"):
            files.get(name)


def test_a_link_does_not_lead_out_of_the_repository(tmp_path: Path) -> None:
    (tmp_path / "repository" / ".git").mkdir(parents=True)
    secret = write(tmp_path / "secret.py", "password = 1\n")
    (tmp_path / "repository" / "snippets.py").symlink_to(secret)
    with pytest.raises(MissingFileError, match="does not exist"):
        SnippetFiles(tmp_path / "repository" / "suite.yaml").get("snippets.py")


def test_imports_of_a_broken_file_are_read_all_the_same() -> None:
    source = "import a\nfrom b import (\n    c,\n    d as e,\n)\ndef broken(:\nfrom f import g\n"
    names = {one.bound: (one.statement, one.line) for one in find_imports(source)}
    assert names == {
        "a": ("import a", 1),
        "c": ("from b import c", 2),
        "e": ("from b import d as e", 2),
        "g": ("from f import g", 7),
    }


def test_used_names_are_names_and_not_words_in_strings() -> None:
    assert find_used('x = call("word", key=other.attribute)  # comment') == {"x", "call", "other"}
    assert {"call", "x"} <= find_used("x = call(")
