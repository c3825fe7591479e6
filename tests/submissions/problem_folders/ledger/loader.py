"""Cases of all three shapes: a JSON file per group, a YAML file per case, a folder per case."""

import json
import shlex
from collections.abc import Generator
from pathlib import Path

import tomli
import yaml
from ledger.words import EXPECTED
from slop_code.evaluation import CheckpointConfig, GroupConfig, GroupType, ProblemConfig
from slop_code.evaluation.adapters import CLICase, CLIResult
from slop_code.evaluation.loaders import BaseLoader, CaseStore, LoaderError, NoOpStore, helpers
from slop_code.execution.file_ops import Compression, FileType, InputFile
from slop_code.logging import get_logger

logger = get_logger(__name__)
Cases = Generator[tuple[CLICase, CLIResult], None, None]


class Loader(BaseLoader):
    def __init__(
        self,
        problem: ProblemConfig,
        checkpoint: CheckpointConfig,
        *,
        use_placeholders: bool = False,
    ) -> None:
        super().__init__(problem, checkpoint, use_placeholders=use_placeholders)
        logger.info("made", checkpoint=checkpoint.name, placeholders=self.use_placeholders)

    def initialize_store(self) -> CaseStore:
        return NoOpStore()

    def __call__(self, group: GroupConfig, store: CaseStore) -> Cases:
        assert isinstance(store, CaseStore)
        shapes = {"core": self.of_json, "workflow": self.of_folders, "exports": self.of_exports}
        yield from shapes.get(group.get_real_name(), self.of_yaml)(group)

    def made(self, group: GroupConfig, name: str, arguments: list[str], expected: dict, **more):
        about = {"id": name, "group": group.name, "group_type": group.type}
        case = CLICase(
            **about,
            checkpoint=self.checkpoint.name,
            original_group=group.original_group,
            original_checkpoint=group.original_checkpoint,
            arguments=arguments,
            **more,
        )
        return case, CLIResult(**about, **expected)

    def of_json(self, group: GroupConfig) -> Cases:
        folder = helpers.get_chkpt_path(group, self.problem, self.checkpoint)
        file = folder / f"{group.get_real_name()}.json"
        if not file.is_file():
            raise LoaderError(f"there is no {file}")
        for name, written in sorted(json.loads(file.read_text()).items()):
            # Arguments stay quoted: the line is split again when the program is started.
            start = "total" if "only_arguments" in written else group.case_defaults["arguments"]
            files = [InputFile.model_validate(each) for each in written["files"]]
            gzipped = [each for each in files if each.compression == Compression.GZIP]
            assert len(gzipped) == (name == "gzip")
            expected = {"output": written["expected"]}
            words = [*start.split(), written["arguments"]]
            yield self.made(group, name, words, expected, input_files=files)

    def of_yaml(self, group: GroupConfig) -> Cases:
        folder = helpers.get_group_path(group, self.problem, self.checkpoint)
        is_error = GroupType.ERROR in (group.type, group.get("original_type"))
        for file in helpers.get_files_from_globs(folder, ["*.yaml"]):
            written = yaml.safe_load((folder / file).read_text())
            assert is_error == (written["expected"]["status_code"] != 0)
            words = shlex.split(written["case"]["arguments"])
            yield self.made(group, file.stem, words, written["expected"])

    def of_folders(self, group: GroupConfig) -> Cases:
        folder = helpers.get_group_path(
            group=group, problem=self.problem, checkpoint=self.checkpoint
        )
        book = tomli.loads((folder / group.group_files[0]).read_text())["open"]
        for case_dir in helpers.discover_dir_cases(group, folder):
            expected = yaml.safe_load((case_dir / EXPECTED).read_text())
            names = helpers.get_files_from_globs(
                case_dir, ["*"], exclude={"ARGS", EXPECTED, "*.txt"}
            )
            files = [InputFile.from_path(relative_to=case_dir, path=name) for name in names]
            if "rows" in expected:
                expected["output"] = expected.pop("rows")
            yield self.made(
                group,
                case_dir.name,
                [(case_dir / "ARGS").read_text().strip()],
                expected,
                input_files=files,
                tracked_files=[book],
            )

    def of_exports(self, group: GroupConfig) -> Cases:
        at = helpers.get_actual_checkpoint(group, self.problem, self.checkpoint)
        folder = helpers.get_group_path(group, self.problem, self.checkpoint)
        entries = InputFile.from_absolute(
            path=folder / "entries.csv", save_path=Path("in/entries.csv"), file_type=FileType.TEXT
        )
        for file in sorted(folder.glob("*.yaml")):
            written = yaml.safe_load(file.read_text())
            out = written["case"]["file"]
            words = f"export --rates {{{{static:rates}}}} --title {at} --out {out} in/entries.csv"
            expected = {"files": {out: {"title": at, **written["expected"]}}}
            yield self.made(
                group,
                file.stem,
                words.split(),
                expected,
                input_files=[entries],
                tracked_files=[out],
            )
