"""Parses the output of a program into values to compare."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterable
from typing import Any, TypeAlias

from assay.model import CaseResult
from assay.submissions.slopcode.models import VerifierError

ResultAttributeValue: TypeAlias = Any
_UNESCAPED_PIPE = re.compile(r"(?<!\\)\|")
_RULE = re.compile(r"(?=.*[-=])[\s|:=+-]+")


def convert_to_io(val: str | bytes) -> io.StringIO | io.BytesIO:
    """Return a text or binary stream of the content."""
    if isinstance(val, str):
        return io.StringIO(val)
    if isinstance(val, bytes):
        return io.BytesIO(val)
    raise ValueError(f"a stream is made of text or bytes, not of {type(val).__name__}")


def ensure_non_null_string(val: ResultAttributeValue, allow_empty: bool = False) -> str:
    """Return the value as text, nothing as the empty text, which has to be allowed."""
    if val is None:
        text = ""
    elif isinstance(val, bytes):
        text = _decode(val, "utf-8", "the value")
    else:
        text = str(val)
    if not text.strip() and not allow_empty:
        raise VerifierError("the value is empty")
    return text


def ensure_expected_is_not_none(expected: ResultAttributeValue, decode: str = "utf-8") -> Any:
    """Return the expected value, bytes as text; raise VerifierError if there is none."""
    if expected is None:
        raise VerifierError("the case expects a value here and gives none")
    return _decode(expected, decode, "the expected value")


def extract_actual_output(
    actual: CaseResult,
    split_output_on: str | None = None,
    split_output_index: int = -1,
    output_key: str = "output",
    decode: str = "utf-8",
    *,
    strip: bool = False,
) -> Any:
    """Return an attribute of the result as text, perhaps only the part between separators."""
    if not hasattr(actual, output_key):
        raise VerifierError(f"the result has no attribute {output_key!r}")
    output = _decode(getattr(actual, output_key), decode, f"the attribute {output_key!r}")
    if not isinstance(output, str):
        return output
    part = maybe_split_string(output, split_output_on, split_output_index)
    return part.strip() if strip else part


def maybe_split_string(
    content: str | None, split_output_on: str | None = None, split_output_index: int = -1
) -> str:
    """Return a part of the text between separators; raise VerifierError if there is none."""
    if content is None:
        return ""
    if not split_output_on:
        return content
    parts = content.split(split_output_on)
    try:
        return parts[split_output_index]
    except IndexError:
        # Nothing in its place would equal whatever else is missing.
        what = f"there is no part {split_output_index} between {split_output_on!r}"
        raise VerifierError(f"{what}: the text has {len(parts)}") from None


def parse_markdown_table(
    content: str | bytes | None, allow_errors: bool = False
) -> list[dict[str, Any]]:
    """Return the rows of a Markdown table by its headings, every cell as text; [] of nothing.

    Columns without a heading are left out. The rule below the headings may be missing: what
    stands there instead is a row, and never dropped.
    """
    lines = [line.strip() for line in _text(content).splitlines() if line.strip()]
    if not lines:
        return []
    heading, has_rule = lines[0], len(lines) > 1 and _RULE.fullmatch(lines[1]) is not None
    names = _split(heading, heading)
    rows = [_split(line, heading) for line in lines[2 if has_rule else 1 :]]
    if "|" not in heading and not has_rule:
        error = "the first line has no columns"
    elif any(len(row) != len(names) for row in rows):
        error = "a row has more or fewer cells than the heading"
    else:
        return [{name: cell for name, cell in zip(names, row, strict=True) if name} for row in rows]
    if not allow_errors:
        raise VerifierError(f"not a Markdown table: {error}")
    return [{"error": "Invalid markdown table"}]


def _split(line: str, heading: str) -> list[str]:
    """Return the cells of a line; a bar at its edge is none if the heading has one there."""
    cells = [cell.strip().replace("\\|", "|") for cell in _UNESCAPED_PIPE.split(line)]
    if heading.startswith("|") and not cells[0]:
        del cells[0]
    if heading.endswith("|") and cells and not cells[-1]:
        del cells[-1]
    return cells


def drop_keys_from_dicts(
    dicts: list[dict[str, Any]], keys: Iterable[str] | None = None
) -> list[dict[str, Any]]:
    """Return the dictionaries without these keys."""
    unwanted = set(keys or ())
    return [{key: value for key, value in each.items() if key not in unwanted} for each in dicts]


def parse_csv_content(
    content: ResultAttributeValue, allows_error: bool = True
) -> list[dict[str, Any]]:
    """Return the rows of a CSV text, numbers as numbers and empty cells as None.

    What is no text is taken as read already.
    """
    if content is None:
        return []
    if isinstance(content, list | dict):
        return _as_list(content)
    if not isinstance(content, str | bytes):
        raise VerifierError(f"CSV is read from text, not from {type(content).__name__}")
    import pandas  # type: ignore[import-untyped]

    try:
        frame = pandas.read_csv(convert_to_io(content)).astype(object)
    except pandas.errors.EmptyDataError as error:
        if not allows_error:
            raise VerifierError("not CSV: there is nothing") from error
        return []
    except (ValueError, TypeError) as error:
        if not allows_error:
            raise VerifierError(f"not CSV: {error}") from error
        return [{"error": "Invalid CSV"}]
    rows: list[dict[str, Any]] = frame.where(frame.notna(), None).to_dict(orient="records")
    return rows


def parse_yaml_file(
    result: CaseResult, file_name: str, decode: str = "utf-8", allow_missing: bool = False
) -> Any:
    """Return a file of the result, read as YAML."""
    if file_name not in result.files:
        if allow_missing:
            return {}
        raise VerifierError(f"the result has no file {file_name!r}")
    files: Any = result.files
    return parse_yaml(files[file_name], decode)


def parse_yaml(content: Any, decode: str = "utf-8") -> Any:
    """YAML as values; {} of nothing, and what is no text is taken as read already.

    What is no YAML gives an answer that equals no expectation: {} would equal an expected {}.
    """
    import yaml

    text = _decode(content, decode, "the content")
    if not isinstance(text, str):
        return {} if text is None else text
    if not text.strip():
        return {}
    try:
        return yaml.safe_load(text)
    except yaml.YAMLError:
        return {"error": "Invalid YAML"}


def parse_jsonl(content: Any, decode: str = "utf-8") -> list[Any]:
    """Return one JSON value per line; lines that are none are passed over."""
    text = _decode(content, decode, "the content")
    if not isinstance(text, str):
        return [] if text is None else _as_list(text)
    found = []
    for line in text.splitlines():
        try:
            found.append(json.loads(line))
        except ValueError:
            continue
    return found


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def parse_json(content: Any, decode: str = "utf-8", *, allow_invalid: bool = False) -> Any:
    """JSON as values; {} of nothing, and what is no text is taken as read already."""
    text = _decode(content, decode, "the content")
    if not isinstance(text, str):
        return {} if text is None else text
    if not text.strip():
        return {}
    try:
        return json.loads(text)
    except ValueError as error:
        if not allow_invalid:
            raise VerifierError(f"not JSON: {error}") from error
        return {"error": "Invalid JSON"}


def _text(content: str | bytes | None) -> str:
    text = _decode(content, "utf-8", "the content")
    return text if isinstance(text, str) else ""


def _decode(value: Any, encoding: str, name: str) -> Any:
    if not isinstance(value, bytes):
        return value
    try:
        return value.decode(encoding)
    except UnicodeDecodeError as error:
        raise VerifierError(f"{name} is not {encoding} text: {error}") from error
