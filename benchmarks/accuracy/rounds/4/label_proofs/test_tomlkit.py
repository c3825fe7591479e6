import importlib
import importlib.metadata
import inspect
import sys
from pathlib import Path

import pytest
import tomlkit
import tomlkit.exceptions as ex
from tomlkit import items

sys.path.insert(0, str(Path(__file__).parent.parent / "suites"))


def test_version():
    assert importlib.metadata.version("tomlkit") == "0.15.2"


def test_text_to_document():
    for f in (tomlkit.parse, tomlkit.loads):
        assert type(f("a = 1")) is tomlkit.TOMLDocument
    assert not hasattr(tomlkit, "read") and not hasattr(tomlkit, "decode")


def test_import_tomlfile():
    from tomlkit.toml_file import TOMLFile

    assert hasattr(TOMLFile, "read") and hasattr(TOMLFile, "write")
    assert not hasattr(tomlkit, "TOMLFile") and not hasattr(tomlkit.api, "TOMLFile")
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("tomlkit.file")


def test_plain_python():
    d = tomlkit.parse("a = 1\n[t]\nx = ['y']").unwrap()
    assert type(d) is dict and type(d["a"]) is int and type(d["t"]) is dict
    assert type(d["t"]["x"]) is list and type(d["t"]["x"][0]) is str
    for name in ("to_dict", "as_dict", "plain"):
        assert not hasattr(tomlkit.document(), name)


def test_add_twice():
    doc = tomlkit.document()
    doc.add("name", "first")
    with pytest.raises(Exception) as e:
        doc.add("name", "second")
    assert type(e.value) is ex.KeyAlreadyPresent
    assert not isinstance(e.value, (KeyError, ex.ParseError))


def test_type_of_a_flag(capsys):
    import tomlkit_snippets

    tomlkit_snippets.flag_type()
    assert capsys.readouterr().out == "bool\n"


def test_multiline_array(capsys):
    import tomlkit_snippets

    tomlkit_snippets.render()
    assert capsys.readouterr().out == "[\n    1,\n    2,\n]\n"


def test_sorted_output():
    assert set(inspect.signature(tomlkit.dumps).parameters) == {"data", "sort_keys"}
    assert tomlkit.dumps({"b": 1, "a": 2}, sort_keys=True) == "a = 2\nb = 1\n"


def test_why_tomlkit():
    import tomllib

    text = "# c\nb  =  1 # d\n\na = 2\n[x.y]\nz = [1,\n 'a']\n"
    assert tomlkit.dumps(tomlkit.parse(text)) == text
    assert not hasattr(tomllib, "dumps") and not hasattr(tomllib, "dump")
    # nested tables, and arrays of mixed types (TOML 1.0)
    assert tomllib.loads(text)["x"]["y"]["z"] == [1, "a"]
    folder = Path(tomlkit.__file__).parent
    assert not list(folder.rglob("*.so"))


def test_missing_key():
    doc = tomlkit.parse("a = 1")
    for cls in (ex.NonExistentKey, KeyError):
        with pytest.raises(cls) as e:
            doc["missing"]
        assert type(e.value) is ex.NonExistentKey
        assert not isinstance(e.value, (ex.ParseError, AttributeError))


def test_dotted_key():
    for name in ("dotted_key", "dotted", "path", "join_keys"):
        assert not hasattr(tomlkit, name)
    assert tomlkit.key(["bar", "baz"]).as_string() == "bar.baz"


def test_api_base_of_items():
    for cls in (items.Integer, items.Array, items.Table, items.String, items.Bool, items.Float, items.AoT):
        assert issubclass(cls, items.Item)


def test_api_rows_of_an_array():
    assert not hasattr(items.AoT, "add_line")
    a = tomlkit.array()
    a.add_line(1, 2, comment="one")
    assert "# one" in a.as_string()
