"""Option C: the code prints `{'user_name': 'ada'}`."""

from pydantic import BaseModel, Field

DISPUTED = "{'user_name': 'ada'}"


def run():
    class User(BaseModel):
        user_name: str = Field(alias="userName")

    print(User(userName="ada").model_dump())


def printed(capsys):
    run()
    return capsys.readouterr().out.strip()


def test_option_C_holds(capsys):
    assert printed(capsys) == DISPUTED


def test_option_C_fails(capsys):
    assert printed(capsys) != DISPUTED
