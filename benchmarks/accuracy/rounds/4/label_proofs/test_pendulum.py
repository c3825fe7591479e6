import importlib
import importlib.metadata
import sys
from datetime import timedelta
from pathlib import Path

import pendulum
import pytest

sys.path.insert(0, str(Path(__file__).parent.parent / "suites"))


def test_version():
    assert importlib.metadata.version("pendulum") == "3.3.0"


def test_span_between():
    for name in ("period", "span", "between"):
        assert not hasattr(pendulum, name)
    i = pendulum.interval(pendulum.datetime(2024, 1, 1), pendulum.datetime(2024, 1, 3))
    assert len(list(i.range("days"))) == 3


def test_monday_value():
    assert int(pendulum.MONDAY) == 0


def test_convert_timezone():
    dt = pendulum.datetime(2024, 1, 1)
    a, b = dt.in_timezone("Europe/Paris"), dt.in_tz("Europe/Paris")
    assert a == b == dt and a.timezone_name == b.timezone_name == "Europe/Paris"
    assert not hasattr(dt, "to_timezone") and not hasattr(dt, "shift_tz")


def test_end_of_january(capsys):
    import pendulum_snippets

    pendulum_snippets.next_invoice()
    assert capsys.readouterr().out == "2024-02-29\n"


def test_unparsable():
    from pendulum.exceptions import PendulumException
    from pendulum.parsing.exceptions import ParserError
    from pendulum.tz.exceptions import InvalidTimezone

    with pytest.raises(Exception) as e:
        pendulum.parse("nope")
    assert type(e.value) is ParserError
    assert not isinstance(e.value, (PendulumException, TypeError, InvalidTimezone))


def test_default_timezone():
    assert pendulum.datetime(2025, 6, 1).timezone_name == "UTC"
    with pendulum.test_local_timezone(pendulum.timezone("Europe/Paris")):
        assert pendulum.local(2025, 6, 1).timezone_name == "Europe/Paris"
        assert pendulum.datetime(2025, 6, 1).timezone_name == "UTC"
    pendulum.set_local_timezone(pendulum.timezone("Asia/Tokyo"))
    try:
        assert pendulum.datetime(2025, 6, 1).timezone_name == "UTC"
    finally:
        pendulum.set_local_timezone()


def test_freeze_now():
    for name in ("test", "set_test_now", "mock_now"):
        assert not hasattr(pendulum, name)
    dt = pendulum.datetime(2001, 2, 3)
    with pendulum.travel_to(dt, freeze=True):
        first = pendulum.now("UTC")
        for _ in range(10000):
            pass
        assert pendulum.now("UTC") == first == dt
    assert pendulum.now("UTC").year != 2001


def test_remaining_days():
    d = pendulum.duration(days=10)
    assert (d.weeks, d.remaining_days) == (1, 3)
    assert isinstance(d.remaining_days, int)


def test_interval_base():
    assert pendulum.Duration in pendulum.Interval.__bases__
    assert timedelta not in pendulum.Interval.__bases__
    assert not issubclass(pendulum.Interval, pendulum.DateTime)
    from collections.abc import Sequence

    assert not issubclass(pendulum.Interval, Sequence)


def test_sixth_monday():
    from pendulum.exceptions import PendulumException

    with pytest.raises(Exception) as e:
        pendulum.datetime(2024, 5, 15).nth_of("month", 6, pendulum.MONDAY)
    assert type(e.value) is PendulumException and not isinstance(e.value, ValueError)


def test_api_humans():
    cls = importlib.import_module("pendulum.datetime").DateTime
    assert cls is pendulum.DateTime
    assert cls(2024, 5, 12).diff_for_humans(cls(2024, 5, 15)) == "3 days before"


def test_api_span_class():
    assert not hasattr(pendulum, "Period")
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("pendulum.period")
    assert type(pendulum.now() - pendulum.now()) is pendulum.Interval
