"""People, as they type their names."""

from pydantic import BaseModel


class Person(BaseModel):
    """Someone with a name."""

    name: str
