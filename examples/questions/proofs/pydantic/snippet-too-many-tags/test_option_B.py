"""Option B: the code prints `4`."""

from pydantic import BaseModel, Field

DISPUTED = "4"


def run():
    class Article(BaseModel):
        tags: list[str] = Field(max_length=4)

    article = Article(tags=["code", "test", "proof", "truth"])
    print(len(article.tags))


def printed(capsys):
    run()
    return capsys.readouterr().out.strip()


def test_option_B_holds(capsys):
    assert printed(capsys) == DISPUTED


def test_option_B_fails(capsys):
    assert printed(capsys) != DISPUTED
