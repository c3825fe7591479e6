"""The evidence of a question as blocks: its text, and each option with its claims and proofs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from assay.model import CaseRecord, Outcome
from assay.questions.authorship import Source
from assay.questions.proofs.claims import Relation
from assay.questions.show import select_code
from assay.reports import (
    Badge,
    Block,
    Cell,
    Code,
    Facts,
    Fold,
    Panel,
    Paragraph,
    Sides,
    Table,
    Tone,
    count,
)
from assay.runs import Run

_OPEN_STATES: Mapping[str, Tone] = {"CONTRADICTED": "error", "UNPROVEN": "unverified"}
_WHOLE = {
    Relation.PREMISE.value: "The question takes this for granted",
    Relation.TWIN.value: "Two options say the same",
}


def describe_case(run: Run, record: CaseRecord) -> Iterator[Block]:
    """Yield a question with what was proven about it."""
    detail: Any = record.detail
    if not isinstance(detail, dict) or "question" not in detail:
        return
    source = Source.of_values(detail)
    yield Facts(list(_list_facts(detail, source)))
    yield Panel("", [Paragraph(str(detail["question"]))])
    if detail.get("snippet"):
        yield Code(detail["snippet"], "python", "the code it is about")
    if advice := detail.get("advice"):
        yield Panel("To settle it", [Paragraph(str(advice), is_verbatim=True)], "unverified")
    shown = _Proofs()
    yield from _describe_options(detail, shown)
    for proof in detail.get("whole", ()):
        title = _WHOLE.get(proof["relation"], "About the question as a whole")
        yield Fold(title, shown.describe(proof, Source()), badges=[_truth(proof)])
    yield from _describe_names(detail, shown)
    yield from _describe_repair(detail)
    yield from _describe_notes(detail)


def describe_run(run: Run) -> Iterator[Block]:
    """Yield how many questions got each verdict, and for which reasons."""
    verdicts: dict[tuple[str, str], Counter[str]] = {}
    for _, packed in run.all_packed():
        if isinstance(detail := packed["detail"], dict):
            key = str(detail["verdict"]), packed["outcome"]
            verdicts.setdefault(key, Counter())[packed["code"]] += 1
    total = sum(counts.total() for counts in verdicts.values())
    ordered = sorted(verdicts.items(), key=lambda one: -one[1].total())
    rows = [_overview_row(verdict, outcome, codes, total) for (verdict, outcome), codes in ordered]
    if len(rows) > 1:
        yield Table(("verdict", "questions", "why"), rows, has_labels=True)


def _overview_row(verdict: str, outcome: str, codes: Counter[str], total: int) -> list[Cell | str]:
    why = ", ".join(f"{code} {number:,}" for code, number in codes.most_common())
    share = f"{codes.total():,} of {total:,}"
    return [verdict, Cell(share, _as_tone(outcome), is_number=True), why]


def _as_tone(outcome: str) -> Tone:
    return Outcome(outcome).value


def _list_facts(detail: Mapping[str, Any], source: Source) -> Iterator[tuple[str, str]]:
    yield "verdict", str(detail["verdict"])
    if any(source):
        yield "settled", str(source)
    if key := detail.get("key"):
        yield "key", str(key)
    yield "place", str(detail["place"])


def _describe_options(detail: Mapping[str, Any], shown: _Proofs) -> Iterator[Block]:
    key, answers = detail.get("key"), detail.get("answers") or ()
    for letter, option in (detail.get("options") or {}).items():
        is_key = letter == key
        tone = _judge_option(option["state"], is_key=is_key)
        badges = [Badge(option["state"].lower(), tone)]
        if is_key:
            badges.insert(0, Badge("key", "accent"))
        yield Fold(
            f"{letter}  {' '.join(str(option['text']).split())}",
            _describe_option(option, shown),
            tone,
            badges,
            note=str(Source.of_values(option)),
            is_open=is_key or letter in answers or option["state"] == "CONTRADICTED",
        )


def _judge_option(state: str, *, is_key: bool) -> Tone:
    """Return the colour of an option: whether it is what the key says of it."""
    if state == "HOLDS":
        return "passed" if is_key else "failed"
    if state == "FAILS":
        return "failed" if is_key else "quiet"
    return _OPEN_STATES.get(state, "")


def _describe_option(option: Mapping[str, Any], shown: _Proofs) -> Iterator[Block]:
    text = str(option["text"])
    if "\n" in text:
        yield Paragraph(text)
    statements = [proof["statement"] for proof in option["proofs"]]
    told = [*statements, *(f"it is not true that {one}" for one in statements)]
    if option["reason"] and option["reason"] not in told:
        yield Paragraph(str(option["reason"]))
    for note in option["notes"]:
        yield Paragraph(f"Note: {note}", "quiet")
    source = Source.of_values(option)
    for proof in option["proofs"]:
        yield from shown.describe(proof, source)
    if not option["proofs"] and not option["reason"]:
        yield Paragraph("Nothing was claimed about it.", "quiet")


class _Proofs:
    """Describes proofs one after the other; a long constant that was shown is not shown again."""

    def __init__(self) -> None:
        self._seen: set[str] = set()

    def describe(self, proof: Mapping[str, Any], source: Source) -> Iterator[Block]:
        """Yield a claim, its proof and what was observed, beside each other."""
        code, helpers = select_code(proof["source"], self._seen)
        own = Source.of_values(proof)
        claim: list[Block] = [Paragraph(str(proof["statement"]))]
        facts = [
            ("truth", str(proof["truth"])),
            ("kind", str(proof["kind"])),
            ("relation", str(proof["relation"])),
        ]
        if any(own) and own != source:
            facts.append(("settled", str(own)))
        claim.append(Facts(facts))
        if proof["truth"] == "open" and proof["reason"]:
            claim.append(Paragraph(str(proof["reason"]), "unverified"))
        observed: list[Block] = [_describe_test(test) for test in proof["tests"]]
        yield Sides(
            [
                ("claim", claim),
                (f"proof: {proof['file']}", [Code(code, "python")]),
                ("observed", observed or [Paragraph("It was not run.", "quiet")]),
            ]
        )
        if helpers:
            title = f"The whole file, with {count(helpers, 'line')} of helpers"
            yield Fold(title, [Code(proof["source"], "python")])


def _truth(proof: Mapping[str, Any]) -> Badge:
    tone: Tone = "unverified" if proof["truth"] == "open" else ""
    return Badge(str(proof["truth"]), tone)


def _describe_test(test: Mapping[str, Any]) -> Panel:
    """Return a test of a proof; which of the two tests of a proof fails is what it observed."""
    blocks: list[Block] = []
    if test["message"]:
        blocks.append(Code(test["message"], "pytb" if "Traceback" in test["message"] else ""))
    if test["output"]:
        blocks.append(Code(test["output"], caption="output"))
    if test["objection"]:
        blocks.append(Paragraph(f"Not evidence: {test['objection']}", "unverified"))
    tone: Tone = "unverified" if test["objection"] else "quiet"
    return Panel(str(test["name"]), blocks, tone, [Badge(str(test["status"]))])


def _describe_names(detail: Mapping[str, Any], shown: _Proofs) -> Iterator[Block]:
    """Yield the names of an accepted answer, and what was proven about each."""
    if accepted := detail.get("accepted"):
        rows = [
            [str(one["answer"]), str(one["state"]),
             ", ".join(f"{name}: {truth}" for name, truth in one["names"].items())]
            for one in accepted
        ]  # fmt: skip
        yield Table(("accepted answer", "state", "names"), rows, has_labels=True)
    for name, found in (detail.get("names") or {}).items():
        proofs = (block for proof in found["proofs"] for block in shown.describe(proof, Source()))
        yield Fold(str(name), proofs, badges=[Badge(str(found["truth"]))])


def _describe_repair(detail: Mapping[str, Any]) -> Iterator[Block]:
    """Yield the tests of a repair question, on the broken program and on the repaired one."""
    sides = [
        (title, [_describe_test(test) for test in detail[name]])
        for name, title in (("unfixed", "tests before the repair"), ("fixed", "and after it"))
        if detail.get(name)
    ]
    if sides:
        yield Sides(sides)


def _describe_notes(detail: Mapping[str, Any]) -> Iterator[Block]:
    for note in detail.get("notes", ()):
        yield Paragraph(f"Note: {note}", "quiet")
    if fix := detail.get("fix"):
        kept = f" ({fix['kept']})" if fix.get("kept") else ""
        tries = [[str(n), one["reason"] or one["verdict"]] for n, one in enumerate(fix["tries"], 1)]
        blocks: list[Block] = [Table(("try", "result"), tries)] if tries else []
        blocks += [Paragraph(str(note), "quiet") for note in fix["notes"]]
        yield Fold(f"Correction: {fix['status']}{kept}", blocks)
