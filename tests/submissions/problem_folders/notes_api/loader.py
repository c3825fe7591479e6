"""Cases that use the ids of earlier answers."""

import json
from collections.abc import Generator
from pathlib import Path

import jinja2
import structlog
from slop_code.evaluation import GroupConfig
from slop_code.evaluation.adapters import APICase, APIResult, GroupType
from slop_code.evaluation.loaders import BaseLoader, CaseStore, helpers

logger = structlog.get_logger()


class NoteStore:
    def __init__(self) -> None:
        self.ids: dict[str, str] = {}

    def update(self, case: APICase, result: APIResult, expected: APIResult) -> None:
        assert case.id == expected.id
        if case.method == "POST" and isinstance(result.output, dict):
            self.ids[case.id] = result.output.get("id", "none")
            logger.info("kept", case=case.id)


class Loader(BaseLoader):
    def initialize_store(self) -> CaseStore:
        return NoteStore()

    def __call__(
        self, group: GroupConfig, store: CaseStore
    ) -> Generator[tuple[APICase, APIResult], None, None]:
        folder: Path = helpers.get_chkpt_path(group, self.problem, self.checkpoint)
        cases = json.loads((folder / f"{group.get_real_name()}.json").read_text())
        for name, written in sorted(cases.items(), key=lambda each: (each[1]["order"], each[0])):
            request = written["input"]
            request["path"] = jinja2.Template(request["path"]).render(ids=store.ids)
            about = {"id": name, "group": group.name, "group_type": GroupType(group.type)}
            case = APICase(
                **about,
                checkpoint=self.checkpoint.name,
                order=written["order"],
                original_group=group.original_group,
                original_checkpoint=group.original_checkpoint,
                **request,
            )
            yield case, APIResult(**about, resource_path=request["path"], **written["expected"])
