"""The plan of `verify` and `assess`: the test files, connections and sampling settings."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Iterator, Sequence
from contextlib import (
    AbstractAsyncContextManager,
    nullcontext,
    suppress,
)
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypedDict, get_args

from assay.agents.connections import Settings, get_kind
from assay.agents.connections.addresses import check_url, make_address
from assay.agents.connections.python import import_agent
from assay.agents.model import AgentFile
from assay.agents.records import (
    SUBJECT,
    describe_statistics,
)
from assay.agents.sampling.tally import RETRIES
from assay.agents.secrets import find_credentials
from assay.agents.testfile import ReadFile, find_unanswerable, read_files
from assay.agents.testfile.reading import make_error
from assay.agents.trust import Trust, make_trust
from assay.config import Transcripts, load_config
from assay.errors import InputError, nearest
from assay.findings import Finding
from assay.model import Ratio, compute_fingerprint
from assay.models import ModelChoice, ModelClient, ResponseCache, resolve
from assay.runs import Manifest, Progress, Run, Unit

if TYPE_CHECKING:
    from assay.agents.sampling.worker import AgentsWorker

_COMMAND = "command"
PYTHON = "python"
NO_MORE_TRUST: Final = Trust()
"""Agents of a test file's own project, and nothing else."""


@dataclass(frozen=True)
class ConnectionOptions:
    """Connection settings for cases that the files do not define, or that override them."""

    connections: tuple[str, ...] = ()
    host: str | None = None
    port: int | None = None
    url: str | None = None
    command: str | None = None
    ca_file: str | None = None
    verify: bool = True

    def __post_init__(self) -> None:
        # A run stores both, so they are checked before it exists.
        if self.url is not None:
            check_url(self.url)
        if self.host is not None:
            make_address("http", self.host, self.port or 1)
        _refuse_credentials(self.words)

    @property
    def words(self) -> tuple[str, ...]:
        """The program of the connection `command`, and its arguments."""
        try:
            return tuple(shlex.split(self.command or ""))
        except ValueError as error:
            raise InputError(f"--command cannot be read: {error}") from None


@dataclass(frozen=True)
class Sampling:
    """How samples are taken."""

    jobs: int | None = None
    """Samples of one test at a time, None for all: more are faster, fewer stop earlier."""
    max_connections: int = 32
    """Conversations of all tests with one server at a time."""
    ratio: str | None = None
    takes_all: bool = False
    retries: int = RETRIES
    """How often a sample that met an outage is tried again."""
    strict: bool = True
    """Whether a file that cannot be used ends the run; otherwise it is an error of its own."""
    transcripts: Transcripts = "all"
    """Of which samples the conversation is kept."""

    def lanes(self, ratio: Ratio) -> int:
        """Return how many samples of a test with this ratio are taken at a time."""
        return min(self.jobs or ratio.samples, ratio.samples, self.max_connections)


@dataclass(frozen=True)
class Test:
    """A test file on one connection: what is counted."""

    file: AgentFile
    connection: str
    ratio: Ratio

    @property
    def identifier(self) -> str:
        return f"{name_file(self.file.path)}::{self.connection}"


def _refuse_credentials(words: Iterable[str]) -> None:
    """Refuse a command that contains a secret: the run and the process list would expose it."""
    for value, name in find_credentials(os.environ).items():
        if any(value in word for word in words):
            raise InputError(
                f"--command holds the value of {name}",
                advice="let the program read it from its environment",
            )


@dataclass(frozen=True)
class WrongFile:
    """An invalid test file with all its problems."""

    path: Path
    problems: list[Finding]

    @property
    def identifier(self) -> str:
        return name_file(self.path)


def name_file(path: Path) -> str:
    """Return the path of a file as a case id, which must be encodable as UTF-8."""
    return path.as_posix().encode("utf-8", "backslashreplace").decode()


def plan_tests(
    found: Iterable[ReadFile], reach: ConnectionOptions, sampling: Sampling
) -> list[Test | WrongFile]:
    """Return the tests of all files, in order, with a WrongFile for each invalid one.

    Raise an InputError if a file is invalid and the sampling is strict, or if no file can be used.
    """
    given = Ratio.parse(sampling.ratio) if sampling.ratio else None
    planned: list[Test | WrongFile] = []
    for one in found:
        file, problems = one.file, one.problems
        if file is not None:
            connections = tuple(dict.fromkeys(reach.connections or file.connections))
            problems = find_unanswerable(file, connections)
            if _COMMAND in connections and not reach.words:
                raise InputError(
                    "the connection command needs a program",
                    where=str(file.path),
                    advice="name it yourself: --command 'python agent.py'; a test file cannot",
                )
        if file is None or problems:
            planned.append(WrongFile(one.path, problems))
        else:
            planned += [Test(file, name, given or file.success_ratio) for name in connections]
    wrong = [one for one in planned if isinstance(one, WrongFile)]
    if wrong and (sampling.strict or len(wrong) == len(planned)):
        problems = [problem for one in wrong for problem in one.problems]
        raise make_error(problems, is_linted=not reach.connections)
    return planned


def check_recorded(
    tests: Iterable[Test | WrongFile], reach: ConnectionOptions, trust: Trust
) -> None:
    """Raise an InputError if a resumed run would do something that only its run folder asks for.

    That is: run code of another project, or send secrets to a server that the user has not named.
    """
    servers = [reach.url] if reach.url else []
    if reach.host:
        named = make_address("http", reach.host, reach.port or 1)
        servers.append(named if reach.port else named.removesuffix(":1"))
    for test in tests:
        if isinstance(test, Test) and test.connection == PYTHON:
            trust.check_project(test.file.path)
        elif isinstance(test, Test) and _sends_secrets(test):
            for server in servers:
                trust.check_server(server, is_verified=reach.verify and reach.ca_file is None)


def _sends_secrets(test: Test) -> bool:
    """Return whether a server receives secrets."""
    kind = get_kind(test.connection)
    if kind.is_local:
        return False
    has_key = kind.sends_key and bool(os.environ.get(Settings("").key_variable))
    return has_key or bool(test.file.secrets or test.file.metadata)


def list_units(
    tests: Sequence[Test | WrongFile], reach: ConnectionOptions, sampling: Sampling
) -> Iterator[Unit]:
    """List tests as the cases of a run; another address or ratio is another input."""
    for place, test in enumerate(tests):
        if isinstance(test, WrongFile):
            yield Unit(test.identifier, place, "", test)
            continue
        fingerprint = compute_fingerprint(
            test.file.fingerprint, test.connection, str(test.ratio), asdict(reach),
            sampling.takes_all,
        )  # fmt: skip
        yield Unit(test.identifier, place, fingerprint, test)


@dataclass(frozen=True)
class AgentsRequest:
    """The request as stored in a run; it contains no secret."""

    files: tuple[str, ...]
    folder: str
    reach: ConnectionOptions
    sampling: Sampling
    model: ModelChoice
    assesses: bool = False
    judge_error_rate: float | None = None

    def values(self) -> dict[str, Any]:
        """Return it as JSON."""
        return {**asdict(self), "files": list(self.files)}


class AgentsPlan:
    """Runs the conversations of test files, as often as their verdicts need."""

    waits = True

    def __init__(self, asked: AgentsRequest, *, trust: Trust = NO_MORE_TRUST) -> None:
        self.asked, self._trust = asked, trust
        reading = read_files(asked.files)
        self.skipped = [str(one) for one in reading.skipped]
        self._tests = plan_tests(reading.found, asked.reach, asked.sampling)
        settings = resolve(asked.model, load_config().models)
        self.client = None
        if settings is not None:
            self.client = ModelClient(settings.of_role("judge"), cache=ResponseCache())
        check_recorded(self._tests, asked.reach, trust)
        self.total: int | None = len(self._tests)
        # Each lane holds a test that may be waiting for its last samples: the pool stays busy.
        self.jobs = max(1, min(asked.sampling.max_connections, len(self._tests)))
        self.manifest = Manifest(
            subject=SUBJECT, title=", ".join(asked.files), asked=asked.values()
        )

    def __reduce__(self) -> tuple[object, ...]:
        # Another process rebuilds the plan with its own connections.
        return partial(AgentsPlan, trust=self._trust), (self.asked,)

    @classmethod
    def from_run(
        cls, values: dict[str, Any], trust: Trust, *, jobs: int | None = None
    ) -> AgentsPlan:
        """Rebuild the plan of a run; called in the folder where the run was started."""
        try:
            reach = values["reach"]
            sampling = {**values["sampling"], **({"jobs": jobs} if jobs else {})}
            asked = AgentsRequest(
                files=tuple(values["files"]),
                folder=values["folder"],
                reach=ConnectionOptions(**{**reach, "connections": tuple(reach["connections"])}),
                sampling=Sampling(**sampling),
                model=ModelChoice.from_run(values["model"]),
                assesses=bool(values.get("assesses")),
                judge_error_rate=values.get("judge_error_rate"),
            )
        except (KeyError, TypeError):
            raise InputError(
                "run.json does not contain the request", advice="start a new run"
            ) from None
        return cls(asked, trust=trust)

    def cases(self) -> Iterator[Unit]:
        """List every test of every file."""
        return list_units(self._tests, self.asked.reach, self.asked.sampling)

    def open_worker(
        self, folder: Path, progress: Progress | None
    ) -> AbstractAsyncContextManager[AgentsWorker]:
        """Return the worker that takes the samples of single tests."""
        from assay.agents.sampling.worker import AgentsWorker

        for test in self._tests:
            if isinstance(test, Test) and test.connection == PYTHON:
                # Before any clock runs. An import error is reported by its own test.
                with nullcontext() if self.asked.sampling.strict else suppress(InputError):
                    import_agent(test.file.agent, self._trust.for_file(test.file.path))
        on_sample = getattr(progress, "count_sample", None) or (lambda: None)
        return AgentsWorker(
            self.asked.reach, self.asked.sampling, self.client, on_sample, self._trust
        )

    def finish(self, run: Run) -> list[str]:
        """Return the rate and the interval of every test with samples."""
        return list(describe_statistics(run.records()))


class AgentsOptions(TypedDict, total=False):
    """Options for connections, sampling and the judge, as on the command line."""

    connection: str | Iterable[str] | None
    host: str | None
    port: int | None
    url: str | None
    command: str | None
    ca_file: str | Path | None
    check_certificate: bool
    ratio: str | None
    retries: int | None
    transcripts: Transcripts | None
    max_connections: int
    strict: bool
    allow_agents: Iterable[str] | None
    trust: bool
    jobs: int | None
    model: str | None
    model_url: str | None
    max_cost: float | None
    max_tokens: int | None
    judge_votes: int | None
    refresh: bool | None


def make_plan(
    files: Iterable[str | Path],
    options: AgentsOptions,
    *,
    takes_all: bool,
    assesses: bool = False,
    judge_error_rate: float | None = None,
) -> AgentsPlan:
    """Return the plan for the options of a command or call."""
    reach, sampling, choice, trust = read_options(options, takes_all=takes_all)
    if judge_error_rate is None:
        judge_error_rate = load_config().models.judge_error_rate
    names, folder = tuple(map(str, files)), str(Path.cwd())
    asked = AgentsRequest(names, folder, reach, sampling, choice, assesses, judge_error_rate)
    return AgentsPlan(asked, trust=trust)


def read_options(
    options: AgentsOptions, *, takes_all: bool = False
) -> tuple[ConnectionOptions, Sampling, ModelChoice, Trust]:
    """Return the options, with defaults from the project's configuration."""
    if unknown := options.keys() - AgentsOptions.__annotations__.keys():
        raise TypeError(f"unexpected keyword argument {min(unknown)!r}")
    config = load_config()
    connection, ca_file = options.get("connection") or (), options.get("ca_file")
    retries = options.get("retries")
    reach = ConnectionOptions(
        connections=(connection,) if isinstance(connection, str) else tuple(connection),
        host=options.get("host"),
        port=options.get("port"),
        url=options.get("url"),
        command=options.get("command"),
        ca_file=None if ca_file is None else str(Path(ca_file).absolute()),
        verify=options.get("check_certificate", True),
    )
    sampling = Sampling(
        jobs=options.get("jobs") or config.jobs,
        retries=config.agents.retries if retries is None else retries,
        max_connections=options.get("max_connections", 32),
        ratio=options.get("ratio"),
        takes_all=takes_all,
        strict=options.get("strict", False),
        transcripts=_read_transcripts(options.get("transcripts") or config.agents.transcripts),
    )
    choice = ModelChoice(
        options.get("model"),
        options.get("model_url"),
        options.get("max_cost"),
        options.get("max_tokens"),
        options.get("judge_votes"),
        options.get("refresh"),
    )
    trust = make_trust(
        config.agents.python_paths,
        options.get("allow_agents") or (),
        is_complete=options.get("trust", False),
    )
    return reach, sampling, choice, trust


def _read_transcripts(name: str) -> Transcripts:
    """Return which conversations are kept; raise an InputError for another word."""
    known: tuple[Transcripts, ...] = get_args(Transcripts)
    for one in known:
        if one == name:
            return one
    raise InputError(f"unknown transcripts {name!r}", advice=nearest(name, known))


def enter_folder(asked: dict[str, Any]) -> None:
    """Change to the folder of a run: its case ids are paths relative to it."""
    try:
        os.chdir(asked["folder"])
    except (KeyError, TypeError):
        raise InputError(
            "run.json does not contain the request", advice="start a new run"
        ) from None
    except OSError as error:
        raise InputError(f"its folder is gone: {error.strerror}", where=asked["folder"]) from None
