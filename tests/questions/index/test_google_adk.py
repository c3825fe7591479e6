"""A large real target; only where its environment and index have been built before."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest

from assay.questions.index import SymbolIndex, build_index
from assay.sandbox import Target, environment

REQUIREMENT = "google-adk==1.20.0"


def _skip(*_: Any, **__: Any) -> Any:
    pytest.skip(f"{REQUIREMENT} and its index are not built")


@pytest.fixture(scope="module")
def adk() -> Iterator[SymbolIndex]:
    with pytest.MonkeyPatch.context() as patch:
        for slow in (
            "assay.sandbox.targets._resolve",
            "assay.sandbox.targets._install",
            "assay.questions.index.build._look",
        ):
            patch.setattr(slow, _skip)
        index = build_index(environment(Target(requirements=(REQUIREMENT,))))
    yield index
    index.close()


def test_opening_and_asking_is_quick(adk: SymbolIndex) -> None:
    built = environment(Target(requirements=(REQUIREMENT,)))
    started = time.process_time()
    index = build_index(built)
    assert index.find("Runner.run_async")
    assert index.search("Which class runs agents in a loop?")
    assert time.process_time() - started < 0.3
    index.close()


def test_optional_dependencies_are_named(adk: SymbolIndex) -> None:
    assert len(adk.unavailable) == 27
    assert adk.unavailable["google.adk.tools.crewai_tool"].missing == "crewai"


def test_what_plain_looks_at_the_class_would_miss(adk: SymbolIndex) -> None:
    assert adk.find("LlmAgent.name")[0].kind == "field"
    assert adk.find("Event.invocation_id")[0].kind == "field"
    assert adk.find("EventActions.stateDelta")[0].name == "state_delta"
    assert adk.occurs("stateDelta")
    assert adk.resolve("google.adk.agents.Agent") == adk.resolve("google.adk.agents.LlmAgent")


def test_its_command_line_is_known(adk: SymbolIndex) -> None:
    assert adk.find("adk web --port")[0].annotation == "integer"
