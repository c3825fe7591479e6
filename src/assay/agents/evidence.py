"""The evidence of an agent's test as blocks: its samples, its rate, and every conversation."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from assay.agents.sampling.tally import compute_pass_chance, describe_false_pass_rate
from assay.errors import InputError
from assay.model import AttributeResult, CaseRecord, Outcome, Ratio, VerifierReport
from assay.reports import (
    Badge,
    Block,
    Cell,
    Code,
    Facts,
    Figure,
    Fold,
    Panel,
    Paragraph,
    Sides,
    Table,
    Tone,
    Turn,
    count,
    describe_comparison,
    describe_report,
    describe_value,
    draw_curve,
    draw_interval,
    draw_strip,
    seconds,
)
from assay.runs import Run

_STEPS_OF_CURVE = 50
_GIST = "gist"


def describe_case(run: Run, record: CaseRecord) -> Iterator[Block]:
    """Yield what the samples of a test add up to, and then every sample with its conversation."""
    detail: Any = record.detail
    if not isinstance(detail, dict) or "ratio" not in detail:
        # An invalid file: the reason above lists its problems.
        return
    yield Facts(list(_list_facts(detail)))
    outcomes = [report.outcome for report in record.reports]
    yield Sides(list(_draw(detail, outcomes)))
    conversations = dict(run.conversations(run.row(record.id)))
    if not conversations and record.reports:
        yield Paragraph("No conversation of this test was kept.", "quiet")
    first_bad = next((n for n, one in enumerate(outcomes) if one is not Outcome.PASSED), None)
    for place, report in enumerate(record.reports):
        number = _number_of(report, place)
        yield _describe_sample(
            report,
            number,
            len(record.reports),
            conversations.get(number),
            is_open=place == first_bad or len(record.reports) == 1,
        )


def describe_run(run: Run) -> Iterator[Block]:
    """Yield the tests of a run with their samples and rates, if there are several."""
    if sum(run.counts().values()) < 2:
        return
    yield Table(
        ("test", "samples passed", "needed", "rate and 95% interval"),
        (_overview_row(packed) for _, packed in run.all_packed()),
        has_labels=True,
    )


def _overview_row(packed: Mapping[str, Any]) -> list[Cell | str]:
    detail, outcome = packed["detail"], packed["outcome"]
    if not isinstance(detail, dict) or "ratio" not in detail:
        return [packed["id"], Cell(packed["reason"].partition("\n")[0], outcome), "", ""]
    outcomes = [report["outcome"] for report in packed["reports"]]
    passed = f"{outcomes.count('passed')} of {count(len(outcomes), 'sample')}"
    numbers = detail.get("statistics") or {}
    rate = Cell("no rate: sampling stopped early" if detail["decided early"] else "", "quiet")
    if numbers.get("interval"):
        low, high = numbers["interval"]
        said = f"{numbers['rate']:.0%} ({low:.0%} to {high:.0%})"
        ratio = _read_ratio(detail)
        needed = ratio.needed / ratio.samples
        title = f"{said}, needed {ratio}"
        rate = Cell(said, chart=draw_interval(
            numbers["rate"], low, high, title=title, reference=needed, labels=None
        ))  # fmt: skip
    return [packed["id"], Cell(passed, outcome), str(detail["ratio"]), rate]


def _list_facts(detail: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    yield "agent", str(detail["agent"])
    yield "connection", str(detail["connection"])
    yield "needed", f"{detail['ratio']} samples"
    if repeated := detail.get("repeated requests"):
        yield "requests", f"{detail['requests']}, of which {repeated} failed and were repeated"


def _number_of(report: VerifierReport, place: int) -> int:
    number = report.case.get("sample")
    return number if isinstance(number, int) else place + 1


def _draw(
    detail: Mapping[str, Any], outcomes: Sequence[Outcome]
) -> Iterator[tuple[str, list[Block]]]:
    """Yield the samples with their rate if all were taken, and what the ratio lets through."""
    told = _count_outcomes(outcomes)
    early = " Sampling stopped when the verdict was certain." if detail["decided early"] else ""
    strip = draw_strip([one.value for one in outcomes], title=f"Samples in order: {told}")
    samples: list[Block] = [Figure(strip, f"{told}.{early}")]
    ratio = _read_ratio(detail)
    numbers = detail.get("statistics") or {}
    interval = numbers.get("interval") if ratio.samples > 1 else None
    if interval:
        samples.append(_draw_rate(numbers, ratio))
    yield "samples", samples
    if ratio.samples > 1:
        yield "what the ratio lets through", [_draw_operation(ratio, interval)]


def _read_ratio(detail: Mapping[str, Any]) -> Ratio:
    """Return the ratio of a record, which anybody may have written."""
    try:
        return Ratio.parse(str(detail["ratio"]))
    except InputError as error:
        raise ValueError(str(error)) from None


def _count_outcomes(outcomes: Sequence[Outcome]) -> str:
    words = [
        f"{sum(one is outcome for one in outcomes)} {outcome.value}"
        for outcome in (Outcome.FAILED, Outcome.UNVERIFIED, Outcome.ERROR)
        if outcome in outcomes
    ]
    passed = sum(one is Outcome.PASSED for one in outcomes)
    return ", ".join([f"{passed} of {count(len(outcomes), 'sample')} passed", *words])


def _draw_rate(numbers: Mapping[str, Any], ratio: Ratio) -> Figure:
    rate, (low, high) = numbers["rate"], numbers["interval"]
    judged = numbers["passes"] + numbers["failures"]
    text = f"{numbers['passes']} of {count(judged, 'judged sample')}: {rate:.0%}"
    chart = draw_interval(
        rate,
        low,
        high,
        title=f"Rate {rate:.0%}, 95% interval {low:.0%} to {high:.0%}, needed {ratio}",
        reference=ratio.needed / ratio.samples,
        reference_label=f"needed {ratio}",
    )
    return Figure(chart, f"{text}; 95% interval {low:.0%} to {high:.0%}.")


def _draw_operation(ratio: Ratio, interval: Sequence[float] | None) -> Figure:
    """Return how likely an agent passes by the share of answers that it gets right."""
    rates = [step / _STEPS_OF_CURVE for step in range(_STEPS_OF_CURVE + 1)]
    needed = ratio.needed / ratio.samples
    chance = compute_pass_chance(ratio, needed)
    chart = draw_curve(
        [(rate, compute_pass_chance(ratio, rate)) for rate in rates],
        title=f"Operating characteristic of the ratio {ratio}",
        description=f"{describe_false_pass_rate(ratio)}; one that is right {needed:.0%} of the "
        f"time passes {chance:.0%} of the time.",
        x_label="share of answers that are right",
        y_label="chance to pass",
        point=(needed, chance),
        point_label=f"{ratio}: {chance:.0%}",
        band=None if interval is None else (interval[0], interval[1]),
    )
    more = " The band is the interval of the rate." if interval is not None else ""
    return Figure(chart, f"{describe_false_pass_rate(ratio)}.{more}")


# --- A sample -------------------------------------------------------------------------------------


def _describe_sample(
    report: VerifierReport,
    number: int,
    total: int,
    conversation: dict[str, Any] | None,
    *,
    is_open: bool,
) -> Fold:
    wrong = [one.attribute for one in report.results.values() if one.is_correct is False]
    undecided = [one.attribute for one in report.results.values() if one.is_undecided]
    said = f"failed: {', '.join(wrong)}" if wrong else ""
    if undecided and not wrong:
        said = f"undecided: {', '.join(undecided)}"
    if report.error:
        said = report.error.partition("\n")[0]
    if conversation is None:
        blocks = describe_report(report)
    else:
        blocks = describe_conversation(conversation, report)
    repeated = report.case.get("repeated")
    again = f"{repeated} repeated after an outage" if isinstance(repeated, int) and repeated else ""
    return Fold(
        f"Sample {number}" if total > 1 else "The conversation",
        blocks,
        report.outcome.value,
        [Badge(report.outcome.value, report.outcome.value)],
        note=" · ".join(filter(None, [seconds(max(report.duration, 0.0)), again, said])),
        is_open=is_open,
    )


def describe_conversation(value: Mapping[str, Any], report: VerifierReport) -> Iterator[Block]:
    """Yield a conversation turn by turn, each with the checks that looked at its answer."""
    *before, last = value["attempts"]
    for number, attempt in enumerate(before, 1):
        yield Fold(
            f"Attempt {number} of {len(before) + 1}",
            _describe_attempt(attempt, {}, ""),
            "error",
            [Badge(str(attempt["ending"]), "error")],
            note=str(attempt["reason"]).partition("\n")[0],
        )
    yield from _describe_attempt(last, report.results, str(value.get("judge") or ""))
    known = {name for turn in last["turns"] for name in turn["checks"]}
    # The answer that is missing has a result, and no turn that it was given in.
    for name, result in report.results.items():
        if name not in known:
            yield _describe_check(name, result, None, "")


def _describe_attempt(
    attempt: Mapping[str, Any], results: Mapping[str, AttributeResult], judge: str
) -> Iterator[Block]:
    for turn in attempt["turns"]:
        yield _describe_message(turn)
        for origin, text in turn["steps"]:
            yield Turn(f"{origin or 'another agent'}, on the way", "other",
                       [Paragraph(text, is_verbatim=True)])  # fmt: skip
        if turn["answer"] is not None:
            yield _describe_answer(turn, results, judge)
    if attempt["reason"]:
        tone: Tone = "error" if attempt["ending"] == "outage" else "failed"
        yield Turn("no answer", "agent", [Paragraph(str(attempt["reason"]), tone)],
                   note=seconds(attempt["seconds"]))  # fmt: skip


def _describe_message(turn: Mapping[str, Any]) -> Turn:
    sent = turn["sent"]
    blocks: list[Block] = []
    if sent["text"] is not None:
        blocks.append(Paragraph(sent["text"], is_verbatim=True))
    if sent["sly_data"] is not None:
        blocks.append(Fold("private data", [describe_value(sent["sly_data"])]))
    restarts = turn["is_new"] and turn["interaction"] > 1
    return Turn(
        "user",
        "user",
        blocks or [Paragraph("(no text)", "quiet")],
        note="a new conversation" if restarts else "",
    )


def _describe_answer(
    turn: Mapping[str, Any], results: Mapping[str, AttributeResult], judge: str
) -> Turn:
    answer = turn["answer"]
    blocks: list[Block] = []
    if answer["text"] is not None:
        blocks.append(Paragraph(answer["text"], is_verbatim=True))
    if answer["structure"] is not None and not _is_same(answer["structure"], answer["text"]):
        blocks.append(Code(_write(answer["structure"]), "json", "structure"))
    if answer["sly_data"] is not None:
        blocks.append(Fold("private data", [describe_value(answer["sly_data"])]))
    judged = {one["check"]: one for one in turn["judged"]}
    checks = [
        _describe_check(name, results[name], judged.get(name), judge)
        for name in turn["checks"]
        if name in results
    ]
    return Turn(
        turn["origin"] or "agent",
        "agent",
        blocks or [Paragraph("(nothing)", "quiet")],
        checks,
        note=" · ".join(_list_measures(turn)),
    )


def _is_same(structure: Any, text: str | None) -> bool:
    """Return whether the structure is the text itself, read as JSON."""
    try:
        return bool(json.loads(text or "") == structure)
    except (ValueError, RecursionError):
        return False


def _write(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)


def _list_measures(turn: Mapping[str, Any]) -> Iterator[str]:
    yield seconds(turn["seconds"])
    if turn["first_byte"] is not None:
        yield f"first byte after {seconds(turn['first_byte'])}"
    tokens = turn["tokens"]
    if tokens:
        yield f"{tokens.get('input', 0):,} tokens in, {tokens.get('output', 0):,} out"


def _describe_check(
    name: str, result: AttributeResult, ruling: Mapping[str, Any] | None, judge: str
) -> Panel:
    tone: Tone = "unverified"
    if result.is_correct is not None:
        tone = "passed" if result.is_correct else "failed"
    word = {"passed": "passed", "failed": "failed"}.get(tone, "undecided")
    # The number of the interaction is where it stands.
    _, _, test = name.partition(".")
    blocks: list[Block] = []
    if ruling is not None:
        blocks += _describe_ruling(ruling, judge)
    elif _GIST in test:
        blocks.append(Paragraph(str(result.expected)))
    if result.is_correct is not True:
        blocks += _describe_failure(result, is_judged=ruling is not None or _GIST in test)
    is_plain = result.is_correct is True and ruling is None and _GIST not in test
    note = _write_short(result.expected) if is_plain and result.expected is not None else ""
    return Panel(test or name, blocks, tone, [Badge(word, tone)], note=note)


def _write_short(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=repr)


def _describe_failure(result: AttributeResult, *, is_judged: bool) -> Iterator[Block]:
    if is_judged or isinstance(result.actual, str):
        # What it looked at stands beside it.
        if not is_judged and result.expected is not None:
            yield Code(_write_short(result.expected), caption="expected")
        if result.diff:
            yield Paragraph(str(result.diff), is_verbatim=True)
    else:
        yield from describe_comparison(result.expected, result.actual, result.diff)


def _describe_ruling(ruling: Mapping[str, Any], judge: str) -> Iterator[Block]:
    """Yield what the judge was asked, and its votes with their reasons."""
    yield Paragraph(f"{judge or 'The judge'} was asked whether this holds: {ruling['criterion']}")
    yield Table(
        ("vote", "reason"),
        [("holds" if vote["holds"] else "does not hold", vote["reason"])
         for vote in ruling["votes"]],
    )  # fmt: skip
