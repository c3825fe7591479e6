"""Option D: the code raises `IndexError`."""

import pytest
from pydantic import BaseModel, Field, ValidationError

DISPUTED = IndexError


class Article(BaseModel):
    tags: list[str] = Field(max_length=4)


def test_option_D_holds():
    with pytest.raises(DISPUTED):
        Article(tags=["code", "test", "proof", "truth"])


def test_option_D_fails():
    try:
        article = Article(tags=["code", "test", "proof", "truth"])
    except DISPUTED as error:
        pytest.fail(f"it was raised: {error}")
    assert len(article.tags) == 4


def test_option_D_control():
    with pytest.raises(ValidationError, match="at most 4 items"):
        Article(tags=["code", "test", "proof", "truth", "more"])
