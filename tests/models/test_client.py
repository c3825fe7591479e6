"""The client over real HTTP: recovery, limits, shapes, the cache, and what is paid when."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, ConfigDict

from assay.errors import AssayError, BudgetExceeded, InputError
from assay.models import Budget, ModelFailed, Usage, open_meter
from assay.redaction import ENCODERS
from tests.models.conftest import Connect
from tests.models.scripted_server import (
    Received,
    Reply,
    ScriptedServer,
    calls,
    drops,
    fails,
    hangs,
    raw,
    says,
    says_json,
    trickles,
)
from tests.waiting import PATIENCE

pytestmark = pytest.mark.anyio


class Colour(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: str
    red: int


def question(text: str = "hello") -> list[dict[str, Any]]:
    return [{"role": "user", "content": text}]


def _with_numbers(text: str) -> str:
    return "".join(f"\\u{ord(letter):04x}" for letter in text)


def echo(received: Received) -> Reply:
    return says(f"you said {received.last}")


async def test_an_answer_comes_with_what_it_used(connect: Connect) -> None:
    with ScriptedServer(says("hi")) as server:
        async with connect(server) as client:
            answer = await client.ask(question())
    assert (answer.text, answer.parsed) == ("hi", None)
    assert answer.usage == client.usage == Usage(1, 0, 10, 5, 20 / 1_000_000)
    [received] = server.requests
    assert received.path == "/v1/chat/completions"
    assert received.body == {"model": "scripted", "messages": question()}
    assert "authorization" not in received.headers


@pytest.mark.parametrize("failure", [fails(500), fails(503), fails(429), drops(), raw(b"<html>")])
async def test_what_passes_by_itself_is_tried_again(connect: Connect, failure: Reply) -> None:
    with ScriptedServer([failure, says("at last")]) as server:
        async with connect(server) as client:
            answer = await client.ask(question())
    assert answer.text == "at last"
    assert answer.usage.calls == 1
    assert server.calls == 2


async def test_retry_after_is_waited_for(connect: Connect) -> None:
    with ScriptedServer([fails(429, retry_after=1), says("now")]) as server:
        async with connect(server) as client:
            await client.ask(question())
    first, second = server.requests
    assert 1.0 <= second.at - first.at < PATIENCE


async def test_a_pause_asked_of_one_call_holds_for_all(connect: Connect) -> None:
    with ScriptedServer([fails(429, retry_after=1), says("now"), says("then")]) as server:
        async with connect(server) as client:
            first = asyncio.create_task(client.ask(question("one")))
            while not server.requests:
                await asyncio.sleep(0.01)
            await asyncio.sleep(0.5)
            await client.ask(question("two"))
            await first
    assert server.requests[1].at - server.requests[0].at >= 1.0


async def test_a_provider_that_asks_for_too_long_is_given_up_on(connect: Connect) -> None:
    clock = time.monotonic()
    with ScriptedServer(fails(429, "quota", retry_after=3600)) as server:
        async with connect(server) as client:
            with pytest.raises(ModelFailed, match="429: quota, and asks to wait 3,600 s"):
                await client.ask(question())
    assert time.monotonic() - clock < PATIENCE
    assert server.calls == 1


async def test_an_outage_ends_with_what_happened(connect: Connect) -> None:
    with ScriptedServer(fails(500, "on fire")) as server:
        async with connect(server, patience=0.4) as client:
            with pytest.raises(ModelFailed, match=r"judge: scripted: 500: on fire \(tried"):
                await client.ask(question(), purpose="judge")
    assert server.calls >= 1
    assert client.usage.calls == 0


async def test_a_server_that_is_not_there_is_an_outage(connect: Connect) -> None:
    with ScriptedServer(says("hi")) as server:
        client = connect(server, patience=0.0)
        _ = client.settings.url
    async with client:
        with pytest.raises(ModelFailed, match="cannot be reached"):
            await client.ask(question())


@pytest.mark.parametrize("reply", [hangs(), trickles()])
async def test_a_server_that_hangs_ends_with_the_limit(connect: Connect, reply: Reply) -> None:
    with ScriptedServer(reply) as server:
        async with connect(server, timeout=0.3, patience=0.0) as client:
            clock = time.monotonic()
            with pytest.raises(ModelFailed, match=r"no answer from .* within 0\.3 s"):
                await client.ask(question())
            assert 0.3 <= time.monotonic() - clock < PATIENCE


@pytest.mark.parametrize("status", [401, 403])
async def test_a_refused_key_is_the_users_mistake(connect: Connect, status: int) -> None:
    with ScriptedServer(fails(status, "bad key CANARY-KEY")) as server:
        async with connect(server, key="CANARY-KEY", key_name="SOME_KEY") as client:
            with pytest.raises(InputError, match="SOME_KEY") as caught:
                await client.ask(question())
    assert server.calls == 1
    assert server.requests[0].headers["authorization"] == "Bearer CANARY-KEY"
    assert "CANARY" not in str(caught.value)


async def test_an_unknown_model_and_a_redirection_are_the_users_mistake(connect: Connect) -> None:
    moved = fails(307, headers={"Location": "http://127.0.0.1:9/v1"})
    with ScriptedServer([fails(404), moved]) as server:
        async with connect(server) as client:
            for _ in range(2):
                with pytest.raises(InputError, match="no model 'scripted'"):
                    await client.ask(question())
    assert server.calls == 2


async def test_spent_quota_is_not_waited_for(connect: Connect) -> None:
    spent = raw(b'{"error": {"message": "pay", "code": "insufficient_quota"}}', status=429)
    with ScriptedServer(spent) as server:
        async with connect(server) as client:
            with pytest.raises(ModelFailed, match="429: pay"):
                await client.ask(question())
    assert server.calls == 1


@pytest.mark.parametrize(
    "text",
    [
        '{"name": "rose", "red": 255}',
        '```json\n{"name": "rose", "red": 255}\n```',
        '<think>{"name": "no"}</think>\n{"name": "rose", "red": 255}',
    ],
)
async def test_a_shaped_answer_is_validated_by_us(connect: Connect, text: str) -> None:
    with ScriptedServer(says(text)) as server:
        async with connect(server) as client:
            answer = await client.ask(question(), schema=Colour)
    assert answer.parsed == Colour(name="rose", red=255)
    [received] = server.requests
    assert received.body["response_format"]["json_schema"]["schema"] == Colour.model_json_schema()
    # For a provider that ignores the parameter.
    assert json.dumps(Colour.model_json_schema()) in received.messages[0]["content"]


@pytest.mark.parametrize(
    "malformed",
    [
        "rose",
        '{"name": "rose"}',
        '{"name": "rose", "red": 1, "x": 1}',
        'It is {"name":"r","red":1}',
    ],
)
async def test_a_malformed_answer_is_sent_back_once(connect: Connect, malformed: str) -> None:
    with ScriptedServer([says(malformed), says_json({"name": "rose", "red": 1})]) as server:
        async with connect(server) as client:
            answer = await client.ask(question(), schema=Colour)
    assert answer.parsed.red == 1
    assert answer.usage.calls == 2
    back = server.requests[1].messages[-2:]
    assert back[0] == {"role": "assistant", "content": malformed}
    assert "not the JSON object" in back[1]["content"]


async def test_malformed_twice_is_an_error_that_is_paid_but_not_kept(connect: Connect) -> None:
    replies = [says("no"), says("still no"), says_json({"name": "rose", "red": 1})]
    with ScriptedServer(replies) as server:
        async with connect(server) as client:
            with (
                open_meter() as meter,
                pytest.raises(ModelFailed, match="wrong shape, also the second"),
            ):
                await client.ask(question(), schema=Colour)
            assert meter.usage.calls == client.usage.calls == 2
            assert (await client.ask(question(), schema=Colour)).parsed.red == 1
    assert server.calls == 3


async def test_a_provider_that_refuses_schemas_is_asked_without(connect: Connect) -> None:
    def strict(received: Received) -> Reply:
        if "response_format" in received.body:
            return fails(400, "unknown parameter response_format")
        return says_json({"name": "rose", "red": 1})

    with ScriptedServer(strict) as server:
        async with connect(server) as client:
            for text in ("one", "two"):
                assert (await client.ask(question(text), schema=Colour)).parsed.red == 1
    assert ["response_format" in each.body for each in server.requests] == [True, False, False]


async def test_an_answer_that_was_cut_off_or_is_empty_is_no_answer(connect: Connect) -> None:
    with ScriptedServer([says("Once upon", finish_reason="length"), says(""), says("x")]) as server:
        async with connect(server) as client:
            with pytest.raises(ModelFailed, match="cut off"):
                await client.ask(question())
            assert client.usage.calls == 1
            assert (await client.ask(question())).text == "x"


async def test_tools_are_offered_and_their_calls_returned_and_kept(connect: Connect) -> None:
    tool = {"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}
    with ScriptedServer(calls(("look", {"at": 1}))) as server:
        for _ in range(2):
            async with connect(server) as client:
                answer = await client.ask(question(), tools=[tool])
                [call] = answer.tool_calls
                assert (call.function.name, json.loads(call.function.arguments)) == (
                    "look",
                    {"at": 1},
                )
    assert server.calls == 1
    assert server.requests[0].body["tools"] == [tool]


async def test_a_repeat_is_answered_from_the_cache(connect: Connect) -> None:
    with ScriptedServer(echo) as server:
        for _ in range(2):
            async with connect(server) as client:
                answers = [await client.ask(question(), sample=sample) for sample in range(3)]
    assert server.calls == 3
    assert [answer.text for answer in answers] == ["you said hello"] * 3
    assert client.usage == Usage(cached_calls=3)


async def test_another_model_message_or_schema_is_another_question(connect: Connect) -> None:
    with ScriptedServer(says_json({"name": "rose", "red": 1})) as server:
        async with connect(server) as client:
            await client.ask(question())
            await client.ask(question("other"))
            await client.ask(question(), schema=Colour)
    assert server.calls == 3


async def test_the_same_question_at_the_same_time_is_sent_once(connect: Connect) -> None:
    with ScriptedServer(says("hi", delay=0.1)) as server:
        async with connect(server, cached=False) as client:
            answers = await asyncio.gather(*(client.ask(question()) for _ in range(5)))
    assert server.calls == 1
    assert [answer.text for answer in answers] == ["hi"] * 5
    assert client.usage.cached_calls == 4


async def test_an_asker_that_gives_up_takes_nobody_along(connect: Connect) -> None:
    with ScriptedServer(says("hi", delay=0.2)) as server:
        async with connect(server) as client:
            impatient = asyncio.create_task(client.ask(question()))
            await asyncio.sleep(0)
            patient = asyncio.create_task(client.ask(question()))
            await asyncio.sleep(0)
            impatient.cancel()
            assert (await patient).text == "hi"
    assert server.calls == 1


async def test_what_is_used_is_counted_per_case(connect: Connect) -> None:
    async def case(texts: str) -> Usage:
        with open_meter() as meter:
            await asyncio.gather(*(client.ask(question(text)) for text in texts))
        return meter.usage

    with ScriptedServer(echo) as server:
        async with connect(server) as client:
            one, two = await asyncio.gather(case("ab"), case("c"))
    assert (one.calls, two.calls, client.usage.calls) == (2, 1, 3)
    assert one.as_record() == {
        "calls": 2.0,
        "input tokens": 20.0,
        "output tokens": 10.0,
        "US dollars": pytest.approx(40 / 1_000_000),
    }


ZEROS = ("prompt_tokens", "completion_tokens", "total_tokens")


@pytest.mark.parametrize("reported", [None, dict.fromkeys(ZEROS, 0)])
async def test_without_a_word_on_usage_the_texts_are_counted(
    connect: Connect, reported: dict[str, int] | None
) -> None:
    with ScriptedServer(says("x" * 400, usage=reported)) as server:
        async with connect(server) as client:
            usage = (await client.ask(question("y" * 800))).usage
    assert usage.output_tokens == 101
    assert 200 < usage.input_tokens < 260


async def test_thinking_that_only_the_total_shows_is_output(connect: Connect) -> None:
    thinking = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 115}
    with ScriptedServer(says("hi", usage=thinking)) as server:
        async with connect(server) as client:
            assert (await client.ask(question())).usage.output_tokens == 105


async def test_the_budget_stops_calls_and_never_cached_answers(connect: Connect) -> None:
    with ScriptedServer(echo) as server:
        async with connect(server, max_tokens=30) as client:
            await client.ask(question("a"))
            await client.ask(question("b"))
            with pytest.raises(BudgetExceeded, match="used 30 of the 30 tokens"):
                await client.ask(question("c"))
            assert (await client.ask(question("a"))).text == "you said a"
        async with connect(server, max_cost=0.00003) as client:
            await client.ask(question("a"))
            await client.ask(question("c"))
            await client.ask(question("d"))
            with pytest.raises(BudgetExceeded, match="US dollars"):
                await client.ask(question("e"))
    assert server.calls == 4


async def test_what_is_under_way_when_the_budget_ends_is_kept(connect: Connect) -> None:
    def script(received: Received) -> Reply:
        return says("slow", delay=0.4) if received.last == "slow" else says("quick")

    async def spend_too_much() -> None:
        async with connect(server, max_tokens=15) as client:
            slow = asyncio.create_task(client.ask(question("slow")))
            await asyncio.sleep(0.1)
            await client.ask(question("quick"))
            slow.cancel()
            await client.ask(question("more"))

    with ScriptedServer(script) as server:
        with pytest.raises(BudgetExceeded):
            await spend_too_much()
        async with connect(server) as client:
            assert (await client.ask(question("slow"))).usage.calls == 0
    assert server.calls == 2


async def test_leaving_early_does_not_wait_for_answers(connect: Connect) -> None:
    clock = time.monotonic()
    with ScriptedServer(hangs()) as server:
        async with connect(server, timeout=2 * PATIENCE) as client:
            asking = asyncio.create_task(client.ask(question()))
            await asyncio.sleep(0.1)
    assert time.monotonic() - clock < PATIENCE
    with pytest.raises(asyncio.CancelledError):
        await asking


async def test_many_calls_run_at_a_time_but_not_too_many(connect: Connect) -> None:
    several = threading.Event()

    def script(received: Received) -> Reply:
        if server.at_a_time == 5:
            several.set()
        return says(received.last, delay=0.02, gate=several)

    with ScriptedServer(script) as server:
        async with connect(server, cached=False, concurrency=8) as client:
            texts = [str(number) for number in range(80)]
            answers = await asyncio.gather(*(client.ask(question(text)) for text in texts))
    assert [answer.text for answer in answers] == texts
    assert 5 <= server.most_at_a_time <= 8


async def test_a_provider_that_bears_little_is_asked_for_little(connect: Connect) -> None:
    busy = {"refused": 0}

    def script(received: Received) -> Reply:
        if server.at_a_time > 3:
            busy["refused"] += 1
            return fails(429, retry_after=0)
        return says("ok", delay=0.02)

    with ScriptedServer(script) as server:
        async with connect(server, cached=False, concurrency=16) as client:
            answers = await asyncio.gather(*(client.ask(question(str(n))) for n in range(60)))
    assert [answer.text for answer in answers] == ["ok"] * 60
    assert server.most_at_a_time <= 6
    assert busy["refused"] > 0


async def test_text_with_lone_surrogates_is_sent(connect: Connect) -> None:
    with ScriptedServer(echo) as server:
        async with connect(server) as client:
            assert (await client.ask(question("ü\ud800"))).text == "you said ü?"


async def test_no_key_is_kept_whatever_a_provider_says(connect: Connect, tmp_path: Path) -> None:
    with ScriptedServer(says("your key is CANARY-KEY")) as server:
        async with connect(server, key="CANARY-KEY") as client:
            answer = await client.ask(question())
    assert answer.text == "your key is [key]"
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert files
    assert all(b"CANARY" not in path.read_bytes() for path in files)
    assert all(path.stat().st_mode & 0o077 == 0 for path in files)


@pytest.mark.parametrize("key", ["CANARY-KEY", 'CANARY "KEY"\\/+=&<end'])
@pytest.mark.parametrize("status", [200, 400, 401])
@pytest.mark.parametrize("spelled", [*ENCODERS.values(), _with_numbers], ids=[*ENCODERS, "numbers"])
async def test_no_key_is_kept_however_a_provider_writes_it(
    connect: Connect, tmp_path: Path, spelled: Callable[[str], str], status: int, key: str
) -> None:
    told = f"your key is {spelled(key)}"
    with ScriptedServer(says(told) if status == 200 else fails(status, told)) as server:
        async with connect(server, key=key) as client:
            try:
                said = (await client.ask(question())).text
            except AssayError as error:
                said = str(error)
    assert "your key is [key]" in said
    assert "CANARY" not in said
    for path in tmp_path.rglob("*"):
        assert path.is_dir() or b"CANARY" not in path.read_bytes()


async def test_a_budget_may_be_shared(connect: Connect) -> None:
    budget = Budget(max_tokens=10, spent=Usage(input_tokens=10))
    with ScriptedServer(echo) as server:
        async with connect(server, budget=budget) as client:
            with pytest.raises(BudgetExceeded):
                await client.ask(question())
    assert server.calls == 0
