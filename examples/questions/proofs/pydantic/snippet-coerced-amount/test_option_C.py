"""Option C: the code prints `7`."""

from pydantic import BaseModel

DISPUTED = "7"


def run():
    class Order(BaseModel):
        amount: int

    print(repr(Order.model_validate({"amount": "7"}).amount))


def printed(capsys):
    run()
    return capsys.readouterr().out.strip()


def test_option_C_holds(capsys):
    assert printed(capsys) == DISPUTED


def test_option_C_fails(capsys):
    assert printed(capsys) != DISPUTED
