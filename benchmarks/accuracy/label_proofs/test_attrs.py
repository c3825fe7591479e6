"""Shows on attrs 25.4.0 what labels.yaml says of each question on it: a test per question.

Run it with plain pytest where `attrs==25.4.0` is installed.
"""

import importlib
import inspect
from contextlib import suppress

import attr
import attrs
import pytest

DEFINE = inspect.signature(attrs.define).parameters
FIELD = inspect.signature(attrs.field).parameters


@attrs.define
class Point:
    x: int
    y: int = 2


def can_import(module, name):
    with suppress(ImportError):
        return hasattr(importlib.import_module(module), name)
    return False


def raised_by(call):
    with pytest.raises(Exception) as caught:
        call()
    return caught.type


def those(names, holds):
    return [name for name in names if holds(name)]


def test_slots_default():
    assert DEFINE["slots"].default is True


def test_frozen_assignment():
    @attrs.frozen
    class Frozen:
        x: int

    kind = raised_by(lambda: setattr(Frozen(1), "x", 2))
    assert kind is attrs.exceptions.FrozenInstanceError
    assert not issubclass(kind, TypeError | attrs.exceptions.FrozenAttributeError)


def test_field_import():
    modules = ["attrs.fields", "attrs.core", "attrs.api", "attrs"]
    assert those(modules, lambda one: can_import(one, "field")) == ["attrs"]


def test_checking_argument():
    names = ["validator", "check", "verify", "constraint"]
    assert those(names, FIELD.__contains__) == ["validator"]


def test_not_a_validator():
    names = ["instance_of", "between", "in_", "matches_re"]
    assert those(names, lambda one: not hasattr(attrs.validators, one)) == ["between"]


def test_as_dictionary():
    assert str(attrs.asdict(Point(1, 2))) == "{'x': 1, 'y': 2}"


def test_new_code():
    assert callable(attr.dataclass)
    assert "Consider using `attrs.define`" in inspect.getdoc(attr.s)
    assert not hasattr(attrs, "model")


def test_changed_copy():
    names = ["replace", "copy", "update", "evolve"]
    assert those(names, lambda one: hasattr(attrs, one)) == ["evolve"]
    assert attrs.evolve(Point(1), y=3) == Point(1, 3)


def test_not_attrs_parent():
    classes = [TypeError, RuntimeError, AttributeError, ValueError]
    child = attrs.exceptions.NotAnAttrsClassError
    assert those(classes, lambda one: issubclass(child, one)) == [ValueError]


def test_wrong_type():
    @attrs.define
    class Checked:
        x: int = attrs.field(validator=attrs.validators.instance_of(int))

    assert raised_by(lambda: Checked("1")) is TypeError


def test_keyword_only_default():
    assert DEFINE["kw_only"].default is False


def test_fields_of_int():
    kind = raised_by(lambda: attrs.fields(int))
    assert kind is attrs.exceptions.NotAnAttrsClassError
    assert issubclass(kind, ValueError)
    assert not issubclass(kind, TypeError | AttributeError)


def test_class_at_run_time():
    names = ["make_class", "build_class", "create_class", "new_class"]
    assert those(names, lambda one: hasattr(attrs, one)) == ["make_class"]


def test_validator_import():
    modules = ["attrs.validation", "attrs.validators", "attrs.checks", "attrs"]
    assert those(modules, lambda one: can_import(one, "instance_of")) == ["attrs.validators"]


def test_fresh_default():
    names = ["default_factory", "make_default", "factory", "initial"]
    assert those(names, FIELD.__contains__) == ["factory"]


def test_define_import():
    modules = ["attrs", "attr.define", "attr", "attrs.decorators"]
    assert those(modules, lambda one: can_import(one, "define")) == ["attrs", "attr"]


def test_representation():
    assert str(Point(1, 2)) == "Point(x=1, y=2)"


def test_no_assignment():
    names = ["immutable", "readonly", "const", "frozen"]
    assert those(names, DEFINE.__contains__) == ["frozen"]


def test_not_a_converter():
    names = ["optional", "pipe", "to_int", "default_if_none"]
    assert those(names, lambda one: not hasattr(attrs.converters, one)) == ["to_int"]


def test_frozen_parent():
    child = attrs.exceptions.FrozenInstanceError
    classes = [KeyError, AttributeError, TypeError, attrs.exceptions.FrozenError]
    bases = those(classes, lambda one: issubclass(child, one))
    assert bases == [AttributeError, attrs.exceptions.FrozenError]
