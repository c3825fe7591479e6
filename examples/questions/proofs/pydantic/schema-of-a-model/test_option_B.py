"""Option B: `User.json_schema()` returns the JSON schema as a dictionary."""

from pydantic import BaseModel

DISPUTED = "json_schema"
INSTEAD = "model_json_schema"


class User(BaseModel):
    name: str


def returns_the_schema():
    method = getattr(User, DISPUTED, None)
    if method is None:
        return False
    schema = method()
    return schema["type"] == "object" and schema["properties"]["name"]["type"] == "string"


def test_option_B_holds():
    assert returns_the_schema()


def test_option_B_fails():
    assert not returns_the_schema()
