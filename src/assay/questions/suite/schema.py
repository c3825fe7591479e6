"""The JSON Schema of a suite file, for editors and for whoever writes suites."""

from __future__ import annotations

import json

from assay.questions.suite.formats import SuiteFile


def schema_text() -> str:
    """Return the schema as the models of the formats say it."""
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **SuiteFile.model_json_schema(),
        "title": "Assay question suite",
    }
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"
