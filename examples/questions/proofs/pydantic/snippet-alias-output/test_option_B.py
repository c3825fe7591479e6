"""Option B: the code prints `{'name': 'ada'}`."""

from pydantic import BaseModel, Field

DISPUTED = "{'name': 'ada'}"
INSTEAD = "{'user_name': 'ada'}"


def run():
    class User(BaseModel):
        user_name: str = Field(alias="userName")

    print(User(userName="ada").model_dump())


def printed(capsys):
    run()
    return capsys.readouterr().out.strip()


def test_option_B_holds(capsys):
    assert printed(capsys) == DISPUTED


def test_option_B_fails(capsys):
    assert printed(capsys) != DISPUTED
