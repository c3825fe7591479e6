import contextlib, importlib, inspect, io, pathlib, sys, warnings
from importlib.metadata import entry_points, version

import jsonschema
import pytest
from jsonschema import Draft202012Validator, FormatChecker, TypeChecker, exceptions, validate, validators

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "suites"))
import jsonschema_snippets as snippets


def printed(function):
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        function()
    return out.getvalue()


def test_version():
    assert version("jsonschema") == "4.26.0"


def test_import_best_match():
    from jsonschema.exceptions import best_match
    for module in ("jsonschema", "jsonschema.validators"):
        with pytest.raises(AttributeError):
            getattr(importlib.import_module(module), "best_match")
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("jsonschema.errors")


def test_default_draft():
    assert validators.validator_for({"type": "integer"}) is Draft202012Validator
    # prefixItems exists only in 2020-12
    with pytest.raises(jsonschema.ValidationError):
        validate([1], {"prefixItems": [{"type": "string"}]})
    for other in (jsonschema.Draft4Validator, jsonschema.Draft7Validator, jsonschema.Draft201909Validator):
        assert other({"prefixItems": [{"type": "string"}]}).is_valid([1])


def test_broken_schema():
    with pytest.raises(jsonschema.SchemaError) as info:
        validate(instance=5, schema={"type": 12})
    assert type(info.value) is jsonschema.SchemaError
    for other in (jsonschema.ValidationError, exceptions.UnknownType, TypeError):
        assert not isinstance(info.value, other)


def test_format_without_checker():
    schema = {"type": "string", "format": "ipv4"}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert Draft202012Validator(schema).validate("not an address") is None
    Draft202012Validator.check_schema(schema)
    with pytest.raises(jsonschema.ValidationError):
        Draft202012Validator(schema, format_checker=FormatChecker()).validate("not an address")


def test_all_errors():
    v = Draft202012Validator({"items": {"type": "string"}})
    assert inspect.isgenerator(v.iter_errors([1, 2])) and len(list(v.iter_errors([1, 2]))) == 2
    with pytest.raises(jsonschema.ValidationError):
        v.validate([1, 2])
    assert not hasattr(v, "errors") and not hasattr(v, "find_errors")


def test_import_error_tree():
    from jsonschema.exceptions import ErrorTree as a
    with pytest.warns(DeprecationWarning):
        from jsonschema import ErrorTree as b
    assert a is b
    for module in ("jsonschema.errors", "jsonschema.tree"):
        with pytest.raises(ModuleNotFoundError):
            importlib.import_module(module)


def test_json_path():
    assert printed(snippets.where) == "$.tags[1]\n"


def test_integers():
    assert printed(snippets.whole_numbers) == "True False\n"


def test_validator_value():
    error, = Draft202012Validator({"maximum": 10}).iter_errors(50)
    assert error.validator_value == 10  # C
    assert error.instance == 50  # A is .instance
    assert error.validator == "maximum"  # B is .validator


def test_registry_argument():
    from referencing import Registry, Resource
    registry = Registry().with_resource("urn:x", Resource.from_contents(
        {"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "string"}))
    schema = {"$ref": "urn:x"}
    v = Draft202012Validator(schema, registry=registry)
    assert v.is_valid("a") and not v.is_valid(1)
    with pytest.raises(Exception):
        Draft202012Validator(schema, resolver=registry).is_valid("a")
    for wrong in ("store", "ref_resolver"):
        with pytest.raises(TypeError):
            Draft202012Validator(schema, **{wrong: registry})


def test_extend_known_keyword():
    def never(validator, value, instance, schema):
        return ()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Extended = validators.extend(Draft202012Validator, {"maximum": never})  # not A
    assert Extended({"maximum": 1}).is_valid(5)  # not B, not C
    assert not Draft202012Validator({"maximum": 1}).is_valid(5)


def test_cli_options():
    assert any(e.name == "jsonschema" for e in entry_points(group="console_scripts"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from jsonschema import cli
    known = {o for a in cli.parser._actions for o in a.option_strings}
    assert {"--error-format", "--output", "--base-uri"} <= known and "--draft" not in known
    with pytest.raises(SystemExit), contextlib.redirect_stderr(io.StringIO()) as err:
        cli.parser.parse_args(["--draft", "7", "schema.json"])
    assert "unrecognized arguments" in err.getvalue()


def test_unknown_type_name():
    with pytest.raises(exceptions.UnknownType):
        Draft202012Validator({"type": "foo"}).validate(1)


def test_own_type_check():
    assert not hasattr(TypeChecker, "checks") and hasattr(FormatChecker, "checks")
    old = Draft202012Validator.TYPE_CHECKER
    new = old.redefine("integer", lambda checker, instance: False)
    assert new is not old and not new.is_type(1, "integer") and old.is_type(1, "integer")
