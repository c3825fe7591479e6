import importlib
import importlib.metadata
import inspect
import sys
from base64 import b85encode
from pathlib import Path
from typing import Union

import attrs
import cattrs
import pytest

sys.path.insert(0, str(Path(__file__).parent.parent / "suites"))


def test_version():
    assert importlib.metadata.version("cattrs") == "26.2.1"


@attrs.define
class A:
    x: int


@attrs.define
class B:
    y: int


def test_reject_unknown_keys():
    params = inspect.signature(cattrs.Converter).parameters
    assert "forbid_extra_keys" in params
    assert not {"strict", "disallow_unknown", "extra"} & set(params)
    assert cattrs.Converter().structure({"x": 1, "z": 2}, A) == A(1)
    with pytest.raises(cattrs.ClassValidationError):
        cattrs.Converter(forbid_extra_keys=True).structure({"x": 1, "z": 2}, A)


def test_detailed_validation_default():
    assert inspect.signature(cattrs.Converter).parameters["detailed_validation"].default is True
    assert cattrs.Converter().detailed_validation is True


def test_extra_keys_exception():
    import cattrs_snippets

    with pytest.raises(Exception) as e:
        cattrs_snippets.load_server()
    assert type(e.value) is cattrs.ClassValidationError
    assert not isinstance(e.value, (cattrs.ForbiddenExtraKeysError, KeyError, TypeError))
    assert [type(x) for x in e.value.exceptions] == [cattrs.ForbiddenExtraKeysError]


def test_tagged_union_key():
    from cattrs.strategies import configure_tagged_union

    c = cattrs.Converter()
    configure_tagged_union(Union[A, B], c)
    assert c.unstructure(A(1), Union[A, B]) == {"x": 1, "_type": "A"}


def test_generating_converter():
    assert cattrs.GenConverter is cattrs.Converter
    assert "generates" in cattrs.Converter.__doc__
    assert "generates" not in cattrs.BaseConverter.__doc__
    assert not hasattr(cattrs, "CodegenConverter")


def test_unstructure_to_tuples():
    assert [m.name for m in cattrs.UnstructureStrategy] == ["AS_DICT", "AS_TUPLE"]
    assert cattrs.Converter(unstruct_strat=cattrs.UnstructureStrategy.AS_TUPLE).unstructure(A(1)) == (1,)


def test_string_to_bool():
    assert cattrs.structure("false", bool) is True


def test_purpose_transform_error():
    with pytest.raises(cattrs.ClassValidationError) as e:
        cattrs.structure({"x": "no"}, A)
    assert cattrs.transform_error(e.value) == ["invalid value for type, expected int @ $.x"]


def test_json_bytes():
    from cattrs.preconf.json import make_converter

    assert make_converter().unstructure(b"abc") == b85encode(b"abc").decode() == "VPaz"


def test_api_per_attribute_customization():
    from cattrs.gen import override

    assert override is cattrs.override
    assert type(override(rename="z")).__name__ == "AttributeOverride"


def test_api_error_of_lists():
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("cattrs.exceptions")
    with pytest.raises(cattrs.errors.IterableValidationError):
        cattrs.structure(["a"], list[int])
