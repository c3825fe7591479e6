import contextlib, importlib, inspect, io, pathlib, re, sys, warnings
from importlib.metadata import version

import bs4
import pytest
from bs4 import BeautifulSoup

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "suites"))
import beautifulsoup4_snippets as snippets


def soup(html):
    return BeautifulSoup(html, "html.parser")


def test_version():
    assert version("beautifulsoup4") == "4.15.0"


def test_import_strainer():
    from bs4 import SoupStrainer as a
    from bs4.filter import SoupStrainer as b
    assert a is b
    for module in ("bs4.strainer", "bs4.parsers"):
        with pytest.raises(ModuleNotFoundError):
            importlib.import_module(module)


def test_find_all_name_filters():
    s = soup("<a>1</a><b>2</b>")
    for name in ("a", re.compile("^a$"), ["a"], lambda tag: tag.name == "a"):
        assert [t.name for t in s.find_all(name)] == ["a"]


def test_extract_or_decompose():
    s = soup("<p>a<b>x<i>y</i></b></p><p><u>z</u></p>")
    b = s.b
    out = b.extract()
    assert out is b and s.b is None and str(out) == "<b>x<i>y</i></b>" and not out.decomposed  # not B, not C
    u = s.u
    assert u.decompose() is None and u.decomposed and s.u is None and u.contents == []  # not D


def test_first_five_links():
    s = soup("<a></a>" * 9)
    assert len(s.find_all("a", limit=5)) == 5
    names = inspect.signature(bs4.Tag.find_all).parameters
    for wrong in ("max_results", "count", "first"):
        assert wrong not in names
        assert len(s.find_all("a", **{wrong: 5})) == 0  # taken for an attribute filter


def test_class_attribute_value():
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        snippets.show_classes()
    assert out.getvalue() == "['lead', 'intro']\n"


def test_joined_text():
    assert snippets.joined_text() == "one|two"


def test_string_is_none():
    assert soup("<p>a <b>b</b></p>").p.string is None
    assert soup("<p><b>b</b></p>").p.string == "b"
    assert soup("<p>  \n</p>").p.string == "\n" and soup("<p>  </p>").p.string == " "
    assert soup("<p>a &amp; b</p>").p.string == "a & b"


def test_prettify_formatter():
    assert inspect.signature(bs4.Tag.prettify).parameters["formatter"].default == "minimal"
    p = soup("<p>\u00e9 &lt;</p>").p
    assert p.prettify() == p.prettify(formatter="minimal") != p.prettify(formatter="html")
    assert p.prettify() != p.prettify(formatter=None)
    assert "formatter" not in BeautifulSoup.__dict__ and "prettify" not in BeautifulSoup.__dict__


def test_replace_by_children():
    for name in ("unwrap", "replace_with_children"):
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # not even deprecated
            s = soup("<p>a<i>b<b>c</b></i></p>")
            getattr(s.i, name)()
        assert str(s) == "<p>ab<b>c</b></p>"
    for name in ("flatten", "strip_tag"):
        assert not hasattr(bs4.Tag, name)


def test_purpose_parse_only():
    s = BeautifulSoup("<p>a</p><a>b</a><p>c</p>", "html.parser", parse_only=bs4.SoupStrainer("a"))
    assert str(s) == "<a>b</a>"
    assert "Only parts of the document\n         matching the SoupStrainer" in BeautifulSoup.__init__.__doc__


def test_text_of_many():
    with pytest.raises(AttributeError):
        soup("<p>one</p><p>two</p>").find_all("p").text
    assert not issubclass(AttributeError, TypeError)


def test_comment_class():
    from bs4.element import Comment
    assert bs4.Comment is Comment and type(soup("<!--x-->").contents[0]) is Comment


def test_no_such_parser():
    import bs4.builder, bs4.exceptions
    with pytest.raises(bs4.FeatureNotFound):
        BeautifulSoup("x", "no-such-parser")
    assert bs4.FeatureNotFound is bs4.exceptions.FeatureNotFound
    with pytest.raises(ImportError):
        from bs4.builder import FeatureNotFound
