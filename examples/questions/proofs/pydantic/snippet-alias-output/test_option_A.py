"""Option A: the code prints `{'userName': 'ada'}`."""

from pydantic import BaseModel, Field

DISPUTED = "{'userName': 'ada'}"
INSTEAD = "{'user_name': 'ada'}"


def run():
    class User(BaseModel):
        user_name: str = Field(alias="userName")

    print(User(userName="ada").model_dump())


def printed(capsys):
    run()
    return capsys.readouterr().out.strip()


def test_option_A_holds(capsys):
    assert printed(capsys) == DISPUTED


def test_option_A_fails(capsys):
    assert printed(capsys) != DISPUTED
