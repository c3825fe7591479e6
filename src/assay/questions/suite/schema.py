"""The published JSON Schema of a suite file, for editors and for whoever writes suites."""

from __future__ import annotations

import json
from importlib.resources import files

from assay.questions.suite.formats import SuiteFile


def schema_text() -> str:
    """The schema as it is shipped."""
    return files("assay.questions.suite").joinpath("schema.json").read_text(encoding="utf-8")


def make_schema() -> str:
    """The schema as the models of the formats say it; the shipped file must be the same."""
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **SuiteFile.model_json_schema(),
        "title": "Assay question suite",
    }
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"
