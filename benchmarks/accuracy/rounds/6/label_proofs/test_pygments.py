import importlib
import importlib.metadata
import pathlib
import re
import subprocess
import sys

import pytest
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer
from pygments.token import Error

SUITES = pathlib.Path(__file__).parents[1] / "suites"
sys.path.insert(0, str(SUITES))
import pygments_snippets  # noqa: E402


def test_version():
    assert importlib.metadata.version("Pygments") == "2.21.0"


def cli(*args):
    return subprocess.run([sys.executable, "-m", "pygments", *args], capture_output=True, text=True, stdin=subprocess.DEVNULL)


def test_python_lexer_import():
    import pygments
    import pygments.lexer
    import pygments.lexers
    assert pygments.lexers.PythonLexer
    assert not hasattr(pygments, "PythonLexer") and not hasattr(pygments.lexer, "PythonLexer")
    with pytest.raises(ImportError):
        importlib.import_module("pygments.languages")


def test_unknown_alias():
    from pygments.lexers import get_lexer_by_name
    from pygments.util import ClassNotFound, OptionError
    with pytest.raises(ClassNotFound):
        get_lexer_by_name("no-such-language")
    with pytest.raises(ValueError):
        get_lexer_by_name("no-such-language")
    assert not issubclass(ClassNotFound, (KeyError, OptionError))


def test_tabsize_default():
    assert PythonLexer().tabsize == 0
    assert "\t" in "".join(v for _, v in PythonLexer().get_tokens("if x:\n\ty\n"))


def test_nowrap_output():
    assert pygments_snippets.render() == '<span class="n">x</span> <span class="o">=</span> <span class="mi">1</span>\n'


def test_bad_boolean():
    from pygments.util import OptionError
    with pytest.raises(OptionError) as e:
        HtmlFormatter(nowrap="maybe")
    assert not isinstance(e.value, ValueError)


def test_cli_styles():
    ok = cli("-L", "styles")
    assert ok.returncode == 0 and "monokai" in ok.stdout and "* default" in ok.stdout
    for args in (["--list-styles"], ["-S", "styles"], ["-H", "styles"]):
        bad = cli(*args)
        assert bad.returncode != 0 and "monokai" not in bad.stdout, args


def test_delegating_lexer():
    from pygments.lexer import DelegatingLexer
    from pygments.lexers.templates import HtmlDjangoLexer
    doc = " ".join(DelegatingLexer.__doc__.split())
    assert "First everything is scanned using the language lexer, afterwards all ``Other`` tokens are lexed using the root lexer" in doc
    assert issubclass(HtmlDjangoLexer, DelegatingLexer)
    kinds = {str(t) for t, _ in HtmlDjangoLexer().get_tokens("<b>{{ x }}</b>")}
    assert "Token.Name.Tag" in kinds and "Token.Name.Variable" in kinds


def test_linenos_modes():
    code = "a\nb\nc\n"
    table = highlight(code, PythonLexer(), HtmlFormatter(linenos="table"))
    inline = highlight(code, PythonLexer(), HtmlFormatter(linenos="inline"))
    assert table.count("<tr>") == 1 and '<td class="linenos">' in table and '<td class="code">' in table
    assert "<table" not in inline and inline.count("<pre>") == 1
    assert re.findall(r'<span class="linenos">\s*(\d)</span>', inline) == ["1", "2", "3"]
    assert re.findall(r'<span class="normal">\s*(\d)</span>', table) == ["1", "2", "3"]
    assert table != inline


def test_strict_filter():
    from pygments import filters
    for name in ("StrictFilter", "ErrorTokenFilter", "RaiseOnErrorFilter", "FailFastFilter"):
        assert not hasattr(filters, name)
    lexer = pygments_snippets.TinyLexer()
    lexer.add_filter(filters.RaiseOnErrorTokenFilter())
    with pytest.raises(filters.ErrorToken):
        list(lexer.get_tokens("?"))


def test_unmatched_character():
    assert [t for t, v in pygments_snippets.tokenize() if v == "?"] == [Error]
    assert repr(Error) == "Token.Error"


def test_api_css_rules():
    from pygments.formatters.html import HtmlFormatter as h
    assert h is HtmlFormatter and ".highlight .k" in h().get_style_defs(".highlight")


def test_api_true_color():
    import pygments.formatters
    import pygments.formatters.terminal
    assert not hasattr(pygments.formatters.terminal, "TerminalTrueColorFormatter")
    assert pygments.formatters.TerminalTrueColorFormatter.__module__ == "pygments.formatters.terminal256"
