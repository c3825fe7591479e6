"""What is wrong with a problem's classes is told when they are loaded, with the file's name."""

from __future__ import annotations

import asyncio
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

from assay.errors import InputError
from assay.submissions.config import ProblemConfig
from assay.submissions.python_problems import package
from assay.submissions.python_problems.source import PythonSource
from tests.submissions.python_problems.support import LOADER, problem

GOOD_LOADER = """
    class Loader:
        def __init__(self, problem, checkpoint, *, use_placeholders=False): pass
        def __call__(self, group, store): yield
"""
GOOD_VERIFIER = """
    class Verifier:
        def __init__(self, checkpoint_config): pass
        def __call__(self, group_name, case_name, actual, expected): return {}
"""


@pytest.fixture(autouse=True)
def _modules_as_before() -> Iterator[None]:
    before = set(sys.modules)
    yield
    for name in set(sys.modules) - before:
        if name.startswith(("small_problem", "problem_")):
            del sys.modules[name]


def load(config: ProblemConfig) -> None:
    name = package.import_folder(config.path)
    package.load_loader(config, name)
    package.load_verifier(config, name)


def test_the_classes_of_the_specification_are_accepted(tmp_path: Path) -> None:
    load(problem(tmp_path, GOOD_LOADER, GOOD_VERIFIER))


@pytest.mark.parametrize(
    ("loader", "verifier", "file", "said"),
    [
        ("", GOOD_VERIFIER, "loader.py", "the file is missing"),
        (GOOD_LOADER, "", "verifier.py", "the file is missing"),
        (GOOD_LOADER, "class Verify: pass", "verifier.py", "no class 'Verifier'(.|\n)*'Verify'?"),
        (GOOD_LOADER, "Verifier = 3", "verifier.py", "'Verifier' is int, not a class"),
        (GOOD_LOADER, "class Verifier: pass", "verifier.py", "a signature is wrong"),
        (
            GOOD_LOADER,
            "class Verifier:\n    def __init__(self, config): pass",
            "verifier.py",
            "no method __call__(.|\n)*group_name=…, case_name=…, actual=…, expected=…",
        ),
        (
            GOOD_LOADER,
            GOOD_VERIFIER.replace("case_name", "case"),
            "verifier.py",
            "'case'(.|\n)*called with group_name=…, case_name=…",
        ),
        (
            GOOD_LOADER.replace("group, store", "group"),
            GOOD_VERIFIER,
            "loader.py",
            "'store'(.|\n)*a loader is called with group=…, store=…",
        ),
        (
            GOOD_LOADER.replace("checkpoint,", ""),
            GOOD_VERIFIER,
            "loader.py",
            "'checkpoint'(.|\n)*a loader is made with problem=…, checkpoint=…",
        ),
        (GOOD_LOADER, "import not_there_at_all", "verifier.py", r"'not_there_at_all'.*\n.*\[probl"),
        (GOOD_LOADER, "from slop_code.evaluation.verifers import x", "verifier.py", "'slop_code"),
        (GOOD_LOADER, "1 / 0", "verifier.py", r"ZeroDivisionError: (.|\n)*verifier\.py:1"),
        (GOOD_LOADER, "def broken(:", "verifier.py", "SyntaxError"),
        (GOOD_LOADER, "raise SystemExit(0)", "verifier.py", "SystemExit"),
    ],
)
def test_what_is_wrong_is_told_with_the_file(
    tmp_path: Path, loader: str, verifier: str, file: str, said: str
) -> None:
    config = problem(tmp_path, loader, verifier)
    with pytest.raises(InputError, match=said) as caught:
        load(config)
    assert caught.value.where == str(config.path / file)


def test_siblings_are_imported_by_both_names(tmp_path: Path) -> None:
    verifier = textwrap.dedent(GOOD_VERIFIER)
    imports = "from small_problem.words import WORD\nfrom .words import WORD as again\n"
    config = problem(tmp_path, GOOD_LOADER, imports + verifier + "assert WORD == again == 7\n")
    (config.path / "words.py").write_text("WORD = 7\n")
    load(config)


def test_an_init_file_is_run(tmp_path: Path) -> None:
    config = problem(tmp_path, GOOD_LOADER, GOOD_VERIFIER)
    (config.path / "__init__.py").write_text("raise ValueError('not today')\n")
    with pytest.raises(InputError, match="not today") as caught:
        load(config)
    assert caught.value.where == str(config.path / "__init__.py")


@pytest.mark.parametrize("name", ["json", "click", "my-problem", "a.b"])
def test_no_folder_takes_the_place_of_a_module(tmp_path: Path, name: str) -> None:
    module = sys.modules.get(name)
    config = problem(tmp_path, GOOD_LOADER, GOOD_VERIFIER)
    folder = config.path.rename(tmp_path / name)
    load(config.model_copy(update={"path": folder}))
    assert sys.modules.get(name) is module or name == "my-problem"
    sys.modules.pop("my-problem", None)


def test_a_missing_module_is_the_input_of_the_user(tmp_path: Path) -> None:
    """Through a real worker, and also if the import comes only when a case is judged."""

    async def main() -> None:
        loader = "import not_there_at_all\n"
        async with PythonSource(problem(tmp_path / "a", loader)) as source:
            with pytest.raises(InputError, match="imports 'not_there_at_all'") as caught:
                await source.load()
            assert "assaykit[problems], or just its packages: pip install 'deepdiff" in str(
                caught.value
            )
        loader = LOADER.replace("for number", "import not_there_either\n            for number")
        async with PythonSource(problem(tmp_path / "b", loader)) as source:
            checkpoint = source.problem.checkpoints["checkpoint_1"]
            async with source.open(checkpoint, checkpoint.groups["core"]) as stream:
                with pytest.raises(InputError, match="imports 'not_there_either'"):
                    await stream.draw()

    asyncio.run(main())


def test_a_problem_that_ends_its_process_when_imported_is_refused(tmp_path: Path) -> None:
    async def main() -> None:
        config = problem(tmp_path, "import os\nprint('bye', flush=True)\nos._exit(7)\n")
        async with PythonSource(config) as source:
            with pytest.raises(InputError, match="status 7; the last it printed:\nbye") as caught:
                await source.load()
            assert caught.value.where == str(config.path)

    asyncio.run(main())
