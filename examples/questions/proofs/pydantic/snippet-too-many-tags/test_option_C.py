"""Option C: the code raises `ValidationError`."""

import pytest
from pydantic import BaseModel, Field, ValidationError

DISPUTED = ["code", "test", "proof", "truth"]
INSTEAD = ["code", "test", "proof", "truth", "more"]


class Article(BaseModel):
    tags: list[str] = Field(max_length=4)


def test_option_C_holds():
    with pytest.raises(ValidationError) as caught:
        Article(tags=DISPUTED)
    assert [(one["type"], one["loc"]) for one in caught.value.errors()] == [("too_long", ("tags",))]


def test_option_C_fails():
    try:
        article = Article(tags=DISPUTED)
    except ValidationError as error:
        pytest.fail(f"it was raised: {error}")
    assert len(article.tags) == 4
