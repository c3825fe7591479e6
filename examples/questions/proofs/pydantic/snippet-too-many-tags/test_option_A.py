"""Option A: the code prints `3`."""

from pydantic import BaseModel, Field

DISPUTED = "3"
INSTEAD = "4"


def run():
    class Article(BaseModel):
        tags: list[str] = Field(max_length=4)

    article = Article(tags=["code", "test", "proof", "truth"])
    print(len(article.tags))


def printed(capsys):
    run()
    return capsys.readouterr().out.strip()


def test_option_A_holds(capsys):
    assert printed(capsys) == DISPUTED


def test_option_A_fails(capsys):
    assert printed(capsys) != DISPUTED
