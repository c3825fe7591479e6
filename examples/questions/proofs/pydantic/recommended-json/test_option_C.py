"""Option C: `json.dumps` turns what `model_dump(mode="json")` returns into JSON text."""

import json
from datetime import date

from pydantic import BaseModel

DISPUTED = 'json.dumps(user.model_dump(mode="json"))'


class User(BaseModel):
    born: date


def can_be_written(code):
    try:
        text = eval(code, {"json": json, "user": User(born=date(1815, 12, 10))})
    except SyntaxError:
        return False
    return json.loads(text) == {"born": "1815-12-10"}


def test_option_C_holds():
    assert can_be_written(DISPUTED)


def test_option_C_fails():
    assert not can_be_written(DISPUTED)
