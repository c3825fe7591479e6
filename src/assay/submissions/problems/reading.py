"""From a problem folder to its `ProblemConfig`: everything merged, every mistake with its line."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from assay import documents
from assay.documents import Mapping, Node, Pair, Place, Scalar, Sequence
from assay.errors import InputError, nearest
from assay.submissions.assets import asset_names
from assay.submissions.config import ApiAdapter, CheckpointConfig, GroupConfig, ProblemConfig
from assay.submissions.problems.fields import read_file, validated
from assay.submissions.problems.findings import (
    MISSING_FILE,
    NO_CASES,
    UNKNOWN_NAME,
    WRONG_VALUE,
    Finding,
    Level,
    refuse_errors,
)
from assay.submissions.problems.layout import WrittenCheckpoint, WrittenGroup, WrittenProblem
from assay.submissions.problems.normalizing import (
    is_nothing,
    long_checkpoint,
    long_problem,
    misnamed,
)
from assay.submissions.problems.regressions import add_regressions

CONFIG = "config.yaml"


def find_problem(name: str | Path, problem_path: Path = Path("problems")) -> Path:
    """The folder a problem is in: one that is named, or one of that name among the problems."""
    for folder in (Path(name), problem_path / name):
        if (folder / CONFIG).is_file():
            return folder
    if Path(name).is_dir():
        raise InputError(f"has no {CONFIG}", where=str(name), advice="a problem folder has one")
    if Path(name).is_file():
        raise InputError("is a file", where=str(name), advice="name the folder of the problem")
    named = Path(name).parent.glob(f"*/{CONFIG}")
    known = {each.parent.name for each in problem_path.glob(f"*/{CONFIG}")}
    known |= {str(each.parent) for each in named}
    advice = nearest(str(name), known) if known else "a problem is a folder with a config.yaml"
    raise InputError(f"there is no problem {str(name)!r}", advice=advice)


def read_problem(folder: str | Path) -> ProblemConfig:
    """The problem in a folder; InputError, with file and line, for the first mistake."""
    problem, findings = examine_problem(Path(folder))
    refuse_errors(findings)
    assert problem is not None, "whatever cannot be read has a finding"
    return problem


def examine_problem(folder: Path) -> tuple[ProblemConfig | None, list[Finding]]:
    """The problem in a folder, if it can be read, and all that is wrong with its config."""
    reader = _Reader(folder)
    return reader.read(), reader.findings


@dataclass
class _Stage:
    """A checkpoint as it was written, and where."""

    name: str
    written: WrittenCheckpoint
    position: int
    file: Path
    spots: dict[str, Place]


@dataclass
class _Reader:
    folder: Path
    findings: list[Finding] = field(default_factory=list)
    is_strict: bool = True

    def read(self) -> ProblemConfig | None:
        file = self.folder / CONFIG
        root = read_file(file, self.findings)
        if root is None:
            return None
        root = long_problem(root)
        # Folders with code of their own were written for others too, and carry their keys.
        self.is_strict = not self._is_programmed(root)
        written = validated(WrittenProblem, root, file, self.findings, is_strict=self.is_strict)
        stages = list(self._stages(root.get("checkpoints"), file))
        if written is None or any(finding.level == "error" for finding in self.findings):
            return None
        return self._problem(written, stages, documents.places(root, file))

    def _is_programmed(self, root: Mapping) -> bool:
        script = root.get("loader_script")
        name = script.text if isinstance(script, Scalar) and script.text else "loader.py"
        return (self.folder / name).is_file()

    def _stages(self, node: Node | None, file: Path) -> Iterator[_Stage]:
        """The checkpoints of a mapping, or of the folders that a list names."""
        if node is None:
            return
        for position, pair in enumerate(self._pairs(node, file), start=1):
            own = self.folder / pair.key / CONFIG
            entry, entry_file = pair.value, file
            if is_nothing(entry):
                if not own.is_file():
                    what = f"the checkpoint `{pair.key}` has neither keys here nor a {CONFIG}"
                    advice = f"write them here, or in {own}"
                    self._report(MISSING_FILE, what, Place(file, pair.line), advice)
                    continue
                read = read_file(own, self.findings)
                if read is None:
                    continue
                entry, entry_file = read, own
            if stage := self._stage(pair.key, entry, entry_file, position):
                yield stage

    def _pairs(self, node: Node, file: Path) -> list[Pair]:
        if isinstance(node, Mapping) and node.pairs:
            return list(node.pairs)
        if isinstance(node, Sequence) and node.items:
            texts = [(item, item.text) for item in node.items if isinstance(item, Scalar)]
            pairs = [Pair(text, item.line, Scalar(item.line, None)) for item, text in texts if text]
            if len(pairs) == len(node.items):
                self._refuse_misnamed(node, file, "each checkpoint is listed once")
                return pairs
        what = "`checkpoints` must be a mapping of names to checkpoints, or a list of folders"
        self._report(WRONG_VALUE, what, Place(file, node.line), "write at least one checkpoint")
        return []

    def _stage(self, name: str, node: Node, file: Path, position: int) -> _Stage | None:
        groups = node.get("groups") if isinstance(node, Mapping) else None
        if groups is not None:
            self._refuse_misnamed(groups, file, "a group is a name, or a mapping such as {name: a}")
        long = long_checkpoint(node)
        written = validated(WrittenCheckpoint, long, file, self.findings, is_strict=self.is_strict)
        if written is None:
            return None
        return _Stage(name, written, position, file, documents.places(long, file))

    def _refuse_misnamed(self, node: Node, file: Path, advice: str) -> None:
        for line, what in misnamed(node):
            self._report(WRONG_VALUE, what, Place(file, line), advice)

    def _problem(
        self, written: WrittenProblem, stages: list[_Stage], spots: dict[str, Place]
    ) -> ProblemConfig | None:
        stages = sorted(stages, key=lambda one: (one.written.order or one.position, one.position))
        checkpoints: dict[str, CheckpointConfig] = {}
        for stage in stages:
            checkpoint = self._checkpoint(stage, written)
            add_regressions(
                checkpoint, stage.written.regressions, checkpoints, stage.spots, self.findings
            )
            checkpoints[stage.name] = checkpoint
        self._check_assets(written, spots)
        for stage in stages:
            if not checkpoints[stage.name].groups:
                what = f"the checkpoint `{stage.name}` has no groups, so nothing is run"
                place = stage.spots.get("groups", stage.spots[""])
                self._report(NO_CASES, what, place, "name its groups under `groups`")
        if any(finding.level == "error" for finding in self.findings):
            return None
        fields = _given(written) | {
            "name": written.name or self.folder.resolve().name,
            "path": self.folder.resolve(),
            "adapter": written.adapter,
            "static_assets": written.static_assets,
            "checkpoints": checkpoints,
        }
        return ProblemConfig.model_validate(fields)

    def _checkpoint(self, stage: _Stage, problem: WrittenProblem) -> CheckpointConfig:
        written = stage.written
        folder = self.folder / (written.path or stage.name)
        if self.is_strict and not folder.is_dir():
            place = stage.spots.get("path", stage.spots[""])
            self._report(MISSING_FILE, f"there is no folder {folder}", place)
        timeout, env = written.timeout or problem.timeout, {**problem.env, **written.env}
        groups = {name: _group(name, group, timeout, env) for name, group in written.groups.items()}
        fields = _given(written) | {
            "name": stage.name,
            "order": written.order or stage.position,
            "path": folder.resolve(),
            "timeout": timeout,
            "env": env,
            "groups": groups,
        }
        fields.pop("regressions", None)
        return CheckpointConfig.model_validate(fields)

    def _check_assets(self, written: WrittenProblem, spots: dict[str, Place]) -> None:
        for name, asset in written.static_assets.items():
            if not (self.folder / asset.path).exists():
                place = spots[f"static_assets.{name}"]
                what = f"the static asset `{name}` does not exist: {self.folder / asset.path}"
                advice = "its path is relative to the problem"
                self.findings.append(Finding(MISSING_FILE, what, place, advice, self._level))
        adapter = written.adapter
        arguments = adapter.arguments if isinstance(adapter, ApiAdapter) else []
        for name in sorted(set(asset_names(arguments)) - written.static_assets.keys()):
            what = f"there is no static asset `{name}`"
            place, advice = spots["adapter.arguments"], nearest(name, written.static_assets)
            self.findings.append(Finding(UNKNOWN_NAME, what, place, advice, self._level))

    @property
    def _level(self) -> Level:
        """How grave it is that an asset is missing: code may have its own way to it."""
        return "error" if self.is_strict else "warning"

    def _report(self, code: str, what: str, place: Place, advice: str = "") -> None:
        self.findings.append(Finding(code, what, place, advice))


def _given(written: Any) -> dict[str, Any]:
    """The keys that were written, those of others too."""
    return {
        name: value
        for name, value in {**written.__dict__, **(written.__pydantic_extra__ or {})}.items()
        if name in written.model_fields_set
    }


def _group(
    name: str, written: WrittenGroup, timeout: float | None, env: dict[str, str]
) -> GroupConfig:
    own = {
        "name": name,
        "timeout": written.timeout or timeout,
        "env": {**env, **written.env},
    }
    return GroupConfig.model_validate(_given(written) | own)
