"""User documents: files read within limits, and one tree type for YAML, JSON, TOML and HOCON.

Every node knows its line and its character offsets. `read_model` validates a tree as a pydantic
model and reports every mistake; `change_value` edits one value in the text.
"""

from typing import TYPE_CHECKING, Any

from assay.documents.files import (
    LARGEST_DOCUMENT,
    LARGEST_RECORD,
    LARGEST_SETTINGS,
    LARGEST_SOURCE,
    MEGABYTE,
    MOST_PARTS,
    UnreadableFileError,
    has_too_many_parts,
    open_regular,
    read_bytes,
    read_record,
    read_text,
    replace_file,
)
from assay.documents.tree import (
    MISSING_KEY,
    DocumentError,
    InvalidValue,
    KeyPath,
    ListNode,
    MappingNode,
    Mistake,
    Node,
    Pair,
    Place,
    PlaceMap,
    Repetition,
    ScalarNode,
    find_lines,
    find_places,
    find_repetitions,
    is_nothing,
    parse_document,
    read_document,
    repeat_mistake,
    to_node,
    to_texts,
    to_values,
)

if TYPE_CHECKING:
    from assay.documents.edits import change_value, get_node
    from assay.documents.hocon_text import HoconError, read_hocon
    from assay.documents.json_text import parse_json
    from assay.documents.models import (
        find_unknown_keys,
        list_unknown_keys,
        print_schema,
        read_model,
    )
    from assay.documents.toml_text import read_toml, read_toml_tree
    from assay.documents.yaml_text import parse_yaml

# Imported when they are needed: pydantic and yaml take a tenth of a second.
_LATE = {
    "change_value": "edits",
    "find_unknown_keys": "models",
    "get_node": "edits",
    "list_unknown_keys": "models",
    "parse_json": "json_text",
    "parse_yaml": "yaml_text",
    "print_schema": "models",
    "read_model": "models",
    "HoconError": "hocon_text",
    "read_hocon": "hocon_text",
    "read_toml": "toml_text",
    "read_toml_tree": "toml_text",
}

__all__ = [
    "LARGEST_DOCUMENT",
    "LARGEST_RECORD",
    "LARGEST_SETTINGS",
    "LARGEST_SOURCE",
    "MEGABYTE",
    "MISSING_KEY",
    "MOST_PARTS",
    "DocumentError",
    "HoconError",
    "InvalidValue",
    "KeyPath",
    "ListNode",
    "MappingNode",
    "Mistake",
    "Node",
    "Pair",
    "Place",
    "PlaceMap",
    "Repetition",
    "ScalarNode",
    "UnreadableFileError",
    "change_value",
    "find_lines",
    "find_places",
    "find_repetitions",
    "find_unknown_keys",
    "get_node",
    "has_too_many_parts",
    "is_nothing",
    "list_unknown_keys",
    "open_regular",
    "parse_document",
    "parse_json",
    "parse_yaml",
    "print_schema",
    "read_bytes",
    "read_document",
    "read_hocon",
    "read_model",
    "read_record",
    "read_text",
    "read_toml",
    "read_toml_tree",
    "repeat_mistake",
    "replace_file",
    "to_node",
    "to_texts",
    "to_values",
]


if not TYPE_CHECKING:  # mypy would take every name for one of these

    def __getattr__(name: str) -> Any:
        if name not in _LATE:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from importlib import import_module

        return getattr(import_module(f"{__name__}.{_LATE[name]}"), name)
