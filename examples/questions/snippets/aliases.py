"""Code of the questions on aliases, a section each."""

from pydantic import BaseModel, Field
from pydantic.aliases import AliasMaker


def two_names() -> None:
    # --8<-- [start:two_names]
    class User(BaseModel):
        user_name: str = Field(alias="userName")

    print(User(userName="ada").model_dump())
    # --8<-- [end:two_names]
