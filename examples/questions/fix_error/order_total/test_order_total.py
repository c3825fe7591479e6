"""The total is computed, and it is part of what is dumped."""

from unfixed import Order


def test_total_is_price_times_count():
    assert Order(price=2, count=3).total == 6


def test_total_is_dumped():
    assert Order(price=2, count=3).model_dump() == {"price": 2, "count": 3, "total": 6}


def test_total_cannot_be_passed_in():
    assert Order(price=2, count=3, total=1).total == 6
