"""People, as they type their names."""

from pydantic import BaseModel, ConfigDict


class Person(BaseModel):
    """Someone with a name."""

    model_config = ConfigDict(str_strip_whitespace=True)

    name: str
