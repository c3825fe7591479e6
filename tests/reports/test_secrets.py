"""No writer makes anything of a secret that the redaction does not recognise afterwards."""

from __future__ import annotations

import io
import json
import tempfile
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pyarrow.parquet
from hypothesis import given, settings

from assay.documents import Place
from assay.findings import Finding, Rule
from assay.findings.sarif import to_sarif
from assay.redaction import redact
from assay.reports import format_names, get_format, render_report
from assay.runs import Run
from tests.reports.conftest import Make
from tests.test_redaction import ANY_SECRET, SPECIAL

NAME = "REDACTED"
EVERYTHING = "canary " + "-".join(SPECIAL) + " end"


def _run_with(make: Make, secret: str) -> Run:
    """A run in which the secret stands wherever text from a case can stand."""
    results = (
        make.result(f"files-{secret}", False, secret, {secret: [secret]}, diff=secret),
        make.result("undecided", None, f"a\n{secret}\nb", secret, diff={secret: secret}),
    )
    wrong = make.report(*results, group=secret, id=secret, case={secret: secret})
    broken = make.report(error=f"raised {secret!r}: {secret}")
    common: dict[str, Any] = {"reason": secret, "code": secret, "detail": {secret: secret}}
    # Ids have a UTF-8 form; whoever reads them sees to that.
    identifier = secret.encode(errors="replace").decode()
    return make.run(
        [
            make.record(f"failed {identifier}", "failed", reports=[wrong, broken], **common),
            make.record(f"error {identifier}", "error", reports=[broken], **common),
            make.record(f"passed {identifier}", reports=[wrong, wrong], **common),
        ]
    )


def _read(name: str, report: str) -> Iterator[str]:
    """All texts of a report as whoever reads the format gets them."""
    yield report
    if name in ("json", "sarif"):
        yield from _texts(json.loads(report))
    elif name == "junit":
        for element in ElementTree.fromstring(report).iter():
            yield from (element.text or "", *element.attrib.values())
    elif name == "html":
        page = _Page()
        page.feed(report)
        yield from page.texts
    elif name == "journal":
        for line in report.splitlines():
            yield from _texts(json.loads(line))


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from _texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner)
    elif isinstance(value, str):
        yield value


class _Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.texts += [value for _, value in attrs if value]


def _written(run: Run, secret: str) -> Iterator[tuple[str, str]]:
    """What every writer makes of the run, as text."""
    for name in format_names():
        if get_format(name).subjects:
            continue
        data = b"".join(render_report(run, name))
        if name == "parquet":
            table = pyarrow.parquet.read_table(io.BytesIO(data)).to_pylist()
            yield (
                name,
                "\n".join(str(text) for row in table for text in row.values() if text is not None),
            )
        else:
            yield name, data.decode()
    yield "journal", (run.path / "journal.jsonl").read_text()
    finding = Finding("r", secret, Place(Path("suite.yaml"), 1), identity=secret)
    rule: Rule[Any] = Rule("r", "error", secret, secret)
    yield "sarif", json.dumps(to_sarif([finding], [rule], root=run.path))


def _leaks(secret: str) -> list[str]:
    """The writers in whose output a reader still finds the secret after its redaction."""
    with tempfile.TemporaryDirectory() as folder:
        make = Make(Path(folder))
        try:
            run = _run_with(make, secret)
            found = []
            for name, report in _written(run, secret):
                redacted = redact(report, {secret: NAME})
                assert NAME in redacted, name
                if any(secret.strip() in text for text in _read(name, redacted)):
                    found.append(name)
            return found
        finally:
            make.close()


def test_no_writer_hides_a_secret_with_every_special_character() -> None:
    assert _leaks(EVERYTHING[:100]) == []
    assert _leaks(f"canary {EVERYTHING[100:]}") == []


@settings(max_examples=settings().max_examples // 2)
@given(secret=ANY_SECRET)
def test_no_writer_hides_a_secret_whatever_its_characters_are(secret: str) -> None:
    assert _leaks(f"canary{secret}end") == []
