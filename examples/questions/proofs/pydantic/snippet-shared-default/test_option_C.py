"""Option C: the code prints `2`."""

from pydantic import BaseModel

DISPUTED = "2"
INSTEAD = "0"


def run():
    class Basket(BaseModel):
        items: list[str] = []

    first, second = Basket(), Basket()
    first.items.append("apple")
    print(len(second.items))


def printed(capsys):
    run()
    return capsys.readouterr().out.strip()


def test_option_C_holds(capsys):
    assert printed(capsys) == DISPUTED


def test_option_C_fails(capsys):
    assert printed(capsys) != DISPUTED
