"""The plugin, tested by running pytest inside pytest."""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.agents.running_support import answers, ask, rule, write
from tests.agents.scripted_server import Request, Script, ScriptedServer, Wire, answer
from tests.commands import run_forked
from tests.models import scripted_server as models
from tests.waiting import PATIENCE

Pytest = Callable[..., subprocess.CompletedProcess[str]]
WRONG = ask(response={"text": {"keywords": "never"}})
GIST = ask(response={"text": {"gist": "The answer names Paris."}})


# A neighbour that takes longer to import than everything here together.
ALONE = ("-p", "no:hypothesispytest")


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    return {**os.environ, "ASSAY_CACHE": str(tmp_path / "cache"), "COLUMNS": "100"}


@pytest.fixture
def run(tmp_path: Path, preloaded_pytest: str, environment: dict[str, str]) -> Pytest:
    """Runs pytest in a folder that is a project of its own."""

    def start(*words: str | int) -> subprocess.CompletedProcess[str]:
        return run_forked(preloaded_pytest, [*ALONE, *map(str, words)], tmp_path, environment)

    return start


@pytest.fixture
def real_run(tmp_path: Path, environment: dict[str, str]) -> Pytest:
    """Does the same from the start of an interpreter."""

    def start(*words: str | int) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "pytest", *ALONE, *map(str, words)],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            env=environment,
        )

    return start


def at(server: ScriptedServer) -> list[str]:
    return ["--assay", f"--assay-port={server.port}", "--assay-host=127.0.0.1", "-rA"]


def test_files_are_items_named_by_path_and_a_failure_is_readable(
    run: Pytest, tmp_path: Path
) -> None:
    (tmp_path / "fixtures").mkdir()
    write(tmp_path, name="fixtures/good.hocon", connections=["http", "openai"])
    write(tmp_path, WRONG, name="fixtures/bad.hocon", success_ratio="2/3")
    (tmp_path / "fixtures" / "network.hocon").write_text("tools: []")
    (tmp_path / "test_plain.py").write_text("def test_plain(): pass\n")
    with ScriptedServer(answers("right")) as server:
        result = run(*at(server), "--assay-connection=http")
    assert result.returncode == 1
    assert "PASSED fixtures/good.hocon::http" in result.stdout
    assert "PASSED test_plain.py::test_plain" in result.stdout
    assert "FAILED fixtures/bad.hocon::http" in result.stdout
    assert "decided after 2 of 3: 0 of 2 samples passed, 2/3 needed" in result.stdout
    assert "sample 1:\n  1.text.keywords  (line 1)\n" in result.stdout
    assert "    expected: never\n    actual: right\n" in result.stdout
    assert "fixtures/network.hocon: has no `interactions`, skipped" in result.stdout
    assert "Traceback" not in result.stdout
    assert "1 failed, 2 passed" in result.stdout


@pytest.mark.parametrize(
    ("words", "shown"),
    [([], ["sample 2"]), (["--assay-transcripts=all"], ["sample 1", "sample 2"]),
     (["--assay-transcripts=none"], [])],
)  # fmt: skip
def test_a_failure_shows_what_was_said(
    run: Pytest, tmp_path: Path, words: list[str], shown: list[str]
) -> None:
    write(tmp_path, success_ratio="2/2")
    with ScriptedServer(answers("right", "something else")) as server:
        result = run(*at(server), *words, "--assay-jobs=1")
    assert result.returncode == 1
    sections = re.findall(r"conversation, (sample \d)", result.stdout)
    assert sections == shown
    assert ("agent0 (" in result.stdout) is bool(shown)
    assert ("something else\n  failed 1.text.keywords: right" in result.stdout) is bool(shown)


@pytest.mark.parametrize("line", ["assay = true", "assay = false", ""])
def test_it_is_off_unless_asked_for(real_run: Pytest, tmp_path: Path, line: str) -> None:
    (tmp_path / "pytest.ini").write_text(f"[pytest]\n{line}\n")
    (tmp_path / "test_light.py").write_text(
        "import sys\n"
        "HEAVY = {'assay.agents.sampling.worker', 'pydantic', 'httpx'}\n"
        "def test_light(): assert not HEAVY & set(sys.modules)\n"
    )
    write(tmp_path, agent="tests.agents.python_agents:plain", connections="python")
    result = real_run("-q", *(["--collect-only"] if line == "assay = true" else []))
    assert ("test.hocon::python" in result.stdout) == (line == "assay = true")
    assert result.returncode == 0


def test_an_outage_is_an_error_and_not_a_failure(run: Pytest, tmp_path: Path) -> None:
    async def unknown(request: Request, wire: Wire) -> None:
        await wire.status(404)

    write(tmp_path)
    with ScriptedServer(unknown) as server:
        result = run(*at(server), "--junitxml=report.xml")
    assert result.returncode == 1
    assert "ERROR test.hocon::http" in result.stdout
    assert "no such agent" in result.stdout
    assert "1 error" in result.stdout
    assert "failed" not in result.stdout.splitlines()[-1]
    assert 'errors="1" failures="0"' in (tmp_path / "report.xml").read_text()


def test_how_often_an_outage_is_tried_again_can_be_said(run: Pytest, tmp_path: Path) -> None:
    async def out_at_first(request: Request, wire: Wire) -> None:
        if request.number == 0:
            await wire.status(503)
        else:
            await answer(wire, "right")

    write(tmp_path)
    with ScriptedServer(out_at_first) as server:
        result = run(*at(server), "--assay-retries=0")
        assert (result.returncode, len(server.requests)) == (1, 1)
    assert "1 error" in result.stdout


def test_a_file_with_a_mistake_is_not_collected(run: Pytest, tmp_path: Path) -> None:
    write(tmp_path, ask(response={"text": {"keyword": "x"}}))
    result = run("--assay")
    assert result.returncode == 2
    assert "did you mean 'keywords'?" in result.stdout
    for option, told in (
        ("--assay-ratio=3/2", "not a success ratio"),
        ("--assay-retries=-1", "must be at least 0"),
        ("--assay-url=http://me:secret@localhost", "must be plain"),
    ):
        usage = run("--assay", option)
        assert (usage.returncode, told in usage.stderr) == (4, True)


def test_a_file_that_cannot_be_used_is_one_error_and_the_others_run(
    run: Pytest, tmp_path: Path
) -> None:
    write(tmp_path, name="a.hocon")
    write(tmp_path, ask(response={"text": {"keyword": "x"}}), name="b.hocon")
    write(tmp_path, name="c.hocon", connections="python", agent="nowhere")
    write(tmp_path, name="d.hocon")
    with ScriptedServer(answers("right")) as server:
        result = run(*at(server), "-n1", "--junitxml=report.xml")
        assert (result.returncode, len(server.requests)) == (2, 2)
        for told in (
            "PASSED a.hocon::http", "PASSED d.hocon::http", "ERROR b.hocon::lint",
            "b.hocon:1: there is no test `keyword`", "did you mean 'keywords'?",
            "ERROR c.hocon::python", "'nowhere' does not name a Python agent",
            "2 passed, 2 errors",
        ):  # fmt: skip
            assert told in result.stdout
        assert 'errors="2" failures="0"' in (tmp_path / "report.xml").read_text()
        strict = run(*at(server), "--assay-strict")
        assert (strict.returncode, len(server.requests)) == (2, 2)
        assert "1 error during collection" in strict.stdout


def test_an_error_of_a_set_up_shows_its_message_and_nothing_of_pytest(
    run: Pytest, tmp_path: Path
) -> None:
    async def unknown(request: Request, wire: Wire) -> None:
        await wire.status(404)

    write(tmp_path)
    with ScriptedServer(unknown) as server:
        result = run(*at(server))
    _, _, errors = result.stdout.partition("ERRORS")
    assert "the server answered with status 404" in errors
    assert not [word for word in (".py:", "AgentTestError", "def setup") if word in errors]


def by_text(**said: str) -> Script:
    async def script(request: Request, wire: Wire) -> None:
        await answer(wire, said[request.text])

    return script


def test_choosing_stopping_and_repeating_work_as_for_any_test(run: Pytest, tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        write(tmp_path, ask(name), name=f"{name}.hocon")
    with ScriptedServer(by_text(a="right", b="wrong", c="wrong")) as server:
        chosen = run(*at(server), "-k", "a.hocon")
        assert (chosen.returncode, len(server.requests)) == (0, 1)
        assert "1 passed, 2 deselected" in chosen.stdout
        stopped = run(*at(server), "-x")
        assert (stopped.returncode, len(server.requests)) == (1, 3)
        assert "1 failed, 1 passed" in stopped.stdout
        repeated = run(*at(server), "--lf")
        assert (repeated.returncode, len(server.requests)) == (1, 4)
        assert server.requests[-1].text == "b"
        named = run(*at(server), "c.hocon::http")
        assert (named.returncode, server.requests[-1].text) == (1, "c")


def test_items_are_spread_over_processes(run: Pytest, tmp_path: Path) -> None:
    both = asyncio.Barrier(2)

    async def script(request: Request, wire: Wire) -> None:
        # Answered only when two are asking at the same time, each from a process of its own.
        await asyncio.wait_for(both.wait(), PATIENCE)
        await answer(wire, "right")

    for name in ("a", "b"):
        write(tmp_path, name=f"{name}.hocon")
    (tmp_path / "network.hocon").write_text("tools: []")
    with ScriptedServer(script) as server:
        result = run(*at(server), "-n2")
    assert result.returncode == 0
    assert "2 passed" in result.stdout
    assert result.stdout.count("network.hocon: has no `interactions`, skipped") == 1


def test_a_gist_is_judged_and_the_budget_ends_the_session(run: Pytest, tmp_path: Path) -> None:
    write(tmp_path, GIST, name="a.hocon")
    write(tmp_path, ask("again", GIST["response"]), name="b.hocon")
    write(tmp_path, ask("more", GIST["response"]), name="c.hocon")
    said = by_text(hi="Paris, hi", again="Paris, again", more="Paris, more")
    with ScriptedServer(said) as server, models.ScriptedServer(rule) as judge:
        unset = run(*at(server), "--assay-model=none", "a.hocon")
        assert unset.returncode == 1
        assert "name a model with --assay-model," in unset.stdout
        model = ["--assay-model=scripted", f"--assay-model-url={judge.url}"]
        limited = run(*at(server), *model, "--assay-max-tokens=15")
        assert "1 passed, 1 error" in limited.stdout
        assert "15 of the 15 tokens" in limited.stdout
        whole = run(*at(server), *model, "--assay-judge-votes=1")
        assert whole.returncode == 0
    assert judge.calls == 3
