"""Conversations of samples: both sides are kept with the run, and nothing that is secret."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from assay.agents.plan import ConnectionOptions
from assay.config import Transcripts
from assay.errors import InputError
from assay.model import Outcome
from assay.models import ModelClient, ModelSettings, ResponseCache
from assay.reports import format_names, get_format, render_case, render_evidence, render_report
from assay.runs import Run
from tests.agents.running_support import answers, ask, rule, run_file, write
from tests.agents.scripted_server import (
    Request,
    Script,
    ScriptedServer,
    Wire,
    answer,
    complete,
    echo,
    message,
)
from tests.models.scripted_server import ScriptedServer as ScriptedModel


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is tried again is tried again at once."""
    monkeypatch.setattr("assay.agents.sampling.tally.RETRY_DELAYS", (0.0,))


def kept(folder: Path, out: str = "run") -> dict[int, dict[str, Any]]:
    """The conversations of the only test of a run, by sample."""
    with Run(folder / out) as run:
        [row] = run.rows()
        return dict(run.conversations(row))


def turns(conversation: dict[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = conversation["attempts"][-1]["turns"]
    return found


def test_both_sides_are_kept_turn_by_turn(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        ask("first", {"text": {"keywords": "first"}}),
        ask("second", {"structure": {"turns": {"value": 2}}, "text": {"keywords": ["first", "x"]}}),
    )
    with ScriptedServer(echo) as server:
        [record] = run_file(path, server)
    assert record.outcome is Outcome.FAILED
    conversation = kept(tmp_path)[1]
    one, two = turns(conversation)
    assert [turn["sent"]["text"] for turn in (one, two)] == ["first", "second"]
    assert [turn["answer"]["text"] for turn in (one, two)] == ["first", "first | second"]
    assert two["answer"]["structure"] == {"turns": 2}
    assert (one["is_new"], two["is_new"]) == (True, False)
    assert one["checks"] == ["1.text.keywords"]
    # Every check has its result in the report of the sample.
    assert set(one["checks"] + two["checks"]) == set(record.reports[0].results)
    assert 0 < one["first_byte"] <= one["seconds"]
    assert conversation["attempts"][-1]["ending"] == "complete"


def test_an_interaction_may_start_a_new_conversation(tmp_path: Path) -> None:
    path = write(tmp_path, ask("first", continue_conversation=False), ask("second"))
    with ScriptedServer(answers("right")) as server:
        run_file(path, server)
    assert [turn["is_new"] for turn in turns(kept(tmp_path)[1])] == [True, True]


def test_tokens_are_kept_where_the_server_counts_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-something")

    async def counting(request: Request, wire: Wire) -> None:
        usage = {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": True}
        said = {"choices": [{"message": {"content": "right"}}], "usage": usage}
        await wire.status(200, json.dumps(said).encode())

    for number, (script, tokens) in enumerate(
        [(counting, {"input": 7, "output": 3}), (complete(lambda _: "right"), {})]
    ):
        path = write(tmp_path, connections="openai")
        with ScriptedServer(script) as server:
            reach = ConnectionOptions(url=f"http://127.0.0.1:{server.port}/v1")
            run_file(path, reach=reach, out=str(number))
        assert turns(kept(tmp_path, str(number))[1])[0]["tokens"] == tokens


def test_who_spoke_is_kept_for_answers_of_several_agents(tmp_path: Path) -> None:
    async def network(request: Request, wire: Wire) -> None:
        own = {"prompt_tokens": 1, "completion_tokens": 1}
        everything = {"prompt_tokens": 30, "completion_tokens": 4, "models": {}}
        await wire.begin("Content-Type: application/json-lines")
        await wire.frame(message("a helper thinks", steps=2))
        await wire.frame(message(kind="AGENT", structure=own))
        await wire.frame(message(kind="AGENT", structure=everything))
        await wire.frame(message("right", "AGENT_FRAMEWORK", chat_context={"n": 1}))
        await wire.finish()

    with ScriptedServer(network) as server:
        run_file(write(tmp_path), server)
    [turn] = turns(kept(tmp_path)[1])
    assert turn["origin"] == "agent0"
    assert turn["steps"] == [["agent0.agent1", "a helper thinks"]]
    assert turn["tokens"] == {"input": 30, "output": 4}


def test_attempts_that_met_an_outage_are_kept_with_their_reason(tmp_path: Path) -> None:
    async def broken_at_first(request: Request, wire: Wire) -> None:
        if request.number == 0:
            await wire.status(500, b"the disk is full")
        else:
            await answer(wire, "right")

    with ScriptedServer(broken_at_first) as server:
        [record] = run_file(write(tmp_path), server)
    assert record.outcome is Outcome.PASSED
    first, last = kept(tmp_path)[1]["attempts"]
    assert first["ending"] == "outage"
    assert "status 500: the disk is full" in first["reason"]
    assert [turn["answer"] for turn in first["turns"]] == [None]
    assert (last["ending"], last["reason"]) == ("complete", "")


def test_an_outage_to_the_end_keeps_what_was_said_before_it(tmp_path: Path) -> None:
    async def then_silent(request: Request, wire: Wire) -> None:
        if request.text == "one":
            await answer(wire, "right")
        else:
            await wire.drop()

    with ScriptedServer(then_silent) as server:
        [record] = run_file(write(tmp_path, ask("one"), ask("two")), server, retries=0)
    assert record.outcome is Outcome.ERROR
    one, two = turns(kept(tmp_path)[1])
    assert one["answer"]["text"] == "right"
    assert (two["sent"]["text"], two["answer"]) == ("two", None)


def test_what_the_judge_was_asked_and_its_votes_are_kept(tmp_path: Path) -> None:
    path = write(tmp_path, ask(response={"text": {"gist": "The city is Paris."}}))
    with ScriptedServer(answers("It is Paris.")) as server, ScriptedModel(rule) as judge:
        settings = ModelSettings("scripted", judge.url, judge_votes=3)
        client = ModelClient(settings, cache=ResponseCache(tmp_path / "cache"))
        [record] = run_file(path, server, client=client)
    assert record.outcome is Outcome.PASSED
    conversation = kept(tmp_path)[1]
    assert conversation["judge"] == "scripted"
    [ruling] = turns(conversation)[0]["judged"]
    assert ruling == {
        "check": "1.text.gist",
        "criterion": "The city is Paris.",
        "sample": "It is Paris.",
        "holds": True,
        "votes": [{"holds": True, "reason": "'Paris' is there"}] * 3,
    }


@pytest.mark.parametrize(
    ("transcripts", "samples"), [("all", [1, 2, 3]), ("failed", [2]), ("none", [])]
)
def test_the_user_says_which_conversations_are_kept(
    tmp_path: Path, transcripts: Transcripts, samples: list[int]
) -> None:
    path = write(tmp_path, success_ratio="3/3")
    with ScriptedServer(answers("right", "wrong", "right")) as server:
        [record] = run_file(path, server, transcripts=transcripts, takes_all=True)
    assert record.outcome is Outcome.FAILED
    assert sorted(kept(tmp_path)) == samples


def test_an_unknown_word_for_transcripts_is_refused() -> None:
    from assay.agents.plan import read_options

    with pytest.raises(InputError, match="unknown transcripts 'faild'"):
        read_options({"transcripts": "faild"})  # type: ignore[typeddict-item] # on purpose


def test_a_resumed_run_keeps_the_conversations_of_both_passes(tmp_path: Path) -> None:
    is_down = True

    async def down_at_first(request: Request, wire: Wire) -> None:
        await (wire.drop() if is_down and request.number else answer(wire, "right"))

    path = write(tmp_path, success_ratio="2/2")
    with ScriptedServer(down_at_first) as server:
        [record] = run_file(path, server, retries=0, takes_all=True)
        assert record.outcome is Outcome.ERROR
        assert kept(tmp_path)[2]["attempts"][0]["ending"] == "outage"
        is_down = False
        [record] = run_file(path, server, retries=0, takes_all=True)
    assert record.outcome is Outcome.PASSED
    found = kept(tmp_path)
    assert sorted(found) == [1, 2]
    assert found[2]["attempts"][0]["ending"] == "complete"


def test_a_very_long_conversation_is_cut_and_the_run_can_be_read(tmp_path: Path) -> None:
    async def talkative(request: Request, wire: Wire) -> None:
        await answer(wire, "right " + "x" * 3_000_000)

    path = write(tmp_path, *(ask() for _ in range(3)))
    with ScriptedServer(talkative) as server:
        [record] = run_file(path, server)
    assert record.outcome is Outcome.PASSED
    texts = [turn["answer"]["text"] for turn in turns(kept(tmp_path)[1])]
    assert all(text.endswith("more characters left out)") for text in texts)
    assert all(len(text) < 101_000 for text in texts)


# --- Secrets --------------------------------------------------------------------------------------

SLY = {
    "card": "CANARY-4111-1111",
    "pin": 4711,
    "nested": {"list": ["CANARY inner", "ab"]},
    "looked": "at by a test",
    "is_on": True,
}


async def _gossip(request: Request, wire: Wire) -> None:
    """Repeats all that it was sent, headers included, in every part of an answer."""
    told = json.dumps({"body": request.body, "headers": request.headers})
    await wire.begin("Content-Type: application/json-lines")
    await wire.frame(message(f"thinking about {told}", steps=2))
    await wire.frame(
        message(
            f"it is {told} CANARY-returned",
            "AGENT_FRAMEWORK",
            structure={told: told},
            sly_data={**SLY, "more": "CANARY-returned", "tiny": "q7"},
            chat_context={"said": told},
        )
    )
    await wire.finish()


async def _gossip_and_fail(request: Request, wire: Wire) -> None:
    told = json.dumps({"body": request.body, "headers": request.headers})
    await wire.status(500, f"{told} CANARY-returned".encode())


@pytest.mark.parametrize("script", [_gossip, _gossip_and_fail])
def test_no_file_and_no_report_of_a_run_has_a_canary(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: Script
) -> None:
    monkeypatch.setenv("AGENT_TOKEN", 'CANARY token/with "quotes"')
    path = tmp_path / "test.hocon"
    interaction = {
        "text": "hi from ${AGENT_TOKEN}",
        "sly_data": SLY,
        "response": {
            "text": {"keywords": "never", "gist": "The last word is never."},
            "sly_data": {"looked": {"value": "something else"}},
        },
    }
    # Only outside of quotes HOCON looks at the environment.
    written = json.dumps(interaction).replace(
        '"hi from ${AGENT_TOKEN}"', '"hi from "${AGENT_TOKEN}'
    )
    path.write_text(
        "agent: a, connections: http, metadata.authorization: ${AGENT_TOKEN}\n"
        f"interactions: [{written}, {written}]"
    )
    with ScriptedServer(script) as server, ScriptedModel(rule) as judge:
        settings = ModelSettings("scripted", judge.url)
        client = ModelClient(settings, cache=ResponseCache(tmp_path / "cache"))
        [record] = run_file(path, server, client=client, retries=1)
    assert "CANARY" in json.dumps(server.requests[0].headers), "the agent got the token"
    assert record.outcome in (Outcome.FAILED, Outcome.ERROR)
    assert turns(kept(tmp_path)[1]), "the conversation is there"
    files = [one for one in (tmp_path / "run").rglob("*") if one.is_file()]
    for one in files:
        _check_clean(one.read_bytes().decode(errors="replace"), one.name)
    with Run(tmp_path / "run") as run:
        [row] = run.rows()
        for name in format_names():
            if not get_format(name).subjects:
                _check_clean(b"".join(render_report(run, name)).decode(errors="replace"), name)
        evidence, shown = render_evidence(run, row), render_case(run, row)
    _check_clean(evidence, "evidence")
    _check_clean(shown, "terminal")
    assert "&lt;AGENT_TOKEN&gt;" in evidence


def _check_clean(text: str, where: str) -> None:
    for part in ("CANARY", "4111-1111", "Q0FOQVJZ", "token/with"):
        assert part not in text, where


def test_private_data_itself_is_hidden_however_short(tmp_path: Path) -> None:
    with ScriptedServer(_gossip) as server:
        response = {"sly_data": {"looked": {"value": "at by a test"}}}
        run_file(write(tmp_path, ask("hi", response, sly_data=SLY)), server)
    [turn] = turns(kept(tmp_path)[1])
    hidden = {
        "card": "<sly_data.card>",
        "pin": "<sly_data.pin>",
        "nested": {"list": ["<sly_data.nested.list.0>", "<sly_data.nested.list.1>"]},
        "looked": "at by a test",
        "is_on": True,
    }
    assert turn["sent"]["sly_data"] == hidden
    assert turn["answer"]["sly_data"] == {
        **hidden, "more": "<sly_data.more>", "tiny": "<sly_data.tiny>",
    }  # fmt: skip
