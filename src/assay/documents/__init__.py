"""YAML and JSON files whose every part knows its line, for all who read them."""

from assay.documents.tree import (
    DocumentError,
    Mapping,
    Node,
    Pair,
    Place,
    Repetition,
    Scalar,
    Sequence,
    parse_document,
    places,
    plain,
    read_document,
    repetitions,
    typed,
)

__all__ = [
    "DocumentError",
    "Mapping",
    "Node",
    "Pair",
    "Place",
    "Repetition",
    "Scalar",
    "Sequence",
    "parse_document",
    "places",
    "plain",
    "read_document",
    "repetitions",
    "typed",
]
