"""Help for problem authors: JSON Schemas for editors, and a starter problem."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from assay import plugins
from assay.documents import print_schema
from assay.starters import write_starter

if TYPE_CHECKING:
    from assay.submissions.adapters import AdapterType


KINDS = ("config", "group", "case")


def schema_text(kind: str | None = None) -> str:
    """Return the schema of all three kinds of files, or of one of them."""
    from assay.submissions.adapters import ADAPTERS
    from assay.submissions.declarative.case_files import CaseFile, GroupFile
    from assay.submissions.problems.written import WrittenCheckpoint, WrittenProblem

    adapters = {**ADAPTERS, **plugins.load_all("adapters")}
    models: dict[str, type[BaseModel]] = {
        **{one.config.__name__: one.config for one in adapters.values()},
        "config": WrittenProblem,
        "group": GroupFile,
        "case": CaseFile,
        "checkpoint": WrittenCheckpoint,
    }
    definitions: dict[str, Any] = {}
    for name, model in models.items():
        made = model.model_json_schema(by_alias=True, ref_template="#/$defs/{model}")
        definitions |= made.pop("$defs", {})
        definitions[name] = made
    _close(definitions)
    _open_short_forms(definitions, adapters)
    _describe_checks(definitions)
    title = "Assay problem: config.yaml, a group file or a case file"
    every = {"title": title, "anyOf": [{"$ref": f"#/$defs/{name}"} for name in KINDS]}
    chosen = every if kind is None else {"$ref": f"#/$defs/{kind}"}
    name = "problem" if kind is None else f"problem-{kind}"
    return print_schema(name, {**chosen, "$defs": dict(sorted(definitions.items()))})


def _close(definitions: dict[str, Any]) -> None:
    """Make unknown keys a mistake, although reading accepts them."""
    for definition in definitions.values():
        if definition.get("type") == "object" and "properties" in definition:
            definition["additionalProperties"] = False


def _open_short_forms(definitions: dict[str, Any], adapters: Mapping[str, AdapterType]) -> None:
    """Allow the short forms that the models do not describe."""
    text, nothing = {"type": "string"}, {"type": "null"}
    config = definitions["config"]["properties"]
    config["checkpoints"] = {
        "anyOf": [
            _mapping({"anyOf": [{"$ref": "#/$defs/checkpoint"}, nothing]}),
            {"type": "array", "items": text, "minItems": 1},
        ]
    }
    configs = [{"$ref": f"#/$defs/{one.config.__name__}"} for one in adapters.values()]
    config["adapter"] = {"anyOf": [{"enum": list(adapters)}, *configs]}
    config["static_assets"] = _mapping({"anyOf": [text, {"$ref": "#/$defs/StaticAsset"}]})
    for name in ("checkpoint", "WrittenCheckpoint"):
        if name in definitions:
            _open_checkpoint(definitions[name]["properties"], text, nothing)
    _texts(definitions)


def _open_checkpoint(checkpoint: dict[str, Any], text: Any, nothing: Any) -> None:
    group, rule = {"$ref": "#/$defs/WrittenGroup"}, {"$ref": "#/$defs/RegressionRule"}
    checkpoint["groups"] = {
        "anyOf": [
            _mapping({"anyOf": [group, nothing]}),
            {"type": "array", "items": {"anyOf": [text, group]}},
        ]
    }
    one = {"anyOf": [text, rule]}
    checkpoint["regressions"] = {"anyOf": [text, rule, {"type": "array", "items": one}]}


def _mapping(values: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "additionalProperties": values}


def _texts(definitions: dict[str, Any]) -> None:
    """Variables and arguments may be written as numbers; they are read as they are written."""
    scalar = {"type": ["string", "number", "boolean"]}
    for definition in definitions.values():
        for name, schema in definition.get("properties", {}).items():
            if name == "env":
                schema["additionalProperties"] = scalar
            elif name == "arguments":
                schema["items"] = scalar


def _describe_checks(definitions: dict[str, Any]) -> None:
    """Allow a check where a value is expected, so that editors offer the names of checks."""
    from assay.checks import check_names

    check = {
        "type": "object",
        "required": ["check", "value"],
        "properties": {
            "check": {"enum": check_names()},
            "value": True,
            "weight": {"type": "number", "exclusiveMinimum": 0},
        },
    }
    is_value = {"not": {"type": "object", "required": ["check"]}}
    definitions["Check"] = check
    one = {"anyOf": [{"$ref": "#/$defs/Check"}, is_value]}
    properties = definitions["Expected"]["properties"]
    for name in ("status_code", "output", "stderr", "timed_out"):
        properties[name] = one
    for name in ("headers", "files", "checks"):
        properties[name] = _mapping(one)


def write_problem(folder: Path, *, is_api: bool) -> list[Path]:
    """Write the files of a new problem and return them; never write to a non-empty folder."""
    templates = resources.files("assay.submissions") / "templates" / ("api" if is_api else "cli")
    return write_starter(templates, folder, {"NAME": folder.name}, {"schema.json": schema_text()})
