"""The JUnit report for CI systems: one test case per case of the run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from assay.escaping import escape_hidden
from assay.model import Outcome
from assay.reports.evidence import EvidenceLimits, Paint, evidence_lines, gather
from assay.reports.summary import describe_retries, describe_samples, summarize
from assay.reports.text import one_line, shorten
from assay.runs import Row, Run

_LIMITS = EvidenceLimits(samples=10)
_PLAIN = Paint()


def render(run: Run) -> Iterator[str]:
    """Yield the document piece by piece; the counts come first and are taken from the index."""
    statuses: Counter[str | None] = Counter()
    duration = 0.0
    for row in run.rows():
        statuses[_status(run, row)] += 1
        duration += row.duration
    counts = {
        "tests": str(statuses.total()),
        "failures": str(statuses["failure"]),
        "errors": str(statuses["error"]),
        "time": _seconds(duration),
    }
    yield '<?xml version="1.0" encoding="UTF-8"?>\n'
    yield f"<testsuites{_attributes({'name': one_line(run.name), **counts})}>\n"
    suite = {**_suite(run), **counts, "skipped": str(statuses["skipped"])}
    yield f"<testsuite{_attributes(suite)}>\n"
    yield _properties(run)
    for row in run.rows():
        yield _test_case(run, row)
    yield "</testsuite>\n</testsuites>\n"


def _status(run: Run, row: Row) -> str | None:
    """Return the element that a test case carries; None for one that passed."""
    if row.outcome is Outcome.PASSED:
        return None
    if run.is_known(row):
        return "skipped"
    if row.outcome is Outcome.ERROR:
        return "error"
    return "failure" if run.fails(row.outcome) else "skipped"


def _suite(run: Run) -> dict[str, str]:
    # The format knows no time zone and takes the time as local; UTC without a mark is usual.
    started = run.manifest.started.replace(tzinfo=None, microsecond=0)
    return {
        "name": one_line(run.manifest.title or run.manifest.subject),
        "timestamp": started.isoformat(),
    }


def _properties(run: Run) -> str:
    finished = "true" if run.manifest.finished is not None else "false"
    properties = {"assay.run": one_line(run.name), "assay.finished": finished}
    properties |= _describe_rate(run)
    properties |= {f"version.{name}": one_line(v) for name, v in run.manifest.versions.items()}
    lines = [
        f"<property{_attributes({'name': one_line(name), 'value': value})}/>\n"
        for name, value in properties.items()
    ]
    return f"<properties>\n{''.join(lines)}</properties>\n"


def _describe_rate(run: Run) -> dict[str, str]:
    summary = summarize(run)
    if not summary.total:
        return {}
    low, high = summary.share.interval
    found = {
        "assay.pass_rate": f"{summary.pass_rate:.6f}",
        "assay.pass_rate.low": f"{low:.6f}",
        "assay.pass_rate.high": f"{high:.6f}",
    }
    if summary.has_samples:
        found["assay.samples"] = f"{summary.samples.taken}"
        found["assay.samples.passed"] = f"{summary.samples.passed}"
    for name, number in (
        ("assay.repeated_requests", summary.samples.repeated),
        ("assay.tried_again", summary.tried_again),
    ):
        if number:
            found[name] = f"{number}"
    if summary.duration is not None:
        found["assay.seconds"] = _seconds(summary.duration)
    return found


def _test_case(run: Run, row: Row) -> str:
    packed = run.read_packed(row)
    groups = [one_line(report["group"]) for report in packed["reports"][:1]]
    head = _attributes(
        {
            "name": one_line(row.id),
            "classname": ".".join([one_line(packed["subject"]), *groups]),
            "time": _seconds(row.duration),
        }
    )
    status = _status(run, row)
    body = (_body(run, row, status) if status else "") + _render_output(packed, row, status)
    return f"<testcase{head}>{body}</testcase>\n" if body else f"<testcase{head}/>\n"


def _render_output(packed: dict[str, Any], row: Row, status: str | None) -> str:
    """Return the rate of several samples, and what was tried again; nothing for most cases."""
    lines = []
    if row.samples.taken > 1:
        # Why it passed although some may have failed; otherwise the reason is said already.
        lines = [] if status else [shorten(packed["reason"])]
        lines.append(describe_samples(row.samples))
    lines.append(describe_retries(row))
    text = "\n".join(filter(None, lines))
    return f"<system-out>{escape(escape_hidden(text))}</system-out>" if text else ""


def _body(run: Run, row: Row, status: str) -> str:
    evidence = gather(run.read(row), is_known=run.is_known(row), limits=_LIMITS)
    message = one_line(evidence.reason) or evidence.outcome.value
    if evidence.is_known:
        message = f"accepted by the baseline: {message}"
    head = {"message": message}
    if status != "skipped":
        head["type"] = evidence.code or evidence.outcome.value
    text = escape("\n".join(evidence_lines(evidence, _PLAIN)))
    return f"<{status}{_attributes(head)}>{text}</{status}>"


def _attributes(pairs: dict[str, str]) -> str:
    return "".join(f" {name}={quoteattr(value)}" for name, value in pairs.items())


def _seconds(duration: float) -> str:
    return f"{duration:.6f}"
