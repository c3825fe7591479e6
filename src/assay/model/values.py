"""The values in cases: JSON and bytes, stored without loss as strict JSON.

Bytes and non-finite floats become objects with one tagged key; a user object that looks like such a
tag is wrapped, so that the two cannot be confused.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import math
from collections.abc import Callable, Iterable
from json.encoder import encode_basestring_ascii
from typing import Annotated, Any, TypeAlias, TypeVar

import pydantic_core
from pydantic import BaseModel, GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import CoreSchema, core_schema

BYTES_TAG = "$bytes"
FLOAT_TAG = "$float"
OBJECT_TAG = "$object"
_TAGS = frozenset({BYTES_TAG, FLOAT_TAG, OBJECT_TAG})
_PLAIN = frozenset({str, int, bool, type(None)})
_UNCHANGEABLE = _PLAIN | {float, bytes}
_SIMPLE = frozenset({str, bool, type(None)})

# Deeper values and longer integers are refused when they come in, so that writing them out can
# never fail: Python itself does not write integers of more than 4,300 digits.
MAX_DEPTH = 200
MAX_BITS = 14_000


def check_value(value: Any) -> Any:
    """Return the value if it is JSON or bytes all the way down; raise ValueError with the place."""
    # The scalars come first: nearly every value is one, and this runs for every attribute.
    if type(value) in _SIMPLE:
        return value
    problem = _problem(value, "$", MAX_DEPTH)
    if problem:
        raise ValueError(problem)
    return value


def _problem(value: Any, path: str, depth: int) -> str | None:
    kind = type(value)
    if kind in _SIMPLE or kind is float or kind is bytes:
        return None
    if kind is int:
        too_long = value.bit_length() > MAX_BITS
        return f"{path}: an integer of this length cannot be written" if too_long else None
    if kind not in (list, dict):
        return f"{path}: {kind.__name__} is neither JSON nor bytes"
    if depth == 0:
        return f"nested more than {MAX_DEPTH} levels deep"
    if kind is list:
        inner = ((f"{path}[{position}]", item) for position, item in enumerate(value))
    else:
        for key in value:
            if type(key) is not str:
                return f"{path}: the key {key!r} is {type(key).__name__}, keys must be text"
        inner = ((f"{path}.{key}", item) for key, item in value.items())
    for place, item in inner:
        if problem := _problem(item, place, depth - 1):
            return problem
    return None


def to_json(value: Any) -> Any:
    """Turn a value into strict JSON, with bytes and non-finite floats tagged."""
    kind = type(value)
    if kind in _PLAIN:
        return value
    if kind is float:
        return value if math.isfinite(value) else {FLOAT_TAG: repr(value)}
    if kind is bytes:
        return {BYTES_TAG: base64.b64encode(value).decode("ascii")}
    if kind is list:
        return [to_json(item) for item in value]
    if kind is dict:
        encoded = {key: to_json(item) for key, item in value.items()}
        if len(value) == 1 and not _TAGS.isdisjoint(value):
            return {OBJECT_TAG: encoded}
        return encoded
    raise TypeError(f"{kind.__name__} is neither JSON nor bytes")


def from_json(value: Any) -> Any:
    """Return the inverse of `to_json`; raises ValueError for a tag that `to_json` never writes."""
    kind = type(value)
    if kind is list:
        return [from_json(item) for item in value]
    if kind is not dict:
        return value
    if len(value) == 1:
        ((key, item),) = value.items()
        if key in _TAGS:
            return _from_tag(key, item)
    return {key: from_json(item) for key, item in value.items()}


def _from_tag(tag: str, item: Any) -> Any:
    if tag == OBJECT_TAG and type(item) is dict:
        return {key: from_json(inner) for key, inner in item.items()}
    if tag == FLOAT_TAG and item in ("nan", "inf", "-inf"):
        return float(item)
    if tag == BYTES_TAG and type(item) is str:
        try:
            return base64.b64decode(item, validate=True)
        except binascii.Error as error:
            raise ValueError(f"{tag}: {error}") from None
    raise ValueError(f"{{{tag!r}: …}} is not a value Assay wrote")


def _writer(*, sort_keys: bool) -> Callable[[Any, int], Iterable[str]]:
    """Return what `JSONEncoder.encode` joins, made once and not for every value."""
    encoder = json.JSONEncoder(
        allow_nan=False, separators=(",", ":"), check_circular=False, sort_keys=sort_keys
    )
    make = getattr(json.encoder, "c_make_encoder", None)
    if make is None:
        return lambda value, _: encoder.encode(value)
    write: Callable[[Any, int], Iterable[str]] = make(
        None, encoder.default, encode_basestring_ascii, None, ":", ",", sort_keys, False, False
    )
    return write


_write = _writer(sort_keys=False)
_write_sorted = _writer(sort_keys=True)


def encode_value(value: Any, *, is_plain: bool = False) -> str:
    """Return one line of strict JSON text for any value; `decode` gives it back without loss.

    ASCII where a lone surrogate, which JSON text may contain, has no other safe form on disk.
    `is_plain` promises that there are no bytes and only finite floats in it, which is faster.
    """
    return encode_bytes(value, is_plain=True).decode() if is_plain else _encode(value, _write)


def encode_bytes(value: Any, *, is_plain: bool = False) -> bytes:
    """Return what `encode` gives, as it is written to a file."""
    if is_plain:
        try:
            text: bytes = pydantic_core.to_json(value)
        except ValueError:
            return _encode(value, _write).encode()
        # One character is found much faster than two, and few values have it.
        if b"$" not in text or b'"$' not in text:
            return text
    return _encode(value, _write).encode()


def are_unchangeable(several: Iterable[Any]) -> bool:
    """Return whether none of these can be changed in place."""
    return _UNCHANGEABLE.issuperset(map(type, several))


def are_plain(several: Iterable[Any]) -> bool:
    """Return whether all of these are text, integers, truth values or nothing."""
    return _PLAIN.issuperset(map(type, several))


def _encode(value: Any, write: Callable[[Any, int], Iterable[str]]) -> str:
    # Tagging walks the value in Python; most values need no tag, and the writer says which do.
    try:
        text = "".join(write(value, 0))
    except (TypeError, ValueError):
        return "".join(write(to_json(value), 0))
    return "".join(write(to_json(value), 0)) if "$" in text and '"$' in text else text


def decode_value(text: str | bytes) -> Any:
    """Return the value that `encode` wrote."""
    try:
        value = pydantic_core.from_json(text)
    except ValueError:
        # A lone surrogate, or no JSON at all: the slower reader knows the one and tells the other.
        try:
            value = json.loads(text)
        except RecursionError:
            raise ValueError("it is nested too deep") from None
    if isinstance(text, bytes):
        marked = b"$" in text and b'"$' in text
    else:
        marked = "$" in text and '"$' in text
    return from_json(value) if marked else value


def compute_fingerprint(*values: Any) -> str:
    """Return a short hash of values: the same in every process and for every order of keys.

    Baselines keep fingerprints for years, so it rests on nothing that a library may change.
    """
    text = _encode(list(values), _write_sorted)
    return hashlib.blake2b(text.encode("ascii"), digest_size=12).hexdigest()


class _JsonOrBytes:
    """Tells pydantic how a `Value` is validated and written; see `Value`."""

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.json_or_python_schema(
            json_schema=core_schema.no_info_plain_validator_function(from_json),
            python_schema=core_schema.no_info_plain_validator_function(check_value),
            serialization=core_schema.plain_serializer_function_ser_schema(
                to_json, when_used="json"
            ),
        )

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        return {}


# A field of a pydantic model that holds JSON or bytes. Python values pass through unchanged;
# JSON text carries the tags.
Value: TypeAlias = Annotated[Any, _JsonOrBytes]

Model = TypeVar("Model", bound=BaseModel)
_complete_sets: dict[type[BaseModel], set[str]] = {}
# The slots of a model themselves: setting an attribute by name takes twice as long.
_new = object.__new__
_set_fields = vars(BaseModel)["__dict__"].__set__
_set_given = vars(BaseModel)["__pydantic_fields_set__"].__set__
_set_extra = vars(BaseModel)["__pydantic_extra__"].__set__
_set_private = vars(BaseModel)["__pydantic_private__"].__set__


def construct(
    model: type[Model],
    fields: dict[str, Any],
    given: set[str] | None = None,
    extra: dict[str, Any] | None = None,
) -> Model:
    """Return a model of fields that have all been validated before, given completely.

    Reports are made of values that come out of other models. Validating them again was half of
    the time a case takes, and pydantic's own `model_construct` is slower than validating. `given`
    are the fields that count as given to the model (default: all).
    """
    if given is None:
        given = _complete_sets.get(model)
        if given is None:
            given = _complete_sets[model] = set(model.model_fields)
    new = _new(model)
    _set_fields(new, fields)
    _set_given(new, given)
    _set_extra(new, extra)
    _set_private(new, None)
    return new
