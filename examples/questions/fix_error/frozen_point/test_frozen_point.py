"""A point stays where it is."""

import pytest
from pydantic import ValidationError
from unfixed import Point


def test_point_has_its_coordinates():
    assert Point(x=1, y=2).model_dump() == {"x": 1, "y": 2}


def test_point_cannot_be_moved():
    point = Point(x=1, y=2)
    with pytest.raises(ValidationError, match="frozen"):
        point.x = 3
