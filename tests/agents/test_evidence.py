"""The evidence of an agent's test: charts that are right, and a conversation with its checks."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.agents.sampling.tally import compute_pass_chance
from assay.model import Ratio
from assay.models import ModelClient, ModelSettings, ResponseCache
from assay.reports import render_case, render_evidence, render_overview, render_report
from assay.runs import Run
from tests.agents.running_support import answers, ask, rule, run_file, write
from tests.agents.scripted_server import Request, ScriptedServer, Wire, answer
from tests.models.scripted_server import ScriptedServer as ScriptedModel
from tests.reports.conftest import HOSTILE
from tests.reports.pages import Page


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is tried again is tried again at once."""
    monkeypatch.setattr("assay.agents.sampling.tally.RETRY_DELAYS", (0.0,))


def evidence_of(folder: Path, out: str = "run") -> tuple[str, Page]:
    with Run(folder / out) as run:
        [row] = run.rows()
        html = render_evidence(run, row)
    page = Page(html)
    assert (page.open, page.unbalanced) == ([], [])
    return html, page


def test_samples_rate_and_ratio_are_drawn_with_their_numbers(tmp_path: Path) -> None:
    path = write(tmp_path, success_ratio="3/4")
    with ScriptedServer(answers("right", "wrong", "right")) as server:
        run_file(path, server, takes_all=True)
    _, page = evidence_of(tmp_path)
    titles = page.texts["title"]
    assert "Samples in order: 3 of 4 samples passed, 1 failed" in titles
    assert "Rate 75%, 95% interval 30% to 95%, needed 3/4" in titles
    chance = compute_pass_chance(Ratio(3, 4), 0.75)
    assert f"3/4: {chance:.0%}" in page.texts["text"]
    assert "3 of 4 judged samples: 75%; 95% interval 30% to 95%." in page.texts["figcaption"]
    assert [one["class"] for one in page.all("rect") if "failed" in (one["class"] or "")]
    # The first sample that failed is open.
    folds = [one for one in page.all("details") if "fold" in (one["class"] or "")]
    assert ["open" in one for one in folds] == [False, True, False, False]
    assert "0%" not in page.texts["dd"]


def test_without_all_samples_no_rate_is_drawn(tmp_path: Path) -> None:
    path = write(tmp_path, success_ratio="1/3")
    with ScriptedServer(answers("right")) as server:
        run_file(path, server)
    html, page = evidence_of(tmp_path)
    assert "chart rate" not in html
    assert "chart curve" in html
    assert any("Sampling stopped when the verdict was certain" in one
               for one in page.texts["figcaption"])  # fmt: skip


def test_checks_stand_beside_the_answer_that_they_look_at(tmp_path: Path) -> None:
    path = write(tmp_path, ask("one"), ask("two", {"text": {"gist": "It names Paris."}}))
    with ScriptedServer(answers("right", "Rome")) as server, ScriptedModel(rule) as judge:
        client = ModelClient(
            ModelSettings("scripted", judge.url), cache=ResponseCache(tmp_path / "cache")
        )
        run_file(path, server, client=client)
    html, page = evidence_of(tmp_path)
    turns = html.split('<div class="turn ')[1:]
    assert [turn.partition('"')[0] for turn in turns] == ["user", "agent", "user", "agent"]
    assert "text.keywords" in turns[1]
    assert "text.keywords" not in turns[3]
    assert "scripted was asked whether this holds: It names Paris." in turns[3]
    assert "does not hold" in page.texts["td"]
    assert "&#x27;Paris&#x27; is not there" in turns[3]
    with Run(tmp_path / "run") as run:
        shown = render_case(run, next(run.rows()))
    assert "  user: two\n  agent0 (" in shown
    assert "a vote on 2.text.gist: does not hold: 'Paris' is not there" in shown


def test_attempts_and_missing_answers_are_seen(tmp_path: Path) -> None:
    async def broken(request: Request, wire: Wire) -> None:
        if request.number == 0:
            await wire.status(500, b"disk full")
        elif request.text == "one":
            await answer(wire, "right")
        else:
            await answer(wire, "Agent stopped due to iteration limit or time limit.")

    with ScriptedServer(broken) as server:
        run_file(write(tmp_path, ask("one"), ask("two")), server)
    html, page = evidence_of(tmp_path)
    assert "Attempt 1 of 2" in page.texts["span"]
    assert "1 repeated after an outage" in html
    assert "3, of which 1 failed and were repeated" in page.texts["dd"]
    assert "no answer" in page.texts["b"]
    with Run(tmp_path / "run") as run:
        shown = render_case(run, next(run.rows()))
    assert "attempt 1: " in shown
    assert "no answer: interaction 2 of 2: the agent found no end" in shown


def test_a_run_without_conversations_says_so_and_shows_the_results(tmp_path: Path) -> None:
    with ScriptedServer(answers("wrong")) as server:
        run_file(write(tmp_path), server, transcripts="none")
    _, page = evidence_of(tmp_path)
    assert "No conversation of this test was kept." in page.texts["p"]
    assert any(part.strip() == "1.text.keywords" for part in page.texts["h4"])
    with Run(tmp_path / "run") as run:
        shown = render_case(run, next(run.rows()))
    assert "no conversation of this test was kept" in shown
    assert "failed 1.text.keywords: right" in shown


def test_hostile_text_on_both_sides_is_only_text(tmp_path: Path) -> None:
    async def hostile(request: Request, wire: Wire) -> None:
        await answer(wire, HOSTILE, structure={HOSTILE: HOSTILE}, sly_data={HOSTILE: HOSTILE})

    response = {"text": {"keywords": HOSTILE + "x"}, "structure": {"a": {"value": HOSTILE}}}
    with ScriptedServer(hostile) as server:
        run_file(write(tmp_path, ask(HOSTILE, response)), server)
    html, page = evidence_of(tmp_path)
    names = {name for name, _ in page.elements}
    assert not names & {"script", "img", "style", "a"}
    forbidden = set("\x00\x1b\x07\x9b\u202e\u2066\u2028\ufeff\r")
    assert not set(html) & forbidden
    with Run(tmp_path / "run") as run:
        shown = render_case(run, next(run.rows()))
        reports = "".join(
            b"".join(render_report(run, name)).decode() for name in ("html", "markdown", "junit")
        )
    assert not set(shown) & forbidden
    assert not set(reports) & forbidden


def test_the_overview_lists_every_test_with_its_samples(tmp_path: Path) -> None:
    write(tmp_path, name="one.hocon", success_ratio="2/2")
    write(tmp_path, name="two.hocon", success_ratio="2/2")
    from assay.agents import verify

    with ScriptedServer(answers("right", "wrong", "right")) as server:
        run = verify(
            tmp_path, host="127.0.0.1", port=server.port, all_samples=True, jobs=1, model="none",
            out=tmp_path / "run", max_connections=1, transcripts="failed",
        )  # fmt: skip
    with run:
        page = Page(render_overview(run))
        passed = [part for part in page.texts["td"] if part.endswith("samples")]
        assert sorted(passed) == ["1 of 2 samples", "2 of 2 samples"]
        assert len(page.all("svg")) == 2
        kept = [sorted(dict(run.conversations(row))) for row in run.rows()]
        assert sorted(map(len, kept)) == [0, 1]
