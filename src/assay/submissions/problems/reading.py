"""Reads a problem folder into a merged `ProblemConfig`; every mistake has a line number."""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from assay.documents import (
    ListNode,
    MappingNode,
    Node,
    Pair,
    Place,
    PlaceMap,
    ScalarNode,
    find_places,
    is_nothing,
)
from assay.errors import InputError, nearest
from assay.findings import Finding, Severity, refuse_errors
from assay.submissions.assets import asset_names
from assay.submissions.config import (
    CheckpointConfig,
    GroupConfig,
    ProblemConfig,
    check_inside,
)
from assay.submissions.misspelling import names_read, near_miss, nearest_file, parse_code
from assay.submissions.problems.fields import (
    MISSING_FILE,
    NO_CASES,
    UNKNOWN_NAME,
    UNVERIFIED,
    WRONG_VALUE,
    Model,
    find_doubtful_keys,
    find_repeated_keys,
    keep_last_keys,
    read_mapping,
    to_model,
)
from assay.submissions.problems.regressions import add_regressions
from assay.submissions.problems.written import (
    WrittenCheckpoint,
    WrittenGroup,
    WrittenProblem,
    expand_checkpoint,
    expand_problem,
    find_misnamed,
)

CONFIG = "config.yaml"
LOADER = "loader.py"
VERIFIER = "verifier.py"
# The files that can be code of a problem, and the classes in them.
_CODE = {"loader": "Loader", "verifier": "Verifier"}


def find_problem(name: str | Path, problem_path: Path = Path("problems")) -> Path:
    """Return the folder of a problem, by its path or by its name among the problems."""
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


def read_problem(
    folder: str | Path,
    on_warning: Callable[[Finding], None] | None = None,
    *,
    allows_outside: bool = False,
) -> ProblemConfig:
    """Return the problem in a folder; raise InputError, with file and line, for a mistake.

    `on_warning` gets doubtful settings that do not prevent a run.
    """
    problem, findings = examine_problem(Path(folder), allows_outside=allows_outside)
    refuse_errors(findings, "submissions")
    if on_warning is not None:
        for finding in findings:
            on_warning(finding)
    assert problem is not None, "whatever cannot be read has a finding"
    return problem


def examine_problem(
    folder: Path, *, allows_outside: bool = False
) -> tuple[ProblemConfig | None, list[Finding]]:
    """Return the problem in a folder, if it can be read, and all problems of its config."""
    reader = _Reader(folder, allows_outside)
    return reader.read(), reader.findings


@dataclass
class _Stage:
    """A checkpoint as it was written, and where."""

    name: str
    written: WrittenCheckpoint
    position: int
    file: Path
    spots: PlaceMap


@dataclass
class _Reader:
    folder: Path
    allows_outside: bool = False
    findings: list[Finding] = field(default_factory=list)
    is_strict: bool = True

    def read(self) -> ProblemConfig | None:
        file = self.folder / CONFIG
        self.is_strict = not (self.folder / LOADER).is_file()
        if self._leaves(file, Place(file, 1)):
            return None
        root = read_mapping(file, self.findings)
        if root is None:
            return None
        # Folders with code of their own were written for others too, and carry their keys.
        self.is_strict = not (self.folder / _loader_script(root)).is_file()
        root = expand_problem(self._without_repetitions(root, file))
        self._check_code(root, file)
        written = self._read_model(WrittenProblem, root, file)
        stages = list(self._stages(root.get("checkpoints"), file))
        if written is None or any(finding.severity == "error" for finding in self.findings):
            return None
        return self._problem(written, stages, find_places(root, file))

    def _without_repetitions(self, node: MappingNode, file: Path) -> MappingNode:
        """Report repeated keys; the reference uses the last one."""
        self.findings += find_repeated_keys(node, file, self._severity)
        last = keep_last_keys(node)
        assert isinstance(last, MappingNode)
        return last

    def _read_model(self, model: type[Model], node: Node, file: Path) -> Model | None:
        written = to_model(model, node, file, self.findings, is_strict=self.is_strict)
        if not self.is_strict:
            self.findings += find_doubtful_keys(model, node, file, self._names_read.__contains__)
        return written

    @functools.cached_property
    def _names_read(self) -> set[str]:
        return names_read(self.folder, in_mappings=True)

    def _check_code(self, root: MappingNode, file: Path) -> None:
        """Report code of the problem that is never called, although its author relies on it."""
        script, loader = _loader_script(root), self.folder / LOADER
        if not self.is_strict:
            if script != LOADER and loader.is_file() and not _imports(self.folder / script):
                what = f"this file is not used, because `loader_script` is {script}"
                advice = f"import it in {script}, or remove it"
                self.findings.append(
                    Finding(UNVERIFIED, what, Place(loader, 1), advice, severity="warning")
                )
            return
        for key in ("loader_script", "loader_entrypoint"):
            if key in (pair.key for pair in root.pairs):
                what = f"`{key}` is given, and there is no file {self.folder / script}"
                place = find_places(root, file)[key]
                self._report(MISSING_FILE, what, place, nearest_file(self.folder, script))
                return
        self._refuse_unused(self.folder, f"the problem has no {LOADER}")

    def _refuse_unused(self, folder: Path, why: str) -> None:
        """Report loaders and verifiers of a problem whose cases are compared without any."""
        for code in sorted(folder.glob("*.py")):
            is_named_so = folder == self.folder and (
                code.name in (LOADER, VERIFIER) or near_miss(code.stem, _CODE)
            )
            if is_named_so or not _classes(code).isdisjoint(_CODE.values()):
                what = f"this file is not used, because {why}"
                advice = (
                    f"put {LOADER}, which gives the cases, and {VERIFIER} beside {CONFIG} "
                    "(docs/verifiers.md); or remove it: without them cases are compared with "
                    "what they expect"
                )
                self._report(UNVERIFIED, what, Place(code, 1), advice)

    def _stages(self, node: Node | None, file: Path) -> Iterator[_Stage]:
        """Yield the checkpoints of a mapping, or of the folders that a list names."""
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
                if self._leaves(own, Place(file, pair.line)):
                    continue
                read = read_mapping(own, self.findings)
                if read is None:
                    continue
                entry, entry_file = self._without_repetitions(read, own), own
            if stage := self._stage(pair.key, entry, entry_file, position):
                yield stage

    def _pairs(self, node: Node, file: Path) -> list[Pair]:
        if isinstance(node, MappingNode) and node.pairs:
            return list(node.pairs)
        if isinstance(node, ListNode) and node.items:
            texts = [(item, item.text) for item in node.items if isinstance(item, ScalarNode)]
            pairs = [
                Pair(text, item.line, ScalarNode(item.line, None)) for item, text in texts if text
            ]
            if len(pairs) == len(node.items):
                self._refuse_misnamed(node, file, "each checkpoint is listed once")
                return pairs
        what = "`checkpoints` must be a mapping of names to checkpoints, or a list of folders"
        self._report(WRONG_VALUE, what, Place(file, node.line), "write at least one checkpoint")
        return []

    def _stage(self, name: str, node: Node, file: Path, position: int) -> _Stage | None:
        groups = node.get("groups") if isinstance(node, MappingNode) else None
        if groups is not None:
            self._refuse_misnamed(groups, file, "a group is a name, or a mapping such as {name: a}")
        long = expand_checkpoint(node)
        written = self._read_model(WrittenCheckpoint, long, file)
        if written is None:
            return None
        return _Stage(name, written, position, file, find_places(long, file))

    def _refuse_misnamed(self, node: Node, file: Path, advice: str) -> None:
        for line, what in find_misnamed(node):
            self._report(WRONG_VALUE, what, Place(file, line), advice)

    def _problem(
        self, written: WrittenProblem, stages: list[_Stage], spots: PlaceMap
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
        if any(finding.severity == "error" for finding in self.findings):
            return None
        fields = _list_given(written) | {
            "name": written.name or self.folder.resolve().name,
            "path": self.folder.resolve(),
            "adapter": written.adapter,
            "static_assets": written.static_assets,
            "checkpoints": checkpoints,
            "allows_outside": self.allows_outside,
        }
        return ProblemConfig.model_validate(fields)

    def _checkpoint(self, stage: _Stage, problem: WrittenProblem) -> CheckpointConfig:
        written = stage.written
        folder = self.folder / (written.path or stage.name)
        if self.is_strict:
            place = stage.spots.get("path", stage.spots[""])
            is_elsewhere = self._leaves(folder, place)
            if not is_elsewhere and not folder.is_dir():
                self._report(MISSING_FILE, f"there is no folder {folder}", place)
            if not is_elsewhere and folder.resolve() != self.folder.resolve():
                self._refuse_unused(folder, "it is not beside the problem's config")
        timeout, env = written.timeout or problem.timeout, {**problem.env, **written.env}
        groups = {name: _group(name, group, timeout, env) for name, group in written.groups.items()}
        fields = _list_given(written) | {
            "name": stage.name,
            "order": written.order or stage.position,
            "path": folder.resolve(),
            "timeout": timeout,
            "env": env,
            "groups": groups,
        }
        fields.pop("regressions", None)
        return CheckpointConfig.model_validate(fields)

    def _check_assets(self, written: WrittenProblem, spots: PlaceMap) -> None:
        for name, asset in written.static_assets.items():
            if self._leaves(self.folder / asset.path, spots[f"static_assets.{name}"]):
                continue
            if not (self.folder / asset.path).exists():
                place = spots[f"static_assets.{name}"]
                what = f"the static asset `{name}` does not exist: {self.folder / asset.path}"
                advice = "its path is relative to the problem"
                self.findings.append(
                    Finding(MISSING_FILE, what, place, advice, severity=self._severity)
                )
        arguments = asset_names(written.adapter.get("arguments"))
        for name in sorted(set(arguments) - written.static_assets.keys()):
            what = f"there is no static asset `{name}`"
            place, advice = spots["adapter.arguments"], nearest(name, written.static_assets)
            self.findings.append(
                Finding(UNKNOWN_NAME, what, place, advice, severity=self._severity)
            )

    def _leaves(self, path: Path, place: Place) -> bool:
        """Return whether a path leads out of the problem, with a finding if it must not."""
        if self.allows_outside or not self.is_strict:
            return False
        try:
            check_inside(self.folder, path)
        except InputError as error:
            what = f"{error.where} {error.what}"
            self._report(WRONG_VALUE, what, place, error.advice or "")
            return True
        return False

    @property
    def _severity(self) -> Severity:
        """Return the severity: code may find an asset itself, and the reference may use a key."""
        return "error" if self.is_strict else "warning"

    def _report(self, code: str, what: str, place: Place, advice: str = "") -> None:
        self.findings.append(Finding(code, what, place, advice))


def _loader_script(root: MappingNode) -> str:
    script = root.get("loader_script")
    return script.text if isinstance(script, ScalarNode) and script.text else LOADER


def _imports(file: Path) -> bool:
    """Return whether code imports a module called `loader`."""
    modules = (
        f"{getattr(node, 'module', None) or ''}.{one.name}"
        for node in ast.walk(parse_code(file))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for one in node.names
    )
    return any("loader" in module.split(".") for module in modules)


def _classes(file: Path) -> set[str]:
    """Return the classes that a file of Python defines."""
    return {node.name for node in parse_code(file).body if isinstance(node, ast.ClassDef)}


def _list_given(written: Any) -> dict[str, Any]:
    """Return the keys that were written, those of others too."""
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
    return GroupConfig.model_validate(_list_given(written) | own)
