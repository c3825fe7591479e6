"""Files of others are opened in one place only, which knows pipes, devices, links and sizes."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src" / "assay"
_READS = frozenset({"read_text", "read_bytes", "open"})
_OURS = "a file of the package itself"
_INSIDE = "inside the sandbox, or before it is entered: files of the kernel and of its own folder"
# Each with the reason why it needs no limit. A file that the user, a target, a submission, a server
# or a model wrote has no place here: it is read with `assay.documents`.
ALLOWED: dict[str, str] = {
    "documents/files.py": "the one place",
    "sandbox/jail/": _INSIDE,
    "questions/index/indexer/": _INSIDE,
    "sandbox/uv.py": _OURS,
    "starters.py": _OURS,
    "reports/blocks_html.py": _OURS,
    "reports/comparison.py": _OURS,
    "reports/page.py": _OURS,
    "runs/registry.py": "a file that is written; it is read with assay.documents",
    "containers/": "files of the kernel, of the engine's settings, and of folders that Assay made",
    "runs/archive.py": "a file that is written, and members of an archive, read up to a limit",
    "traces/exporter.py": "standard input, from Assay itself",
    "view/": "opens a run, no file; or a file of the package itself",
    "cli/run.py": _OURS,
    "reports/html_report.py": _OURS,
    "questions/index/build.py": "files of the package, and metadata of installed distributions",
    "sandbox/overlay_base.py": "a descriptor of a folder",
    "sandbox/cache.py": "a lock, a file that is written, and digests of regular files in pieces",
    "sandbox/targets.py": "metadata of installed distributions",
    "sandbox/isolation.py": "settings of the kernel below /proc/sys",
    "submissions/folders.py": "the digest, in pieces, of a copy that was just made",
    "submissions/file_formats.py": "streams in memory, read up to a limit",
    "submissions/adapters/messages.py": "archives in memory, read up to a limit",
    "submissions/audits/audit.py": "opens a group of cases, no file",
    "submissions/blame.py": "opens a group of cases, no file",
    "submissions/verification.py": "opens a group of cases, no file",
    "cli/common.py": "standard output",
    "cli/main.py": "standard streams",
    "questions/correct/apply_correction.py": "a file that is written",
    "questions/model_prover/transcripts.py": "a file that is written",
    "questions/index/store.py": "words that Assay wrote into its cache, mapped and not read",
    "reports/formats.py": "files that are written",
    "agents/connections/web.py": "the body of an answer, read up to a limit",
    "agents/connections/neuro_san.py": "the body of an answer, read up to a limit",
    "runs/journal.py": "the journal, checked by itself because it is written as well",
}


def _direct_reads(tree: ast.Module) -> Iterator[int]:
    """Yield the lines of calls that open a file by themselves."""
    bounded = {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("assay.documents")
        for alias in node.names
    }
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        called = node.func
        is_method = isinstance(called, ast.Attribute) and called.attr in _READS
        if is_method or (isinstance(called, ast.Name) and called.id in _READS - bounded):
            yield node.lineno


def _found() -> dict[str, list[int]]:
    files = sorted(SOURCE.rglob("*.py"))
    lines = {
        str(file.relative_to(SOURCE)): list(_direct_reads(ast.parse(file.read_bytes())))
        for file in files
    }
    return {name: found for name, found in lines.items() if found}


def test_no_file_of_others_is_opened_past_the_one_reader() -> None:
    left = {
        f"src/assay/{name}:{line}"
        for name, lines in _found().items()
        if not any(name == one or (one.endswith("/") and name.startswith(one)) for one in ALLOWED)
        for line in lines
    }
    assert left == set(), "read it with assay.documents, or give the reason in ALLOWED"


def test_every_exception_is_still_needed() -> None:
    found = _found()
    unused = {one for one in ALLOWED if not any(name.startswith(one) for name in found)}
    assert unused == set()
