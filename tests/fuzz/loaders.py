"""Everything that reads what others wrote, each with a sound input to start from.

A loader takes the bytes of one file and returns what it says about them: nothing, or a message per
finding. Whatever else it raises than an InputError is a defect.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from xml.etree import ElementTree

from assay.errors import AssayError, InputError
from assay.model import CaseRecord
from tests.fuzz.answers import ANSWERS, read_answers

_EXAMPLES = Path(__file__).parents[2] / "examples"


@dataclass(frozen=True)
class Loader:
    """One way in: `read` gets an empty folder, the name of the hostile file and its bytes."""

    name: str
    file: str
    sound: Callable[[], bytes]
    read: Callable[[Path, str, bytes], Iterator[str]]
    # In which rounds it takes part: one that starts a process for every input would take them all.
    every: int = 1

    def load(self, folder: Path, data: bytes) -> list[str]:
        """Return what is said about an input; raise only what must never be raised."""
        try:
            return list(self.read(folder, self.file, data))
        except InputError as error:
            return [str(error)]


def _write(folder: Path, name: str, data: bytes) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


# --- questions


_SUITE: dict[str, Any] = {
    "benchmarks": [
        {
            "id": "one",
            "benchmark_type": "multiple_choice",
            "question": "Which class validates data?",
            "options": {
                "A": "`pydantic.BaseModel`",
                "B": "`pydantic.Nothing`",
                "C": "Both A and B",
            },
            "correct_answer": "A",
            "explanation": "It does.",
        },
        {
            "id": "two",
            "benchmark_type": "api_understanding",
            "question": "What validates?",
            "rationale": "x",
            "template": "identifier",
            "answers": [
                {
                    "answer_template": "StringMatchAnswer",
                    "answer": "X",
                    "fully_qualified_class_name": ["a.X"],
                }
            ],
        },
    ]
}


def _suite(folder: Path, name: str, data: bytes) -> Iterator[str]:
    from assay.findings import FORMATS
    from assay.questions.lint_rules import lint_suites
    from assay.questions.suite.suite import load_suites, read_suites

    path = _write(folder, name, data)
    findings = lint_suites(read_suites([path]))
    for kind in FORMATS:
        findings.report(kind)
    yield from (f"{one.place}: {one.code}: {one.message}" for one in findings)
    load_suites([path])


def _proof(folder: Path, name: str, data: bytes) -> Iterator[str]:
    from assay.questions.proofs.proof_file import UnfitProofError, read_proof

    try:
        read_proof(data.decode("utf-8", "surrogateescape"))
    except UnfitProofError as error:
        yield f"proof.py: {error}"


def _sound_proof() -> bytes:
    return next(iter(sorted((_EXAMPLES / "questions" / "proofs").rglob("test_*.py")))).read_bytes()


_STORED = "def test_holds(): assert 1\n"


def _proof_store(folder: Path, name: str, data: bytes) -> Iterator[str]:
    from assay.questions.model import Question
    from assay.questions.proofs.store import ProofStore

    question = Question("one", "Which?", {"A": "a", "B": "b"})
    store = ProofStore(folder / "suite.yaml")
    _write(store.folder(question), name, data)
    for option in "ABCD":
        _write(store.folder(question), f"test_option_{option}.py", _STORED.encode())
    store.load(question)
    yield from ()


def _sound_store() -> bytes:
    from assay.questions.model import Question
    from assay.questions.proofs.claims import Claim, Proof, Relation, proof_name
    from assay.questions.proofs.store import NewProof, ProofStore
    from assay.questions.verdict.option_findings import Truth

    question = Question("one", "Which?", {"A": "a", "B": "b"})
    new = [
        NewProof(
            Proof(Claim(option, "It is so", Relation.EQUIVALENT), proof_name(option), _STORED),
            Truth.TRUE,
            ("test_holds", "test_fails", ()),
        )
        for option in question.options
    ]
    with TemporaryDirectory() as folder:
        store = ProofStore(Path(folder) / "suite.yaml")
        store.save(question, new, "")
        return (store.folder(question) / "proof.json").read_bytes()


# --- submissions


_PROBLEM = _EXAMPLES / "submissions" / "ledger"
_CASES = "checkpoint_1/core.yaml"
_ENVIRONMENT = {
    "commands": {"command": "python"},
    "env": {"A": "1"},
    "setup": {"commands": ["true"]},
}
_ANSWER = b'content-type: application/json\n\n{"a": [1, 2]}'


def _of_the_problem(name: str) -> bytes:
    return (_PROBLEM / name).read_bytes()


def _problem(folder: Path, name: str, data: bytes) -> Iterator[str]:
    import shutil

    from assay.findings import FORMATS
    from assay.submissions.lint_rules import lint_problems

    problem = folder / "problem"
    shutil.copytree(_PROBLEM, problem)
    _write(problem, name, data)
    findings = lint_problems([problem])
    for kind in FORMATS:
        findings.report(kind)
    yield from (f"{one.place}: {one.code}: {one.message}" for one in findings)


def _environment(folder: Path, name: str, data: bytes) -> Iterator[str]:
    from assay.submissions.environments import load_environment

    load_environment(_write(folder, name, data))
    yield from ()


def _submission_answer(folder: Path, name: str, data: bytes) -> Iterator[str]:
    from assay.sandbox.servers import Response
    from assay.submissions.adapters.messages import read_answer

    head, _, body = data.partition(b"\n\n")
    headers = {
        name.strip().lower(): value.strip()
        for name, _, value in (line.partition(":") for line in head.decode("latin-1").splitlines())
    }
    for as_json in (True, False):
        for as_reference in (True, False):
            answer = Response(200, headers, body)
            read_answer(answer, as_json=as_json, as_reference=as_reference)
    yield from ()


def _http_answer(folder: Path, name: str, data: bytes) -> Iterator[str]:
    """Give the raw bytes of a server to what reads its answer."""
    import http.client
    import socket

    from assay.sandbox.servers import _exchange

    ours, theirs = socket.socketpair()
    with ours, theirs:
        # The buffer of the socket is larger than any input.
        theirs.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
        theirs.sendall(data)
        theirs.shutdown(socket.SHUT_WR)
        try:
            _exchange(ours, "GET", "/", None, {}, 1_000_000)
        except (OSError, http.client.HTTPException) as error:
            yield f"answer: {type(error).__name__}: {error}"


_HTTP_ANSWER = (
    b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
    b'5\r\n{"a":\r\n4;x=y\r\n [1]\r\n1\r\n}\r\n0\r\nTrailer: 1\r\n\r\n'
)


def _input_file(folder: Path, name: str, data: bytes) -> Iterator[str]:
    """Read a file of a problem, and the same as the output of a submission."""
    from assay.submissions.cases import InputFile
    from assay.submissions.declarative.expectations import UnreadableError, read_structure

    _write(folder, name, data)
    file = InputFile.from_path(name, relative_to=folder)
    assert file.to_bytes() == data
    if name.endswith(".parquet"):
        # Outputs are read in a process of their own, because damage may end it.
        return
    try:
        read_structure(data, name)
    except UnreadableError as error:
        yield f"{name}: {error}"


def _content(name: str) -> bytes:
    from assay.submissions.cases import InputFile

    kind, packing = InputFile.resolve_suffix(name)
    rows = [{"a": 1, "b": "x"}, {"a": 2, "b": "y, z"}]
    return InputFile(path=name, content=rows, file_type=kind, compression=packing).to_bytes()


def _archive(folder: Path, name: str, data: bytes) -> Iterator[str]:
    from assay.submissions.adapters.messages import unpack_archive

    if trouble := unpack_archive(data).trouble:
        yield f"{name}: {trouble}"


def _sound_archive() -> bytes:
    import io
    import zipfile

    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("a/b.txt", "hello")
        archive.writestr("c.json", "[1]")
    return stream.getvalue()


# --- agents


_AGENT = """\
{
  "agent": "music_nerd", "connections": ["http", "direct"], "success_ratio": "8/10",
  "timeout_in_seconds": 60, "metadata": {"user": "me"},
  "interactions": [
    {"text": "Who sang Yellow Submarine?", "sly_data": {"a": [1, 2.5, null]},
     "response": {"text": {"keywords": ["Beatles", "Starr"], "not_gist": "it is rude"},
                  "structure": {"a": {"b": {"value": 3}}}, "sly_data": {"x": {"less": 4}}}}
  ]
}
"""
_HOCON = """\
name: "Ann", base { timeout_in_seconds = 30 }
agent: music_nerd, connections: http, success_ratio: "2/3"
interactions: [
  ${base} { text: "I am "${name}, response { text.keywords: [a, b], structure.x.value: 1 } }
  { text = \"\"\"several
lines\"\"\", continue_conversation: false, response.text { gist: "ok", not_value += "x" } }
] // end
"""


def _agent(folder: Path, name: str, data: bytes) -> Iterator[str]:
    from assay.agents.plan import ConnectionOptions, Sampling, plan_tests
    from assay.agents.testfile import read_files
    from assay.agents.testfile.lint import lint_files
    from assay.findings import FORMATS

    path = _write(folder, name, data)
    findings = lint_files([path])
    for kind in FORMATS:
        findings.report(kind)
    yield from (f"{one.place}: {one.code}: {one.message}" for one in findings)
    plan_tests(read_files([path]).found, ConnectionOptions(), Sampling())


def _stream(folder: Path, name: str, data: bytes) -> Iterator[str]:
    from assay.agents.connections.neuro_san import FrameReader
    from assay.agents.connections.web import LineSplitter

    lines, reader = LineSplitter(), FrameReader()
    try:
        for line in [*lines.feed(data), lines.take_rest()]:
            reader.take_line(line)
        reader.make_answer()
    except AssayError as error:
        yield f"stream: {error}"


_STREAM = b"""\
{"response": {"type": "AGENT", "text": "thinking", "origin": [{"tool": "a"}, {"tool": "b"}]}}

{"response": {"type": "AI", "text": "hello", "structure": {"a": 1}, "origin": [{"tool": "a"}]}}
{"response": {"type": "AGENT_FRAMEWORK", "chat_context": {"x": []}, "sly_data": {"y": 1}}}
"""


# --- models


def _completion(folder: Path, name: str, data: bytes) -> Iterator[str]:
    from assay.models import ModelSettings
    from assay.models.transport import Transient, make_failure, read_reply
    from assay.models.usage import count_usage

    settings = ModelSettings("m", "http://127.0.0.1:9/v1", key="KEY-0123456789")
    for status in (400, 401, 404, 429, 500):
        make_failure(status, {"retry-after": data[:20].decode("latin-1")}, data, settings)
    try:
        reply = read_reply(settings.redact(data))
        count_usage(reply.usage, {}, reply.text, settings.price)
    except Transient as error:
        yield f"completion: {error}"


_COMPLETION = json.dumps(
    {
        "choices": [
            {
                "message": {
                    "content": "hello",
                    "tool_calls": [
                        {
                            "id": "1",
                            "type": "function",
                            "function": {"name": "f", "arguments": "{}"},
                        }
                    ],
                },
                "finish_reason": "stop",
            }
        ],
        "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15},
    }
).encode()


def _shaped_answer(folder: Path, name: str, data: bytes) -> Iterator[str]:
    from pydantic import BaseModel

    from assay.models.client import MalformedAnswer, parse

    class Shape(BaseModel):
        verdict: bool
        reason: str

    try:
        parse(data.decode("utf-8", "surrogateescape"), Shape)
    except MalformedAnswer as error:
        yield f"answer: {error}"


_SHAPED = b'```json\n{"verdict": true, "reason": "because"}\n```\n'


def _transcript(folder: Path, name: str, data: bytes) -> Iterator[str]:
    from assay.questions.model_prover.transcripts import transcript_lines

    for _ in transcript_lines(_write(folder, name, data)):
        pass
    yield from ()


_TRANSCRIPT = b"""\
{"time": 1.5, "agent": "verifier", "kind": "answer", "text": "hello", "tokens": 3, "seconds": 0.5}
{"time": 2.5, "agent": "verifier", "kind": "tool", "name": "run", "value": {"a": [1]}}
"""


# --- configuration and runs


def _config(folder: Path, name: str, data: bytes) -> Iterator[str]:
    from assay.config import load_config

    _write(folder, name, data)
    load_config(folder)
    yield from ()


def _source(folder: Path, name: str, data: bytes) -> Iterator[str]:
    from assay.sandbox.installer import read_source

    _write(folder, "pyproject.toml", _PROJECT)
    _write(folder, "requirements.txt", b"pydantic\n")
    _write(folder, name, data)
    read_source(folder)
    yield from ()


_PROJECT = b"""\
[project]
name = "x"
version = "1"
dependencies = ["pydantic>=2", "httpx[http2]; python_version > '3'"]
[project.optional-dependencies]
more = ["rich"]
"""
_CONFIG = b"""\
jobs = 2
runs = ".assay/runs"
[models]
model = "ollama/x"
max_cost = 1.5
judge_votes = 3
[questions]
ignore = ["duplicate-id"]
"""


@cache
def _sound_run() -> dict[str, bytes]:
    """The files of a small finished run."""
    import tempfile

    from tests.reports.conftest import Make

    with tempfile.TemporaryDirectory() as folder:
        make = Make(Path(folder))
        names = ("passed", "failed", "unverified", "error")
        run = make.run(make.record(f"case {name}", name) for name in names)
        files = {name: (run.path / name).read_bytes() for name in ("run.json", "journal.jsonl")}
        make.close()
    return files


def _run(folder: Path, name: str, data: bytes) -> Iterator[str]:
    from assay.reports import render_report
    from assay.runs import Run

    for file, content in {**_sound_run(), name: data}.items():
        _write(folder / "run", file, content)
    with Run(folder / "run") as run:
        for record in run.records():
            assert isinstance(record, CaseRecord)
        for kind in ("terminal", "markdown", "html", "parquet"):
            for _ in render_report(run, kind):
                pass
        json.loads(_whole(render_report(run, "json")))
        ElementTree.fromstring(_whole(render_report(run, "junit")))
    yield from ()


def _sound_export() -> bytes:
    import tempfile

    from assay.runs import export_run

    with tempfile.TemporaryDirectory() as folder:
        for name, content in _sound_run().items():
            _write(Path(folder) / "run", name, content)
        return export_run(Path(folder) / "run", Path(folder) / "file").file.read_bytes()


def _exported_run(folder: Path, name: str, data: bytes) -> Iterator[str]:
    from assay.errors import InfrastructureError
    from assay.runs import Run, import_run

    file = _write(folder, name, data)
    (folder / "runs").mkdir()
    try:
        # A forged size may be more than the disk has; with a limit it is refused before.
        path = import_run(file, runs=folder / "runs", most_bytes=10_000_000)
    except (InputError, InfrastructureError):
        assert [one.name for one in folder.iterdir()] == [name, "runs"]
        assert not list((folder / "runs").iterdir())
        raise
    assert path.parent == folder / "runs"
    with Run(path) as run:
        list(run.records())
    yield from ()


def _registry(folder: Path, name: str, data: bytes) -> Iterator[str]:
    from assay.runs import remember_run, run_folders

    _write(folder, name, data)
    assert run_folders(folder) == []
    remember_run(folder / "elsewhere" / "run", folder)
    assert (folder / name).read_bytes().startswith(data)
    yield from ()


def _whole(pieces: Iterator[Any]) -> bytes:
    return b"".join(one if isinstance(one, bytes) else one.encode() for one in pieces)


def _baseline(folder: Path, name: str, data: bytes) -> Iterator[str]:
    from assay.runs import Baseline

    Baseline.read(_write(folder, name, data))
    yield from ()


_BASELINE = json.dumps(
    {"accepted": [{"case": "one", "code": "failed", "fingerprint": "abc"}]}
).encode()


def _yaml(value: Any) -> bytes:
    import yaml

    text: str = yaml.safe_dump(value, sort_keys=False, allow_unicode=True)
    return text.encode()


LOADERS: dict[str, Loader] = {
    one.name: one
    for one in (
        Loader("suite-yaml", "suite.yaml", lambda: _yaml(_SUITE), _suite),
        Loader("suite-json", "suite.json", lambda: json.dumps(_SUITE, indent=1).encode(), _suite),
        Loader("proof", "proof.py", _sound_proof, _proof),
        Loader("proof-store", "proof.json", _sound_store, _proof_store),
        Loader("problem", "config.yaml", lambda: _of_the_problem("config.yaml"), _problem),
        Loader("cases", _CASES, lambda: _of_the_problem(_CASES), _problem),
        Loader("environment", "environment.yaml", lambda: _yaml(_ENVIRONMENT), _environment),
        Loader("submission-answer", "answer.http", lambda: _ANSWER, _submission_answer),
        Loader("http-answer", "answer.raw", lambda: _HTTP_ANSWER, _http_answer),
        *(
            Loader(f"file-{name}", f"file.{name}", partial(_content, f"file.{name}"), _input_file)
            for name in ("json", "jsonl", "csv", "yaml", "sqlite", "csv.gz")
        ),
        Loader(
            "file-parquet", "file.parquet", partial(_content, "file.parquet"), _input_file, every=50
        ),
        Loader("archive", "file.zip", _sound_archive, _archive),
        Loader("agent-hocon", "test.hocon", _HOCON.encode, _agent),
        Loader("agent-json", "test.json", _AGENT.encode, _agent),
        Loader("agent-yaml", "test.yaml", lambda: _yaml(json.loads(_AGENT)), _agent),
        Loader("agent-stream", "stream.jsonl", lambda: _STREAM, _stream),
        Loader("completion", "completion.json", lambda: _COMPLETION, _completion),
        *(
            Loader(name, "answers", partial(bytes, sound), read_answers(kind))
            for name, (kind, sound) in ANSWERS.items()
        ),
        Loader("shaped-answer", "answer.txt", lambda: _SHAPED, _shaped_answer),
        Loader("transcript", "transcript.jsonl", lambda: _TRANSCRIPT, _transcript),
        Loader("project", "pyproject.toml", lambda: _PROJECT, _source),
        Loader("requirements", "requirements.txt", lambda: b"a==1 # why\n-r b.txt\n", _source),
        Loader("config", "assay.toml", lambda: _CONFIG, _config),
        Loader("run", "run.json", lambda: _sound_run()["run.json"], _run),
        Loader("journal", "journal.jsonl", lambda: _sound_run()["journal.jsonl"], _run),
        Loader("exported-run", "run.zip", _sound_export, _exported_run),
        Loader("registry", "elsewhere.jsonl", lambda: b'"/gone/one"\n"/gone/two"\n', _registry),
        Loader("baseline", "baseline.json", lambda: _BASELINE, _baseline),
    )
}
