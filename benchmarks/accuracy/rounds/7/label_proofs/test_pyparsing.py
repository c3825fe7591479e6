import inspect

import pyparsing as pp
import pytest

import pyparsing_snippets as snip


def test_version():
    assert pp.__version__ == "3.3.3"


def test_optional_expression():
    assert pp.Optional is pp.Opt
    e = pp.Opt("a")
    assert e.parse_string("b").as_list() == [] and e.parse_string("a a").as_list() == ["a"]
    assert not hasattr(pp, "Maybe")
    assert pp.ZeroOrMore("a").parse_string("a a").as_list() == ["a", "a"]


def test_minus_operator():
    from pyparsing import Keyword, Word, alphas

    stmt = Keyword("let") - Word(alphas)
    with pytest.raises(Exception) as e:
        stmt.parse_string("let 42")
    assert type(e.value) is pp.ParseSyntaxException
    assert not isinstance(e.value, (pp.ParseException, pp.RecursiveGrammarException, ValueError))


def test_combine_whitespace():
    c = pp.Combine(pp.Word(pp.nums) + "." + pp.Word(pp.nums))
    assert c.parse_string("3.14").as_list() == ["3.14"]
    for text in ("3 .14", "3. 14", "3 . 14"):
        with pytest.raises(pp.ParseException):
            c.parse_string(text)


def test_trailing_text():
    assert snip.first_word() == ["abc"]


def test_caret_vs_bar():
    a, b = pp.Literal("ab"), pp.Literal("abc")
    assert (a | b).parse_string("abc").as_list() == ["ab"]
    assert (a ^ b).parse_string("abc").as_list() == ["abc"]
    assert type(a | b) is pp.MatchFirst and type(a ^ b) is pp.Or


def test_packrat_limit():
    assert inspect.signature(pp.ParserElement.enable_packrat).parameters["cache_size_limit"].default == 128


def test_named_results():
    assert snip.parse_point() == {"x": "3", "y": "4"}


def test_not_a_converter():
    for c in (pp.Group, pp.Combine, pp.Suppress, pp.Dict):
        assert issubclass(c, pp.TokenConverter)
    assert not issubclass(pp.Located, pp.TokenConverter)


def test_skipto_include():
    s = inspect.signature(pp.SkipTo).parameters
    assert s["include"].default is False
    assert "ignore" in s  # C describes this one
    text = "ab, cd"
    on, off = pp.SkipTo(",", include=True), pp.SkipTo(",")
    assert on.parse_string(text).as_list() == ["ab", ","]  # skipped text still there: D wrong
    assert off.parse_string(text).as_list() == ["ab"]
    assert next(on.scan_string(text))[2] == 3 and next(off.scan_string(text))[2] == 2


def test_api_recursive_grammars():
    e = pp.Forward()
    e <<= pp.Literal("x") | "(" + e + ")"
    assert e.parse_string("((x))").as_list() == ["(", "(", "x", ")", ")"]
    assert pp.core.Forward is pp.Forward


def test_api_results_as_xml():
    r = pp.Word(pp.alphas)("w").parse_string("a")
    assert not hasattr(pp.ParseResults, "asXML") and not hasattr(pp.ParseResults, "as_xml")
    assert not [n for n in dir(r) if "xml" in n.lower()]
