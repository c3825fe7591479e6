"""Code of the questions on validation, a section each."""

from pydantic import BaseModel, Field, field_validator


def many_tags() -> None:
    # --8<-- [start:many_tags]
    class Article(BaseModel):
        tags: list[str] = Field(max_length=4)

    article = Article(tags=["code", "test", "proof", "truth"])
    print(len(article.tags))
    # --8<-- [end:many_tags]


def own_validator() -> None:
    # --8<-- [start:own_validator]
    class Ticket(BaseModel):
        seat: int

        @field_validator("seat")
        @classmethod
        def is_free(cls, seat: int) -> int:
            if seat == 13:
                raise ValueError("there is no seat 13")
            return seat

    Ticket(seat=13)
    # --8<-- [end:own_validator]
