"""Option B: the code prints `7.0`."""

from pydantic import BaseModel

DISPUTED = "7.0"
INSTEAD = "7"


def run():
    class Order(BaseModel):
        amount: int

    print(repr(Order.model_validate({"amount": "7"}).amount))


def printed(capsys):
    run()
    return capsys.readouterr().out.strip()


def test_option_B_holds(capsys):
    assert printed(capsys) == DISPUTED


def test_option_B_fails(capsys):
    assert printed(capsys) != DISPUTED
