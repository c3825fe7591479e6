"""Option D: the code prints `None`."""

from pydantic import BaseModel

DISPUTED = "None"
INSTEAD = "7"


def run():
    class Order(BaseModel):
        amount: int

    print(repr(Order.model_validate({"amount": "7"}).amount))


def printed(capsys):
    run()
    return capsys.readouterr().out.strip()


def test_option_D_holds(capsys):
    assert printed(capsys) == DISPUTED


def test_option_D_fails(capsys):
    assert printed(capsys) != DISPUTED
