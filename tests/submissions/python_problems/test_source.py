"""A problem's own loader and verifier, in a real worker."""

from __future__ import annotations

import asyncio
import re
import sys
import time
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import pytest

from assay.errors import InputError
from assay.model import VerificationResult
from assay.submissions.cases import CLIResult
from assay.submissions.config import ApiAdapter
from assay.submissions.protocols import (
    CasesBrokenError,
    NoCasesError,
    StoreBrokenError,
    VerifierBrokenError,
)
from assay.submissions.python_problems.source import CodeLimits, PythonSource
from tests.submissions.python_problems.support import (
    LOADER,
    VERIFIER,
    checkpoint_of,
    draw_all,
    pair,
    problem,
)

QUICK = CodeLimits(draw=1.0, verify=1.0)


def run(action: Coroutine[Any, Any, Any]) -> Any:
    return asyncio.run(action)


async def judged(source: PythonSource, output: Any, expected: Any) -> Any:
    return await source.verify(*checkpoint_of(source.problem), *pair(output, expected))


def test_cases_are_drawn_and_judged(tmp_path: Path) -> None:
    async def main() -> None:
        async with PythonSource(problem(tmp_path)) as source:
            drawn = await draw_all(source)
            assert [each.case.id for each in drawn] == ["case_0", "case_1", "case_2"]
            assert [each.expected.output for each in drawn] == ["0", "1", "2"]
            # What the loader did not say is known all the same.
            assert {each.case.checkpoint for each in drawn} == {"checkpoint_1"}
            assert {each.case.group_type for each in drawn} == {"Core"}
            right, wrong = await judged(source, "a", "a"), await judged(source, "a", "b")
            assert right["output"] == VerificationResult(diff=["a", "a"], is_correct=True)
            assert wrong["output"] == VerificationResult(diff=["a", "b"], is_correct=False)

    run(main())


@pytest.mark.parametrize("is_stateful", [True, False])
def test_a_loader_that_gives_nothing_is_named(tmp_path: Path, is_stateful: bool) -> None:
    loader = LOADER.replace("range(3)", "range(0)")
    if is_stateful:
        loader += """
        def initialize_store(self):
            return Store()

    class Store:
        def update(self, case, actual, expected): ...
"""

    async def main() -> None:
        async with PythonSource(problem(tmp_path, loader=loader)) as source:
            with pytest.raises(NoCasesError, match=r"loader\.py: the loader gave no cases.*'core'"):
                await draw_all(source)

    run(main())


def test_bytes_and_odd_values_cross_the_line(tmp_path: Path) -> None:
    odd = {"$bytes": "x", "deep": [None, 1.5, b"\x00\xff", "\ud800"]}
    verifier = """
        from slop_code.evaluation.verifiers import VerificationResult

        class Verifier:
            def __init__(self, config): pass
            def __call__(self, group_name, case_name, actual, expected):
                same = actual.files == expected.output and type(actual).__name__ == "CLIResult"
                return {"seen": VerificationResult(diff=actual.files, is_correct=same)}
    """

    async def main() -> None:
        async with PythonSource(problem(tmp_path, verifier=verifier)) as source:
            drawn, actual = pair(None, odd)
            actual = actual.model_copy(update={"files": odd})
            found = await source.verify(*checkpoint_of(source.problem), drawn, actual)
            assert found["seen"].is_correct
            assert found["seen"].diff == odd

    run(main())


def test_what_a_verifier_changes_is_its_own(tmp_path: Path) -> None:
    verifier = """
        from slop_code.evaluation.verifiers import VerificationResult

        class Verifier:
            def __init__(self, config): pass
            def __call__(self, group_name, case_name, actual, expected):
                actual.files["made.txt"] = "changed"
                actual.output = expected.output = "changed"
                return {"output": VerificationResult.create("", True)}
    """

    async def main() -> None:
        async with PythonSource(problem(tmp_path, verifier=verifier)) as source:
            drawn, actual = pair("before", "before", files={"made.txt": "before"})
            await source.verify(*checkpoint_of(source.problem), drawn, actual)
            assert actual.files == {"made.txt": "before"}
            assert (actual.output, drawn.expected.output) == ("before", "before")

    run(main())


def test_one_verifier_per_checkpoint_and_keywords(tmp_path: Path) -> None:
    verifier = """
        from slop_code.evaluation.verifiers import VerificationResult

        class Verifier:
            def __init__(self, config):
                self.config, self.calls = config, 0
            def __call__(self, *, expected, actual, case_name, group_name):
                self.calls += 1
                said = [self.config.name, self.config.get("missing", 7), group_name, case_name]
                return {"said": VerificationResult(diff=[*said, self.calls], is_correct=True)}
    """

    async def main() -> None:
        async with PythonSource(problem(tmp_path, verifier=verifier)) as source:
            await judged(source, 1, 1)
            found = await judged(source, 1, 1)
            assert found["said"].diff == ["checkpoint_1", 7, "core", "one", 2]

    run(main())


@pytest.mark.parametrize(
    ("action", "said"),
    [
        ("raise KeyError('gone')", r"raised KeyError: 'gone'\n  .*verifier\.py:7 in __call__"),
        ("raise SystemExit(3)", r"raised SystemExit: 3\n"),
        ("print('last words', flush=True); os._exit(3)", r"status 3; the last it printed:\nlast w"),
        ("os.kill(os.getpid(), 9)", r"was ended by Killed \(9\)"),
        ("os.kill(os.getpid(), 11)", r"Segmentation fault \(11\); .*(.|\n)*verifier\.py.*line 7"),
        ("time.sleep(60)", r"did not answer within 1 s"),
        ("os.closerange(3, 100)", r"the verifier (raised|closed|ended|did not)"),
    ],
)
def test_a_broken_verifier_costs_its_case_only(tmp_path: Path, action: str, said: str) -> None:
    verifier = f"""
        import os, time

        class Verifier:
            def __init__(self, config): pass
            def __call__(self, group_name, case_name, actual, expected):
                if actual.output == "bad": {action}
                from slop_code.evaluation.verifiers import verifiers
                return {{"output": verifiers.matches_regex(actual.output, expected.output)}}
    """

    async def main() -> None:
        async with PythonSource(problem(tmp_path, verifier=verifier), limits=QUICK) as source:
            async with source.open(*checkpoint_of(source.problem)) as stream:
                first = await stream.draw()
                with pytest.raises(VerifierBrokenError, match=said):
                    await judged(source, "bad", "good")
                second, third = await stream.draw(), await stream.draw()
                ids = [each and each.case.id for each in (first, second, third)]
                assert ids == ["case_0", "case_1", "case_2"]
                assert await stream.draw() is None
            assert (await judged(source, "good", "good"))["output"].is_correct

    run(main())


STATEFUL = """
    import os, time
    from slop_code.evaluation.adapters import CLICase, CLIResult
    from slop_code.evaluation.loaders import BaseLoader

    class Store:
        def __init__(self): self.seen = []
        def update(self, case, result, expected):
            if result.output == "break": {action}
            assert expected.output == "expected of " + case.id
            self.seen.append(result.output)

    class Loader(BaseLoader):
        def initialize_store(self): return Store()
        def __call__(self, group, store):
            for number in range(5):
                name = f"case_{{number}}"
                yield (
                    CLICase(id=name, group=group.name, arguments=list(store.seen)),
                    CLIResult(id=name, group=group.name, output="expected of " + name),
                )
"""


async def lived_through(source: PythonSource, outputs: list[str]) -> list[list[str]]:
    """The arguments of each case of a stateful group, when these were the outputs."""
    arguments = []
    async with source.open(*checkpoint_of(source.problem)) as stream:
        assert stream.is_stateful
        for output in outputs:
            drawn = await stream.draw()
            assert drawn is not None
            arguments.append(drawn.case.arguments)
            actual = CLIResult(id=drawn.case.id, group="core", output=output)
            if output == "lose the worker":
                with pytest.raises(VerifierBrokenError):
                    await source.verify(*checkpoint_of(source.problem), drawn, actual)
            if output == "break":
                with pytest.raises(StoreBrokenError, match="case_1"):
                    await stream.update(drawn, actual)
            else:
                await stream.update(drawn, actual)
    return arguments


def test_later_cases_know_what_came_of_earlier_ones(tmp_path: Path) -> None:
    async def main() -> None:
        loader = STATEFUL.format(action="pass")
        async with PythonSource(problem(tmp_path, loader)) as source:
            found = await lived_through(source, ["a", "b", "c"])
            assert found == [[], ["a"], ["a", "b"]]

    run(main())


def test_a_stateful_group_survives_the_loss_of_its_worker(tmp_path: Path) -> None:
    verifier = """
        import os
        class Verifier:
            def __init__(self, config): pass
            def __call__(self, group_name, case_name, actual, expected): os._exit(1)
    """

    async def main() -> None:
        loader = STATEFUL.format(action="pass")
        async with PythonSource(problem(tmp_path, loader, verifier)) as source:
            found = await lived_through(source, ["a", "lose the worker", "c", "d"])
            assert found[3] == ["a", "lose the worker", "c"]

    run(main())


@pytest.mark.parametrize("action", ["raise ValueError('no')", "os._exit(1)", "time.sleep(60)"])
def test_an_update_that_fails_costs_its_case_only(tmp_path: Path, action: str) -> None:
    async def main() -> None:
        loader = STATEFUL.format(action=action)
        async with PythonSource(problem(tmp_path, loader), limits=QUICK) as source:
            found = await lived_through(source, ["a", "break", "c", "d"])
            assert found == [[], ["a"], ["a"], ["a", "c"]]

    run(main())


@pytest.mark.parametrize(
    ("action", "said"),
    [
        (
            "raise RuntimeError('dry')",
            r"after 'case_1', raised RuntimeError: dry\n  .*loader\.py:8",
        ),
        ("os._exit(4)", r"after 'case_1', ended its process with status 4"),
        ("time.sleep(60)", r"after 'case_1', did not answer"),
    ],
)
def test_cases_before_the_one_a_loader_fails_at_are_not_lost(
    tmp_path: Path, action: str, said: str
) -> None:
    loader = f"""
        import os, time
        from slop_code.evaluation.adapters import CLICase, CLIResult
        class Loader:
            def __init__(self, problem, checkpoint, use_placeholders): pass
            def __call__(self, group, store):
                for number in range(5):
                    if number == 2: {action}
                    about = dict(id=f"case_{{number}}", group=group.name)
                    yield CLICase(**about), CLIResult(**about)
    """

    async def main() -> None:
        source = PythonSource(problem(tmp_path, loader), limits=QUICK)
        async with source, source.open(*checkpoint_of(source.problem)) as stream:
            drawn = [await stream.draw(), await stream.draw()]
            assert [each and each.case.id for each in drawn] == ["case_0", "case_1"]
            for _ in range(2):
                with pytest.raises(CasesBrokenError, match=said):
                    await stream.draw()

    run(main())


def test_a_loader_of_chance_is_told_so(tmp_path: Path) -> None:
    loader = """
        import os
        from slop_code.evaluation.adapters import CLICase, CLIResult
        class Loader:
            def __init__(self, problem, checkpoint, use_placeholders): pass
            def __call__(self, group, store):
                for number in range(99):
                    about = dict(id=f"case_{number}_{os.getpid()}", group=group.name)
                    yield CLICase(**about), CLIResult(**about)
    """
    verifier = VERIFIER.replace("diff =", "import os; os._exit(1); diff =")

    async def main() -> None:
        source = PythonSource(problem(tmp_path, loader, verifier))
        async with source, source.open(*checkpoint_of(source.problem)) as stream:
            assert await stream.draw() is not None
            with pytest.raises(VerifierBrokenError):
                await judged(source, 1, 1)
            # Those that had been drawn ahead are still good.
            for _ in range(31):
                assert await stream.draw() is not None
            with pytest.raises(CasesBrokenError, match="the same cases every time"):
                await stream.draw()

    run(main())


def test_prints_never_reach_the_line_and_can_be_had(tmp_path: Path) -> None:
    loader = LOADER.replace("for number", "print('from the loader')\n            for number")
    verifier = VERIFIER.replace("diff =", "os.write(1, b'from below'); diff =").replace(
        "from slop", "import os\n    from slop", 1
    )
    said: list[str] = []

    async def main() -> None:
        async with PythonSource(
            problem(tmp_path, loader, verifier), on_output=said.append
        ) as source:
            assert len(await draw_all(source)) == 3
            assert (await judged(source, 1, 1))["output"].is_correct

    run(main())
    assert "".join(said) == "from the loader\nfrom below"


def test_no_secret_is_in_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_KEY", "x")
    verifier = """
        import os
        from slop_code.evaluation.verifiers import VerificationResult
        class Verifier:
            def __init__(self, config): pass
            def __call__(self, group_name, case_name, actual, expected):
                about = [sorted(os.environ), os.getcwd(), os.getpid() == os.getsid(0)]
                return {"about": VerificationResult(diff=about, is_correct=True)}
    """

    async def main() -> Any:
        async with PythonSource(problem(tmp_path, verifier=verifier)) as source:
            return (await judged(source, 1, 1))["about"].diff

    names, folder, leads_its_session = run(main())
    assert "SECRET_KEY" not in names
    assert not any("KEY" in name or "TOKEN" in name for name in names)
    assert leads_its_session
    assert not Path(folder).exists()


def test_nothing_of_a_worker_survives(tmp_path: Path) -> None:
    verifier = """
        import subprocess, sys
        from slop_code.evaluation.verifiers import VerificationResult
        class Verifier:
            def __init__(self, config): pass
            def __call__(self, group_name, case_name, actual, expected):
                child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
                return {"child": VerificationResult(diff=child.pid, is_correct=True)}
    """

    async def main() -> int:
        async with PythonSource(problem(tmp_path, verifier=verifier)) as source:
            return int((await judged(source, 1, 1))["child"].diff)

    assert has_gone(run(main()))


def has_gone(pid: int) -> bool:
    for _ in range(5000):
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except FileNotFoundError:
            return True
        if state == "Z":
            return True
        time.sleep(0.02)
    return False


def test_a_cancelled_question_leaves_a_working_source(tmp_path: Path) -> None:
    verifier = VERIFIER.replace("diff =", "import time; time.sleep(actual.output); diff =")

    async def main() -> None:
        async with PythonSource(problem(tmp_path, verifier=verifier)) as source:
            await source.load()
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(judged(source, 60, 60), 0.3)
            assert (await judged(source, 0, 0))["output"].is_correct

    run(main())


def test_questions_asked_at_once_are_answered_in_turn(tmp_path: Path) -> None:
    async def main() -> None:
        async with PythonSource(problem(tmp_path)) as source:
            found = await asyncio.gather(*(judged(source, n, n % 2) for n in range(20)))
            assert [each["output"].is_correct for each in found] == [n < 2 for n in range(20)]

    run(main())


@pytest.mark.parametrize(
    ("returned", "said"),
    [
        ("None", "the verifier returned NoneType, not a mapping"),
        ("{'output': True}", "the verifier returned bool for 'output', not a VerificationResult"),
        (
            "{1: VerificationResult.create('', True)}",
            "the verifier returned the key 1, which is int, not text",
        ),
    ],
)
def test_what_a_verifier_returns_is_checked(tmp_path: Path, returned: str, said: str) -> None:
    verifier = VERIFIER.replace("diff =", f"return {returned}; diff =")

    async def main() -> None:
        async with PythonSource(problem(tmp_path, verifier=verifier)) as source:
            with pytest.raises(VerifierBrokenError, match=said) as caught:
                await judged(source, 1, 1)
            assert str(caught.value).startswith(f"{source.problem.path / 'verifier.py'}:9: ")

    run(main())


@pytest.mark.parametrize(
    ("yielded", "said"),
    [
        ("'case'", "the loader yielded str, not a pair"),
        ("('case', 'expected')", r"the loader yielded \(str, str\), not a case"),
        ("(APICase(id='a'), None)", r"the loader yielded \(APICase, NoneType\)"),
        ("(APICase(id='a'), APIResult(id='a', group='g'))", "APICase, but .* adapter is 'cli'"),
    ],
)
def test_what_a_loader_yields_is_checked(tmp_path: Path, yielded: str, said: str) -> None:
    loader = f"""
        from slop_code.evaluation.adapters import APICase, APIResult
        class Loader:
            def __init__(self, problem, checkpoint, use_placeholders): pass
            def __call__(self, group, store):
                yield {yielded}
    """

    async def main() -> None:
        async with PythonSource(problem(tmp_path, loader)) as source:
            with pytest.raises(InputError, match=said) as caught:
                await draw_all(source)
            assert caught.value.where == f"{source.problem.path / 'loader.py'}:6"

    run(main())


def test_a_case_that_is_yielded_twice_is_named_with_the_line(tmp_path: Path) -> None:
    loader = LOADER.replace('f"case_{number}"', "'same'")

    async def main() -> None:
        async with PythonSource(problem(tmp_path, loader)) as source:
            with pytest.raises(InputError, match="yielded the case 'same' twice") as caught:
                await draw_all(source)
            # The line the statement begins or ends in, as the interpreter tells it.
            assert re.fullmatch(r".*/loader\.py:(9|1[0-2])", caught.value.where or "")

    run(main())


def test_arguments_beside_a_query_are_refused_and_never_lost(tmp_path: Path) -> None:
    loader = """
        from slop_code.evaluation.adapters import APICase, APIResult
        class Loader:
            def __init__(self, problem, checkpoint, use_placeholders): pass
            def __call__(self, group, store):
                about = dict(id="both", group=group.name)
                yield APICase(**about, arguments=["a=1"], query={"b": 2}), APIResult(**about)
    """

    async def main() -> None:
        made = problem(tmp_path, loader).model_copy(update={"adapter": ApiAdapter(type="api")})
        async with PythonSource(made) as source:
            with pytest.raises(
                InputError, match="'both' has both `arguments` and `query`"
            ) as found:
                await draw_all(source)
            assert found.value.where == f"{made.path / 'loader.py'}:7"

    run(main())


@pytest.mark.parametrize(("file", "line"), [("verifier.py", 8), ("loader.py", 6)])
def test_what_is_async_is_refused_before_anything_is_run(
    tmp_path: Path, file: str, line: int
) -> None:
    def turned(text: str) -> str:
        return text.replace("def __call__", "async def __call__")

    loader = turned(LOADER) if file == "loader.py" else LOADER
    verifier = turned(VERIFIER) if file == "verifier.py" else VERIFIER

    async def main() -> None:
        async with PythonSource(problem(tmp_path, loader, verifier)) as source:
            with pytest.raises(
                InputError, match="__call__ is async, and nothing awaits it"
            ) as found:
                await source.load()
            assert found.value.where == f"{source.problem.path / file}:{line}"

    run(main())


def test_assay_itself_never_sees_the_alias(tmp_path: Path) -> None:
    async def main() -> None:
        async with PythonSource(problem(tmp_path)) as source:
            await draw_all(source)

    run(main())
    assert not any(name.partition(".")[0] == "slop_code" for name in sys.modules)
    assert not (tmp_path / "small_problem" / "__pycache__").exists()
    assert "small_problem" not in sys.modules
