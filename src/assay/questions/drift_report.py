"""Drift as records, one per question, and as the matrix of questions by releases."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from packaging.version import InvalidVersion, Version

from assay.model import (
    AttributeResult,
    CaseRecord,
    GroupType,
    Outcome,
    VerifierReport,
    compute_fingerprint,
)
from assay.questions.model import FixQuestion, Question
from assay.questions.proofs.store import StoredProof
from assay.questions.target_drift import Flip, Releases, Standing, Trace
from assay.questions.verification import Work, fingerprint
from assay.reports import (
    Block,
    Cell,
    Facts,
    Matrix,
    MatrixCell,
    MatrixRow,
    Panel,
    Paragraph,
    Table,
    Tone,
    count,
)
from assay.runs import Run

SUBJECT = "drift"
DETAIL_VERSION = 1
_WORDS = {
    Outcome.PASSED: "Unchanged",
    Outcome.FAILED: "Flipped",
    Outcome.UNVERIFIED: "Unproven",
    Outcome.ERROR: "Error",
}
_STYLES = {"Valid": "passed", "Unproven": "unverified", "Gone": "unverified"}


def drift_fingerprint(work: Work, package: str, proofs: list[StoredProof]) -> str:
    """Return the fingerprint of a question with its proofs: what was seen with others is void."""
    sources = [one.proof.source for one in proofs if one.is_current]
    return compute_fingerprint(fingerprint(work), package, str(work.target), sources)


def drift_record(work: Work, releases: Releases, found: Trace, mark: str) -> CaseRecord:
    """Return the record of a question: failed if it flipped, an error if a release is missing.

    A release that cannot be installed, or gives no stable result, is never a flip. Where only the
    ends of a range were asked for, one that was passed over is no error.
    """
    outcome, code, reason = _judge(releases, found)
    report = VerifierReport(
        id=work.identifier,
        group=work.entry.file.stem,
        type=GroupType.FUNCTIONALITY,
        duration=0.0,
        results=_attributes(releases.package, found),
        case={"question": _text(work), "place": str(work.entry.place())},
    )
    return CaseRecord(
        id=work.identifier,
        subject=SUBJECT,
        outcome=outcome,
        reason=reason,
        code=code,
        reports=[report],
        detail={"verdict": _WORDS[outcome], **_detail(work, releases.package, found)},
        fingerprint=mark,
    )


def _judge(releases: Releases, found: Trace) -> tuple[Outcome, str, str]:
    package, flips, lost = releases.package, found.flips, _describe_lost(releases.package, found)
    missing = [one for one in releases.required if one in found.missing]
    if flips:
        code = f"flipped-{'-'.join(flip.after for flip in flips)}"
        return Outcome.FAILED, code, "\n".join([*(_tell(package, one) for one in flips), *lost])
    if missing or len(found.seen) < 2:
        return Outcome.ERROR, "missing-release", "\n".join(lost)
    if not any(one.is_decided for one in found.seen.values()):
        why = next(iter(found.seen.values())).reason
        return Outcome.UNVERIFIED, "undecided", f"nothing is decided on any release: {why}"
    verdict = next(iter(found.seen.values())).verdict
    said = [f"{verdict} on {count(len(found.seen), 'release')}"]
    if found.assumed:
        said.append(f"not looked at: {count(found.assumed, 'release')} between equal ends")
    return Outcome.PASSED, "unchanged", "\n".join(["; ".join(said), *lost])


def _tell(package: str, flip: Flip) -> str:
    changes = "; ".join(flip.list_changes())
    return f"changed in {package} {flip.after} (last before: {flip.before}): {changes}"


def _describe_lost(package: str, found: Trace) -> list[str]:
    return [f"{package} {version} {why}" for version, why in found.missing.items()]


def _attributes(package: str, found: Trace) -> dict[str, AttributeResult]:
    """Return one attribute per release: each is expected to be as the one before it."""
    results: dict[str, AttributeResult] = {}
    before: Standing | None = None
    for version in found.versions:
        standing = found.seen[version]
        expected = before or standing
        is_same: bool | None = standing == expected
        if is_same and not standing.is_decided:
            is_same = None
        name = f"{package} {version}"
        results[name] = AttributeResult(
            attribute=name,
            actual=f"{standing.describe()}: {standing.reason}",
            expected=expected.describe(),
            is_correct=is_same,
        )
        before = standing
    return results


def _text(work: Work) -> str:
    question = work.entry.question
    return question.description if isinstance(question, FixQuestion) else question.text


def _detail(work: Work, package: str, found: Trace) -> dict[str, Any]:
    question, key = work.entry.question, work.entry.key
    return {
        "version": DETAIL_VERSION,
        "place": str(work.entry.place()),
        "question": _text(work),
        "options": dict(question.options) if isinstance(question, Question) else {},
        "key": None if key is None else key.answer,
        "package": package,
        "releases": {version: found.seen[version].values() for version in found.versions},
        "flips": [
            {"before": one.before, "after": one.after, "changed": one.list_changes()}
            for one in found.flips
        ],
        "not_looked_at": found.assumed,
        "missing": dict(found.missing),
    }


# --- A case ---------------------------------------------------------------------------------------


def describe_case(run: Run, record: CaseRecord) -> Iterator[Block]:
    """Yield a question with its standing on every release, in order."""
    detail: Any = record.detail
    yield Facts([("package", str(detail["package"])), ("place", str(detail["place"]))])
    yield Panel("", [Paragraph(str(detail["question"]))])
    if options := detail["options"]:
        key = detail["key"]
        rows = [[one, str(text), "key" if one == key else ""] for one, text in options.items()]
        yield Table(("option", "text", ""), rows, has_labels=True)
    after = {flip["after"] for flip in detail["flips"]}
    names = list(dict.fromkeys(n for one in detail["releases"].values() for n in one["options"]))
    releases = [
        [
            version,
            Cell(found["verdict"], _tone_of(found["verdict"]), version in after),
            *(str(found["options"].get(name, "")).lower() for name in names),
            str(found["reason"]),
        ]
        for version, found in detail["releases"].items()
    ]
    yield Table(("release", "verdict", *names, "why"), releases, has_labels=True)
    for flip in detail["flips"]:
        changes = [Paragraph(str(one)) for one in flip["changed"]]
        yield Panel(f"Changed in {flip['after']}, last before: {flip['before']}", changes, "failed")
    for version, why in detail["missing"].items():
        yield Paragraph(f"{version} {why}", "error")
    if detail["not_looked_at"]:
        number = count(detail["not_looked_at"], "release")
        yield Paragraph(f"{number} between equal ends: not looked at.", "quiet")


def _tone_of(verdict: str) -> Tone:
    tones: dict[str, Tone] = {"Valid": "passed", "Unproven": "unverified", "Gone": "unverified"}
    return tones.get(verdict, "failed")


# --- The matrix ----------------------------------------------------------------------------------


def matrix_of(run: Run) -> Matrix:
    """Return the questions of a run by the releases that were looked at."""
    package = str(run.manifest.asked.get("package", ""))
    seen: set[str] = set()
    lost: dict[str, str] = {}
    flipped, assumed = 0, 0
    for detail in _details(run):
        seen |= detail["releases"].keys()
        lost |= detail["missing"]
        flipped += bool(detail["flips"])
        assumed = max(assumed, detail["not_looked_at"])
    versions = tuple(sorted(seen | lost.keys(), key=_order))
    notes = [f"{package} {version} {why}" for version, why in lost.items()]
    if assumed:
        notes.append(
            f"{NOT_SEEN} not looked at: up to {count(assumed, 'release')} between equal ends, "
            "which are assumed to agree"
        )
    total = sum(run.counts().values())
    return Matrix(
        title=f"Questions by releases of {package}",
        corner=package,
        columns=versions,
        rows=lambda: _rows(run, versions),
        summary=f"{flipped:,} of {count(total, 'question')} changed on "
        f"{count(len(versions), 'release')}",
        notes=tuple(notes),
    )


NOT_SEEN = "–"


def _order(version: str) -> Version:
    try:
        return Version(version)
    except InvalidVersion:
        # A run folder may be somebody else's.
        return Version("0")


def _details(run: Run) -> Iterator[dict[str, Any]]:
    packed = (run.read_packed(row) for row in run.rows())
    return (one["detail"] for one in packed if one["detail"])


def _rows(run: Run, versions: tuple[str, ...]) -> Iterator[MatrixRow]:
    for row in run.rows():
        detail = run.read_packed(row)["detail"]
        if not detail:
            yield MatrixRow(row.id, tuple(MatrixCell("error", "error") for _ in versions))
            continue
        after = {flip["after"] for flip in detail["flips"]}
        cells = tuple(_cell(detail, version, version in after) for version in versions)
        yield MatrixRow(row.id, cells)


def _cell(detail: dict[str, Any], version: str, is_changed: bool) -> MatrixCell:
    if version in detail["missing"]:
        return MatrixCell("no result", "error")
    if version not in detail["releases"]:
        return MatrixCell(NOT_SEEN, "dim")
    verdict = detail["releases"][version]["verdict"]
    return MatrixCell(verdict, _STYLES.get(verdict, "failed"), is_changed)
