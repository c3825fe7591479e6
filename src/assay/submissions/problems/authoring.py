"""Help for problem authors: JSON Schemas for editors, and a starter problem."""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from assay import plugins
from assay.documents import print_schema
from assay.errors import InputError

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
    return print_schema({**chosen, "$defs": dict(sorted(definitions.items()))})


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


# Programs are kept as text, so that nobody takes them for modules of Assay.
_AS_TEXT = ".txt"


def write_problem(folder: Path, *, is_api: bool) -> list[Path]:
    """Write the files of a new problem and return them; never write to a non-empty folder."""
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_-]*", folder.name):
        raise InputError(
            f"{folder.name!r} is not a valid name for a problem",
            advice="letters, digits, _ and -, beginning with a letter, such as word_count",
        )
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError("exists already", where=str(folder), advice="choose another name")
    templates = resources.files("assay.submissions").joinpath("templates")
    return _copy_templates(templates.joinpath("api" if is_api else "cli"), folder, folder.name)


def _copy_templates(source: Traversable, folder: Path, name: str) -> list[Path]:
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for each in sorted(source.iterdir(), key=lambda one: (one.is_dir(), one.name)):
        if each.is_dir():
            written += _copy_templates(each, folder / each.name, name)
            continue
        path = folder / each.name.removesuffix(_AS_TEXT)
        text = each.read_text(encoding="utf-8").replace("NAME", name)
        path.write_text(text, encoding="utf-8")
        written.append(path)
    return written
