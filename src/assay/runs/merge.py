"""Merges the runs of a plan that was split: the shards of a CI job, for example."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

from assay.errors import InputError
from assay.model import FinishedCase, Outcome
from assay.runs.folder import (
    BASELINE,
    RUNS_FOLDER,
    Manifest,
    Run,
    create_folder,
    read_manifest,
    write_manifest,
)
from assay.runs.index import Row
from assay.runs.registry import remember_run
from assay.runs.writer import NAMED_AT_MOST, RunWriter, Unit, name_some

# What may differ between shards: which cases are selected, and how fast they run.
_OF_A_SHARD = frozenset(
    {"case", "cases", "checkpoint", "described", "files", "folder", "group", "jobs"}
    | {"max_connections", "suites", "types"}
)
# The function that judges a finished run by the subject's own rule.
_JUDGES = {"submissions": "assay.submissions.records:judge_merged"}


@dataclass(frozen=True)
class MergedRun:
    """A run made of others."""

    run: Run
    overlaps: int
    """How many cases were in several of them, with the same result or with errors."""
    notes: list[str]
    """What there is to say about it, such as which cases overlap."""


def merge_runs(
    shards: Sequence[str | os.PathLike[str]],
    out: str | os.PathLike[str] | None = None,
    *,
    runs: str | os.PathLike[str] = RUNS_FOLDER,
    creates_runs: bool = False,
) -> MergedRun:
    """Merge finished runs of one subject and one request into a new run.

    A case that is in several of them is taken once: with its judgement if others ended in an error.
    If two judgements differ, nothing is merged.
    """
    with ExitStack() as opened:
        parts = [opened.enter_context(Run(path)) for path in _check_paths(shards)]
        _check_shards(parts)
        overlaps = _find_overlaps(parts)
        target = None if out is None else Path(out)
        folder = create_folder(target, _make_manifest(parts), Path(runs))
        remember_run(folder, Path(runs), creates=creates_runs)
        if (baseline := parts[0].baseline) is not None:
            baseline.write(folder / BASELINE)
        _write_cases(folder, parts)
        _finish(folder, parts)
        return MergedRun(Run(folder), overlaps.count, [*_describe_versions(parts), *overlaps.notes])


def _check_paths(shards: Sequence[str | os.PathLike[str]]) -> list[Path]:
    paths = [Path(shard) for shard in shards]
    if len(paths) < 2:
        raise InputError("there is nothing to merge", advice="name at least two runs")
    places = [path.resolve() for path in paths]
    for path, place in zip(paths, places, strict=True):
        if places.count(place) > 1:
            raise InputError("is named twice", where=str(path))
    return paths


def _check_shards(parts: list[Run]) -> None:
    """Raise InputError unless all runs are finished and were asked for the same."""
    for part in parts:
        if part.is_being_written() or part.manifest.finished is None:
            raise InputError(
                "is not finished",
                where=str(part.path),
                advice=f"finish it first: assay runs resume {part.path}",
            )
    first = parts[0]
    for part in parts[1:]:
        for what, read in _COMPARED.items():
            if (here := read(part)) != (there := read(first)):
                raise InputError(
                    f"{part.path} and {first.path} are not of one plan: {what}"
                    f"{_name_difference(there, here)}",
                    advice="merge runs that were asked for the same with other cases",
                )


def _settings(run: Run) -> dict[str, Any]:
    """Return what was asked for, without what is different for every shard and every machine."""
    return {
        name: _strip_folders(value)
        for name, value in run.manifest.asked.items()
        if name not in _OF_A_SHARD
    }


def _strip_folders(value: Any) -> Any:
    """Return a value whose absolute paths are only names: machines have other folders."""
    if isinstance(value, str):
        return Path(value).name if value.startswith("/") else value
    if isinstance(value, list):
        return [_strip_folders(one) for one in value]
    if isinstance(value, dict):
        return {name: _strip_folders(one) for name, one in value.items() if name not in _OF_A_SHARD}
    return value


_COMPARED: dict[str, Callable[[Run], Any]] = {
    "their subjects differ": lambda run: run.manifest.subject,
    "their rules for unverified cases differ": lambda run: run.manifest.unverified_fails,
    "their settings differ": _settings,
    "their baselines differ": lambda run: run.baseline and run.baseline.model_dump(),
}


def _name_difference(first: Any, second: Any) -> str:
    """Return which settings differ, with both values."""
    if not isinstance(first, dict) or not isinstance(second, dict):
        return "" if first is None or second is None else f" ({first!r}, {second!r})"
    names = [name for name in {**first, **second} if first.get(name) != second.get(name)]
    shown = [f"{name} {first.get(name)!r:.80} and {second.get(name)!r:.80}" for name in names[:5]]
    return f": {'; '.join(shown)}"


@dataclass
class _Overlaps:
    """Cases that several runs have."""

    count: int = 0
    settled: int = 0
    names: list[str] = field(default_factory=list)

    @property
    def notes(self) -> list[str]:
        if not self.names:
            return []
        more = self.count - len(self.names)
        named = name_some(self.names) + (f" and {more:,} more" if more > 0 else "")
        note = f"in several runs, taken once: {named}"
        return [f"{note} ({self.settled:,} ended in an error in one)" if self.settled else note]


def _find_overlaps(parts: list[Run]) -> _Overlaps:
    """Return which cases several runs have; raise InputError if their results differ."""
    found, conflicts = _Overlaps(), 0
    named: list[str] = []
    for place, part in enumerate(parts):
        for row in part.rows():
            earlier = [other for each in parts[:place] if (other := each.find(row.id)) is not None]
            if not earlier:
                continue
            judged = [one for one in (*earlier, row) if one.outcome is not Outcome.ERROR]
            found.count += 1
            found.settled += 0 < len(judged) < len(earlier) + 1
            if len(found.names) < NAMED_AT_MOST:
                found.names.append(row.id)
            if len({_result(one) for one in judged}) > 1:
                conflicts += 1
                if len(named) < NAMED_AT_MOST:
                    named.append(f"{row.id} ({', '.join(_tell(one) for one in judged)})")
    if conflicts:
        more = f" and {conflicts - len(named):,} more" if conflicts > len(named) else ""
        raise InputError(
            f"the runs have different results for the same cases: {', '.join(named)}{more}",
            advice="merge shards that do not share cases, or remove one of these runs",
        )
    return found


def _result(row: Row) -> tuple[str, str, str]:
    return row.fingerprint, row.outcome.value, row.code


def _tell(row: Row) -> str:
    return row.outcome.value if row.code in ("", row.outcome.value) else row.code


def _make_manifest(parts: list[Run]) -> Manifest:
    manifests = [part.manifest for part in parts]
    first = manifests[0]
    titles = dict.fromkeys(each.title for each in manifests if each.title)
    return Manifest(
        subject=first.subject,
        title=name_some(list(titles)),
        asked=first.asked,
        unverified_fails=first.unverified_fails,
        is_partial=all(each.is_partial for each in manifests),
        versions=first.versions,
        started=min(each.started for each in manifests),
        merged_from=[part.name for part in parts],
    )


def _describe_versions(parts: list[Run]) -> Iterator[str]:
    """Yield a note for every version that is not the same in all runs."""
    names = dict.fromkeys(name for part in parts for name in part.manifest.versions)
    for name in names:
        versions = dict.fromkeys(part.manifest.versions.get(name, "unknown") for part in parts)
        if len(versions) > 1:
            yield f"made with different versions of {name}: {', '.join(versions)}"


def _write_cases(folder: Path, parts: list[Run]) -> None:
    with RunWriter(folder) as writer:
        number = 0
        for place, part in enumerate(parts):
            for row in part.rows():
                if _find_source(parts, row.id) != place:
                    continue
                packed = part.read_packed(row)
                unit = Unit(row.id, number, row.fingerprint, None)
                assert writer.wants(unit)
                writer.add(unit, FinishedCase(row.outcome, packed))
                number += 1
        writer.finish()


def _find_source(parts: list[Run], identifier: str) -> int:
    """Return which run a case is taken from: the first that judged it, else the first."""
    rows = [(place, part.find(identifier)) for place, part in enumerate(parts)]
    having = [(place, row) for place, row in rows if row is not None]
    judged = (place for place, row in having if row.outcome is not Outcome.ERROR)
    return next(judged, having[0][0])


def _finish(folder: Path, parts: list[Run]) -> None:
    """Give the run the times of its parts, and judge it by the rule of its subject."""
    manifest = read_manifest(folder)
    finished = [part.manifest.finished for part in parts if part.manifest.finished is not None]
    manifest.finished = max(finished)
    manifest.worked = sum(_measure(part.manifest) for part in parts)
    write_manifest(folder, manifest)
    if judge := _JUDGES.get(manifest.subject):
        module, _, function = judge.partition(":")
        with Run(folder) as run:
            getattr(import_module(module), function)(run)


def _measure(manifest: Manifest) -> float:
    if manifest.worked is not None:
        return manifest.worked
    assert manifest.finished is not None
    return max(0.0, (manifest.finished - manifest.started).total_seconds())
