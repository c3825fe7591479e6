"""Option C: `TypeAdapter(User).json_schema()` returns the JSON schema as a dictionary."""

from pydantic import BaseModel, TypeAdapter

DISPUTED = "json_schema"


class User(BaseModel):
    name: str


def returns_the_schema():
    method = getattr(TypeAdapter(User), DISPUTED, None)
    if method is None:
        return False
    schema = method()
    return schema["type"] == "object" and schema["properties"]["name"]["type"] == "string"


def test_option_C_holds():
    assert returns_the_schema()


def test_option_C_fails():
    assert not returns_the_schema()
