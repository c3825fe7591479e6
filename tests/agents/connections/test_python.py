"""Tests of agents that are Python functions: what they get, what they may return, how they fail."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

import pytest

from assay.agents.connections import Settings, open_connection
from assay.agents.sampling.conversation import ConversationEnd
from assay.errors import InputError
from tests.agents import python_agents
from tests.agents.holding import GRACE, Says, calmest, held, held_often, texts
from tests.waiting import PATIENCE


def agent(name: str, **more: Any) -> Settings:
    return Settings(f"tests.agents.python_agents:{name}", **more)


@pytest.mark.parametrize(
    ("name", "said"),
    [("plain", "you said hi"), ("polite", "please: hi"), ("promising", "please: hi")],
)
def test_functions_coroutines_and_objects_are_called(name: str, said: str) -> None:
    assert texts(held("python", agent(name), Says("hi"))) == [said]


def test_a_function_gets_what_it_asks_for_by_name() -> None:
    conversation = held(
        "python", agent("everything", metadata={"user": "ada"}), Says("hi", chat_filter="MAXIMAL")
    )
    assert texts(conversation) == [
        "chat_context chat_filter history metadata sly_data {'user': 'ada'} MAXIMAL"
    ]


def test_context_and_private_data_of_the_function_come_back_to_it() -> None:
    conversation = held("python", agent("counting"), Says("a", {"x": 1}), Says("b", {"y": 2}))
    assert texts(conversation) == ["1", "2"]
    assert [reply.answer.sly_data for reply in conversation.replies] == [
        {"x": 1, "count": 1},
        {"y": 2, "count": 2},
    ]


def test_what_an_agent_shares_is_copied_on_its_way() -> None:
    python_agents.SHARED["orders"].clear()
    conversation = held("python", agent("sharing"), Says("tea"), Says("milk"))
    assert [reply.answer.sly_data for reply in conversation.replies] == [
        {"orders": ["tea"]},
        {"orders": ["tea", "milk"]},
    ]


@pytest.mark.parametrize(
    ("name", "word"),
    [
        ("raising", "ValueError: no such song"),
        ("raising_later", "TimeoutError"),
        ("leaving", "SystemExit"),
        ("leaving_later", "SystemExit"),
        ("exhausted", "StopIteration"),
        ("cancelling", "cancelled itself"),
        ("silent", "returned a NoneType"),
        ("misspelling", "unknown key 'sly-data'"),
        ("mistyping", "returned int as its text"),
        ("empty", "neither text nor structure"),
        ("uncopyable", "cannot be copied"),
    ],
)
def test_what_an_agent_raises_or_fails_to_return_is_its_failure(name: str, word: str) -> None:
    conversation = held("python", agent(name), Says("hi"))
    assert conversation.ending is ConversationEnd.FAILED
    assert word in str(conversation.reason)


def test_an_agent_can_say_that_what_is_behind_it_is_out() -> None:
    conversation = held("python", agent("unreachable"), Says("hi"))
    assert conversation.ending is ConversationEnd.OUTAGE
    assert "the shop is closed" in str(conversation.reason)
    named = held("python", agent("raising"), Says("hi"), patterns=["no such song"])
    assert named.ending is ConversationEnd.OUTAGE
    assert "'no such song', which this test calls an outage" in str(named.reason)


@pytest.mark.parametrize("name", ["hanging", "endless", "blocking"])
def test_a_limit_holds_whatever_the_function_does(name: str) -> None:
    python_agents.RELEASE.clear()
    try:
        conversation = calmest("python", agent(name), Says("hi", timeout=0.3))
    finally:
        python_agents.RELEASE.set()
    assert conversation.ending is ConversationEnd.TOO_SLOW
    assert 0.3 <= conversation.seconds < 0.3 + GRACE


def test_samples_of_a_slow_function_run_side_by_side() -> None:
    conversations = held_often(20, "python", agent("meeting"), Says("hi"))
    assert {each.ending for each in conversations} == {ConversationEnd.COMPLETE}


def test_calls_that_never_end_are_bounded() -> None:
    python_agents.RELEASE.clear()
    try:

        async def run() -> tuple[ConversationEnd, str | None]:
            from assay.agents.sampling.conversation import hold

            connection = open_connection("python", agent("hanging"))
            say = [Says("hi", timeout=0.2)]
            await asyncio.gather(*(hold(connection, say) for _ in range(100)))
            last = await hold(connection, say)
            python_agents.RELEASE.set()
            async with asyncio.timeout(PATIENCE):
                # The calls end one by one; until then there is no room for another.
                while (
                    again := await hold(connection, [Says("hi")])
                ).ending is ConversationEnd.OUTAGE:
                    await asyncio.sleep(0.05)
            await connection.close()
            assert again.ending is ConversationEnd.COMPLETE
            return last.ending, last.reason

        ending, reason = asyncio.run(run())
    finally:
        python_agents.RELEASE.set()
    assert ending is ConversationEnd.OUTAGE
    assert "never ended" in str(reason)


@pytest.mark.parametrize(
    ("name", "word"),
    [
        ("tests.agents.python_agents", "does not name a Python agent"),
        ("tests.agents.python_agents:plane", "did you mean 'plain'"),
        ("tests.agents.no_such_module:x", "cannot be imported"),
        ("tests.agents.python_agents:NOT_AN_AGENT", "cannot be called"),
        ("tests.agents.python_agents:demanding", "asks for 'temperature'"),
    ],
)
def test_a_name_that_leads_to_no_agent_is_the_users_mistake(name: str, word: str) -> None:
    with pytest.raises(InputError, match=word):
        open_connection("python", Settings(name))


def test_modules_are_found_from_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "assay_test_agent.py").write_text("def answer(text): return text.upper()")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [each for each in sys.path if each])
    assert texts(held("python", Settings("assay_test_agent:answer"), Says("hi"))) == ["HI"]
