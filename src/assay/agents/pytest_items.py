"""pytest items for agent test files: one per file and connection."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Generator, Iterable, Iterator
from pathlib import Path
from typing import Any, NoReturn, cast

import pytest

from assay.agents.plan import AgentsOptions, Test, plan_tests, read_options
from assay.agents.pytest_plugin import OPTION_NAMES
from assay.agents.sampling.worker import AgentsWorker
from assay.agents.show import conversation_lines
from assay.agents.testfile import read_file
from assay.agents.testfile.source import is_hocon
from assay.config import load_config
from assay.errors import AssayError, BudgetExceeded, InputError
from assay.model import WRONG_INPUT, AttributeResult, CaseRecord, Outcome, Ratio
from assay.models import Budget, ModelClient, ResponseCache, resolve
from assay.reports import Paint, one_line
from assay.runs import CONVERSATION, Unit

_NOTES = "assay_skipped"
_WRONG = ("assay", WRONG_INPUT)
"""The property of a report that says: the error is a mistake of the file."""
# Advice names options of the command line; here they have other names.
_OPTION = re.compile(rf"(?<![\w-])--(?=(?:{'|'.join(OPTION_NAMES)})\b(?!-))")
_OPTIONS = tuple(name.replace("-", "_") for name in OPTION_NAMES)
_SHOWN_SAMPLES = 3


class AgentTestFailed(AssertionError):  # noqa: N818 - it says what is the case
    """The agent did not pass often enough; the message lists every failed check."""


class AgentTestError(Exception):
    """No result: the agent or its judge could not be reached."""


class AgentCollection:
    """The part of the plugin that is loaded only on request."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._skipped: list[str] = []
        self._is_input_wrong = False
        try:
            self.runner = SessionRunner(config)
        except InputError as error:
            raise pytest.UsageError(_rename_options(error)) from None

    def pytest_collect_file(
        self, file_path: Path, parent: pytest.Collector
    ) -> pytest.Collector | None:
        if not is_hocon(file_path):
            return None
        file = AgentFileCollector.from_parent(parent, path=file_path)
        file.take_runner(self.runner, self._skipped)
        return file

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        # For a setup error pytest would show the lines of this file.
        if isinstance(item, (AgentItem, WrongFileItem)) and item.error and report.failed:
            report.longrepr = item.error
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed and _WRONG in map(tuple, report.user_properties):
            self._is_input_wrong = True

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if self._is_input_wrong and session.exitstatus == pytest.ExitCode.TESTS_FAILED:
            # As for a collection error: not everything requested was tested.
            session.exitstatus = pytest.ExitCode.INTERRUPTED
        # An xdist worker collects, but only its controller can report.
        if hasattr(session.config, "workeroutput"):
            session.config.workeroutput[_NOTES] = self._skipped

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any, error: object) -> None:
        self._skipped += getattr(node, "workeroutput", {}).get(_NOTES, [])

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        for path in sorted(set(self._skipped)):
            terminalreporter.write_line(f"{path}: has no `interactions`, skipped")


class SessionRunner:
    """State shared by all items of a session: connections, judge and budget."""

    def __init__(self, config: pytest.Config) -> None:
        given = {name: config.getoption(f"assay_{name}") for name in _OPTIONS}
        jobs, retries = given["jobs"], given["retries"]
        if jobs is not None and jobs < 1:
            raise InputError(f"--assay-jobs must be at least 1, not {jobs}")
        if retries is not None and retries < 0:
            raise InputError(f"--assay-retries must be at least 0, not {retries}")
        given["check_certificate"] = not given.pop("no_verify")
        given["allow_agents"] = given.pop("allow_agent")
        for name in ("strict", "trust"):
            given[name] = bool(given[name])
        given["transcripts"] = given["transcripts"] or "failed"
        self.reach, self.sampling, choice, self.trust = read_options(cast("AgentsOptions", given))
        self._settings = resolve(choice, load_config().models)
        if self._settings is not None:
            self._budget = Budget(self._settings.max_cost, self._settings.max_tokens)
        # Mistakes in the settings end the session before anything is collected.
        if self.sampling.ratio:
            Ratio.parse(self.sampling.ratio)
        AgentsWorker(self.reach, self.sampling, self._make_client())

    def _make_client(self) -> ModelClient | None:
        if self._settings is None:
            return None
        settings = self._settings.of_role("judge")
        return ModelClient(settings, cache=ResponseCache(), budget=self._budget)

    def make_record(self, test: Test) -> tuple[CaseRecord, dict[int, dict[str, Any]]]:
        """Take the samples of one test; return its record, and conversations by sample."""
        parts = ItemParts()

        async def run() -> CaseRecord:
            worker = AgentsWorker(self.reach, self.sampling, self._make_client(), trust=self.trust)
            async with worker:
                return await worker.run(Unit(test.identifier, 0, "", test), parts)

        return asyncio.run(run()), parts.conversations


class ItemParts:
    """The conversations of one item; nothing is kept on disk, as a session is not resumed."""

    def __init__(self) -> None:
        self.conversations: dict[int, dict[str, Any]] = {}

    def get(self, key: str) -> None:
        return None

    def keep(self, key: str, value: Any) -> None:
        if key.startswith(CONVERSATION):
            self.conversations[int(key.removeprefix(CONVERSATION))] = value


class AgentFileCollector(pytest.File):
    """A HOCON file, which may be a test."""

    def take_runner(self, runner: SessionRunner, skipped: list[str]) -> None:
        self._runner, self._skipped = runner, skipped

    def collect(self) -> Iterable[pytest.Item]:
        found = read_file(self.path)
        if not found.has_interactions:
            self._skipped.append(self.nodeid)
            return
        try:
            tests = plan_tests([found], self._runner.reach, self._runner.sampling)
        except InputError as error:
            message = _rename_options(error)
            if self._runner.sampling.strict:
                # After a collection error pytest would not run the other tests.
                raise self.CollectError(message) from None
            yield WrongFileItem.from_parent(self, name="lint", error=message)
            return
        for test in tests:
            assert isinstance(test, Test)
            item = AgentItem.from_parent(self, name=test.connection)
            item.take_test(self._runner, test)
            yield item


class WrongFileItem(pytest.Item):
    """An invalid test file; it is reported as an error, and the others run."""

    def __init__(self, *, error: str, **about: Any) -> None:
        super().__init__(**about)
        self.error = error
        self.user_properties.append(_WRONG)

    def setup(self) -> None:
        raise AgentTestError(self.error)

    def runtest(self) -> None: ...

    def reportinfo(self) -> tuple[Path, int | None, str]:
        return self.path, None, self.nodeid


class AgentItem(pytest.Item):
    """A test file on one connection."""

    error = ""
    """Why nothing can be said about the agent."""
    _record: CaseRecord

    def take_test(self, runner: SessionRunner, test: Test) -> None:
        self._runner, self._test = runner, test

    def setup(self) -> None:
        """Run the conversations here: a problem in the setup is an error, not a failure."""
        try:
            self._record, conversations = self._runner.make_record(self._test)
            self._show(conversations)
        except AssayError as error:
            if isinstance(error, BudgetExceeded):
                self.session.shouldstop = str(error)
            if isinstance(error, InputError):
                self.user_properties.append(_WRONG)
            self._refuse(str(error))
        if self._record.code == WRONG_INPUT:
            self.user_properties.append(_WRONG)
        if self._record.outcome is Outcome.ERROR:
            self._refuse(self._record.reason)

    def _show(self, conversations: dict[int, dict[str, Any]]) -> None:
        """Add conversations to what pytest prints of a test that does not pass."""
        several = {report.case["sample"]: report for report in self._record.reports}
        shown = [number for number in sorted(conversations) if number in several]
        for number in shown[:_SHOWN_SAMPLES]:
            lines = conversation_lines(conversations[number], several[number], Paint(False))
            self.add_report_section("setup", f"conversation, sample {number}", "\n".join(lines))

    def _refuse(self, reason: str) -> NoReturn:
        self.error = _rename_options(reason)
        raise AgentTestError(self.error) from None

    def runtest(self) -> None:
        if self._record.outcome is not Outcome.PASSED:
            lines = "\n".join(_list_failures(self._test, self._record))
            raise AgentTestFailed(_rename_options(lines))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], **_: Any) -> Any:  # type: ignore[override]
        if isinstance(excinfo.value, AgentTestFailed):
            return str(excinfo.value)
        return super().repr_failure(excinfo)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        return self.path, None, self.nodeid


def _rename_options(message: str | InputError) -> str:
    """Return a message with the option names of the plugin: --ca-file is --assay-ca-file."""
    return _OPTION.sub("--assay-", str(message))


def _list_failures(test: Test, record: CaseRecord) -> Iterator[str]:
    """Yield the verdict, and the checks that failed in the first few samples that did."""
    yield record.reason
    places = _find_places(test)
    not_passed = [one for one in record.reports if one.outcome is not Outcome.PASSED]
    for report in not_passed[:_SHOWN_SAMPLES]:
        yield f"sample {report.case['sample']}:" + (f" {report.error}" if report.error else "")
        for result in report.results.values():
            if not result.is_correct:
                yield from _describe_check(result, places.get(result.attribute, ""))
    if len(not_passed) > _SHOWN_SAMPLES:
        yield f"and {len(not_passed) - _SHOWN_SAMPLES} more samples that did not pass"


def _find_places(test: Test) -> dict[str, str]:
    return {
        f"{interaction.number}.{check.name}": f"  (line {check.place.line})"
        for interaction in test.file.interactions
        for check in interaction.checks
    }


def _describe_check(result: AttributeResult, place: str) -> Iterator[str]:
    yield f"  {result.attribute}{place}"
    for name, value in (("expected", result.expected), ("actual", result.actual)):
        if value is not None:
            yield f"    {name}: {one_line(str(value))}"
    if result.diff:
        yield f"    {one_line(str(result.diff))}"
