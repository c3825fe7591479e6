"""Option A: the code prints `'7'`."""

from pydantic import BaseModel

DISPUTED = "'7'"
INSTEAD = "7"


def run():
    class Order(BaseModel):
        amount: int

    print(repr(Order.model_validate({"amount": "7"}).amount))


def printed(capsys):
    run()
    return capsys.readouterr().out.strip()


def test_option_A_holds(capsys):
    assert printed(capsys) == DISPUTED


def test_option_A_fails(capsys):
    assert printed(capsys) != DISPUTED
