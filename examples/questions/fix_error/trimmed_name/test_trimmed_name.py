"""A person has the name that was typed."""

from unfixed import Person


def test_name_is_stored():
    assert Person(name="Ada").name == "Ada"


def test_name_contains_what_was_typed():
    assert "Ada" in Person(name="  Ada ").name
