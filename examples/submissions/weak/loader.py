"""Cases from one JSON file for every group."""

import json

from slop_code.evaluation.adapters import CLICase, CLIResult
from slop_code.evaluation.loaders import BaseLoader


class Loader(BaseLoader):
    def __call__(self, group, store):
        file = self.checkpoint.path / f"{group.name}.json"
        for name, given in json.loads(file.read_text(encoding="utf-8")).items():
            about = {"id": name, "group": group.name, "group_type": group.type}
            case = CLICase(**about, checkpoint=self.checkpoint.name, **given["case"])
            case.tracked_files = ["counts.json"]
            yield case, CLIResult(**about, **given["expected"])
