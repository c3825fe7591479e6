import datetime
import importlib
import inspect
import zoneinfo

import arrow
import arrow_snippets as snippets
import pytest
from arrow import Arrow


def test_version():
    assert arrow.__version__ == "1.4.0"


def test_timestamp_as_int():
    dt = arrow.get(1700000000)
    assert dt.int_timestamp == 1700000000 and type(dt.int_timestamp) is int
    assert inspect.ismethod(dt.timestamp) and type(dt.timestamp()) is float      # the key's expression is a method since 1.0
    for name in ("epoch", "unix_time"):
        with pytest.raises(AttributeError):
            getattr(dt, name)


def test_zone_object():
    moment = arrow.get("2024-06-01T12:00:00", tzinfo="Europe/Paris")
    assert type(moment.tzinfo) is zoneinfo.ZoneInfo
    from dateutil import tz
    assert not isinstance(moment.tzinfo, (tz.tzfile, datetime.timezone))
    assert "pytz" not in type(moment.tzinfo).__module__


def test_is_between_bounds():
    assert inspect.signature(Arrow.is_between).parameters["bounds"].default == "()"
    a, b = arrow.get(2024, 1, 1), arrow.get(2024, 1, 2)
    assert not a.is_between(a, b) and not b.is_between(a, b)


def test_format_constant():
    dt = arrow.get(2024, 3, 9, 14, 5)
    want = "2024-03-09 14:05:00+00:00"
    assert dt.format(arrow.FORMAT_ATOM) == want and dt.format(arrow.FORMAT_W3C) == want
    assert dt.format(arrow.FORMAT_RSS) != want and dt.format(arrow.FORMAT_COOKIE) != want


def test_import_parser_error():
    from arrow import ParserError as a
    from arrow.parser import ParserError as b
    assert a is b
    with pytest.raises(a):
        arrow.get("blah")
    for module in ("arrow.exceptions", "arrow.errors"):
        with pytest.raises(ImportError):
            importlib.import_module(module)


def test_shift_from_january_31(capsys):
    snippets.month_ends()
    assert capsys.readouterr().out == "02-29 03-29\n"


def test_relative_phrases():
    a = arrow.get(2024, 1, 31)
    assert a.dehumanize("2 days ago") == arrow.get(2024, 1, 29)
    for name in ("parse_relative", "from_human", "unhumanize"):
        assert not hasattr(Arrow, name)


def test_to_or_replace():
    a = arrow.get(2024, 1, 31, 10)
    to, rep = a.to("Asia/Tokyo"), a.replace(tzinfo="Asia/Tokyo")
    assert to is not a and a.hour == 10 and a.tzinfo.utcoffset(None) == datetime.timedelta(0)
    assert to == a and to.hour == 19
    assert rep != a and rep.hour == 10


def test_check_imaginary():
    a = Arrow(2024, 3, 31, 1, 30, tzinfo="Europe/Paris")
    start = Arrow(2024, 3, 30, 2, 30, tzinfo="Europe/Paris")      # a day later 02:30 does not exist
    assert start.shift(days=1).naive == datetime.datetime(2024, 3, 31, 3, 30)
    assert start.shift(days=1, check_imaginary=False).naive == datetime.datetime(2024, 3, 31, 2, 30)
    for flag in (True, False):
        with pytest.raises(ValueError):                            # B wrong: rejected either way
            a.shift(nonsense=1, check_imaginary=flag)
        assert arrow.get(2024, 1, 31).shift(months=1, check_imaginary=flag).day == 29       # C wrong: clipped either way
        assert arrow.get(2024, 1, 31).shift(hours=1.5, check_imaginary=flag) == arrow.get(2024, 1, 31, 1, 30)   # D wrong: same either way
        with pytest.raises(ValueError):
            arrow.get(2024, 1, 31).shift(months=1.5, check_imaginary=flag)


def test_plural_replace():
    with pytest.raises(Exception) as e:
        snippets.one_hour_later(arrow.utcnow())
    assert type(e.value) is ValueError


def test_day_of_year_token():
    dt = arrow.get(2024, 3, 9)
    assert dt.format("DDDD") == "069"
    assert [dt.format(t) for t in ("DDD", "ddd", "DY")] == ["69", "Sat", "9Y"]


# api_understanding
def test_custom_type_factory():
    from arrow.factory import ArrowFactory
    assert ArrowFactory is arrow.ArrowFactory
    class Custom(Arrow): pass
    f = ArrowFactory(Custom)
    assert type(f.get("2024-01-01")) is type(f.utcnow()) is type(f.now()) is Custom


def test_tz_expression_parser():
    import arrow.parser, arrow.util
    assert not hasattr(arrow.util, "TzinfoParser")                # the given path does not import
    assert arrow.parser.TzinfoParser.parse("+02:00").utcoffset(None) == datetime.timedelta(hours=2)
