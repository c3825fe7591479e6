"""Builds an index: the target is inspected once inside the sandbox, and the result is cached."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

from assay.errors import InfrastructureError, InputError
from assay.questions.index.facts import read_facts
from assay.questions.index.index import SymbolIndex
from assay.questions.index.store import SCHEMA, WORDS, write_store
from assay.sandbox import Environment, Limits, ProgramResult, build_once, run_program, run_to_end

Progress = Callable[[str], None]

_KIND = "indexes"
_INDEXER = Path(__file__).with_name("indexer")
_PACKAGE = "assay_index"
_FACTS, _SUMMARY = "facts.jsonl", "summary.json"
# After the time for imports: describing what is there, and a last look at the sources alone.
_SLACK_SECONDS = 90.0


def build_index(
    environment: Environment,
    *,
    distributions: Sequence[str] = (),
    isolation: str = "auto",
    seconds: float = 300.0,
    module_seconds: float = 20.0,
    progress: Progress | None = None,
) -> SymbolIndex:
    """Return the index of a target, building it if it does not exist yet.

    `distributions` are those whose names are indexed; by default those the target requires, of
    which `current` has none. No import may take longer than `module_seconds`, all together not
    longer than `seconds`.
    """
    wanted = tuple(sorted(set(distributions or environment.distributions)))
    if not wanted:
        raise InputError(
            f"it is not known which distributions of {environment.described} are meant",
            advice="name them, for example pydantic",
        )
    order = {
        "first": [str(path) for path in environment.first],
        "distributions": list(wanted),
        "seconds": seconds,
        "module_seconds": module_seconds,
    }

    def build(folder: Path) -> dict[str, Any]:
        _say(progress, f"looking at the public names of {', '.join(wanted)}")
        return _fill(folder, run_to_end(_look(environment, order, isolation)), environment)

    folder, _ = build_once(
        _KIND,
        _key(environment, order),
        build,
        lambda: _say(progress, "another process builds the index"),
    )
    return SymbolIndex(folder)


def _key(environment: Environment, order: dict[str, Any]) -> str:
    """Changes with the environment, what is wanted of it, and how an index is made."""
    parts = [environment.key, str(SCHEMA), json.dumps(order), *sorted(_read_indexer().values())]
    if environment.described == "current":
        parts.extend(_state(name) for name in order["distributions"])
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:24]


def _state(name: str) -> str:
    """Return the files of a distribution that may change in place, by size and time."""
    try:
        found = distribution(name)
    except PackageNotFoundError:
        return ""
    paths = [Path(str(found.locate_file(file))) for file in found.files or ()]
    folder = json.loads(found.read_text("direct_url.json") or "{}").get("url", "")
    if folder.startswith("file://"):
        paths.extend(Path(folder.removeprefix("file://")).rglob("*.py"))
    states = ((path, path.stat()) for path in sorted(paths) if path.is_file())
    return " ".join(f"{path} {one.st_size} {one.st_mtime_ns}" for path, one in states)


def _read_indexer() -> dict[str, str]:
    """Return the indexer program by the names of its files in the sandbox."""
    return {
        f"{_PACKAGE}/{path.name}": path.read_text("utf-8") for path in sorted(_INDEXER.glob("*.py"))
    }


async def _look(environment: Environment, order: dict[str, Any], isolation: str) -> ProgramResult:
    limit = order["seconds"] + _SLACK_SECONDS
    files = {name: text.encode() for name, text in _read_indexer().items()}
    return await run_program(
        [str(environment.python), "-s", "-m", _PACKAGE],
        files={**files, "order.json": json.dumps(order).encode()},
        collect=[_FACTS, WORDS, _SUMMARY],
        # The same names in the same order, whoever looks; and nothing is written beside the target.
        environment={"PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1", "LANG": "C.UTF-8"},
        limits=Limits(
            wall_time=limit, cpu_time=int(limit), memory=4 << 30, processes=256, collected=512 << 20
        ),
        isolation=isolation,
        binds=[(str(path), str(path), False) for path in environment.reads],
    )


def _fill(folder: Path, result: ProgramResult, environment: Environment) -> dict[str, Any]:
    if not {_FACTS, WORDS, _SUMMARY} <= result.files.keys():
        raise InfrastructureError(
            f"the look at {environment.described} came to no end: {_last_words(result)}"
        )
    summary = json.loads(result.files[_SUMMARY])
    if summary["absent"]:
        raise InputError(
            f"{', '.join(summary['absent'])} is not installed in {environment.described}",
            advice="name a distribution of the target",
        )
    symbols = read_facts(result.files[_FACTS])
    (folder / WORDS).write_bytes(result.files[WORDS])
    write_store(folder, symbols, summary)
    return {"target": environment.described, "symbols": len(symbols)}


def _last_words(result: ProgramResult) -> str:
    if result.limit:
        return f"it hit the limit {result.limit}"
    lines = result.stderr.decode("utf-8", "replace").strip().splitlines()
    return lines[-1] if lines else f"it ended with status {result.exit_status}"


def _say(progress: Progress | None, text: str) -> None:
    if progress:
        progress(text)
