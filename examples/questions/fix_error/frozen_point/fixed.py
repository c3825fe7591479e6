"""Points in a plane."""

from pydantic import BaseModel


class Point(BaseModel):
    """Where something is."""

    x: int
    y: int

    class Config:
        allow_mutation = False
