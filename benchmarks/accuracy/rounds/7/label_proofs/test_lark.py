import subprocess
import sys

import lark
import pytest
from lark import Lark, Transformer, Tree, Token, Visitor, Discard
from lark.exceptions import ConfigurationError, VisitError
from lark.visitors import Interpreter

import lark_snippets as snip


def test_version():
    assert lark.__version__ == "1.3.1"


def test_plain_lexer():
    with pytest.raises(ConfigurationError):
        Lark("start: \"a\"", lexer="standard", parser="lalr")
    # FIRST and SECOND cover the same text: only a lexer that looks at the parser's state gets the second one right
    grammar = """
        start: "a" FIRST "b" SECOND
        FIRST: /x+/
        SECOND: /x+/
    """
    assert Lark(grammar, parser="lalr", lexer="contextual").parse("axbx").children == ["x", "x"]
    with pytest.raises(lark.UnexpectedToken):
        Lark(grammar, parser="lalr", lexer="basic").parse("axbx")
    assert Lark(grammar, parser="earley", lexer="dynamic").parse("axbx").children == ["x", "x"]


def test_failing_callback():
    with pytest.raises(Exception) as e:
        snip.run()
    assert type(e.value) is VisitError
    assert isinstance(e.value.orig_exc, ZeroDivisionError)
    assert not isinstance(e.value, (ZeroDivisionError, lark.UnexpectedToken, lark.ParseError))


def test_import_transformer():
    a, b = {}, {}
    exec("from lark import Transformer", a)
    exec("from lark.visitors import Transformer", b)
    assert a["Transformer"] is b["Transformer"]
    for wrong in ("from lark.transformer import Transformer", "from lark.tree import Transformer"):
        with pytest.raises(ImportError):
            exec(wrong, {})


@pytest.mark.parametrize("parser", ["earley", "lalr"])
def test_missing_optional(parser):
    p = Lark("start: NAME [NUMBER]\nNAME: /[a-z]+/\nNUMBER: /[0-9]+/\n", parser=parser)
    assert p.parse("abc").children == [Token("NAME", "abc"), None]
    assert p.options.maybe_placeholders is True


def test_caught_by_unexpected_input():
    for c in (lark.UnexpectedToken, lark.UnexpectedCharacters, lark.UnexpectedEOF):
        assert issubclass(c, lark.UnexpectedInput)


def test_punctuation(capsys):
    parser = Lark(r'''
        start: "(" NAME ")"
        NAME: /[a-z]+/
    ''')
    print(parser.parse("(abc)").children)
    assert capsys.readouterr().out == "[Token('NAME', 'abc')]\n"


def test_propagate_positions():
    g = "start: x\nx: NAME\nNAME: /[a-z]+/\n"
    on = Lark(g, propagate_positions=True).parse("abc")
    off = Lark(g).parse("abc")
    assert (on.meta.line, on.meta.column, on.meta.start_pos, on.meta.end_pos) == (1, 1, 0, 3)
    assert on.children[0].meta.line == 1
    assert not hasattr(off.meta, "line")
    tok = off.children[0].children[0]
    assert (tok.line, tok.column) == (1, 1)  # A wrong
    with pytest.raises(lark.UnexpectedInput) as e:
        Lark(g).parse("abc!")
    assert (e.value.line, e.value.column) == (1, 4)  # B wrong


def test_interpreter_vs_transformer():
    tree = Tree("root", [Tree("mid", [Tree("leaf", [])])])
    seen = []

    class I(Interpreter):
        def root(self, t):
            seen.append("root")

        def mid(self, t):
            seen.append("mid")

    I().visit(tree)
    assert seen == ["root"]  # not descended

    class I2(I):
        def root(self, t):
            seen.append("root")
            self.visit_children(t)

    seen.clear()
    I2().visit(tree)
    assert seen == ["root", "mid"]
    assert tree == Tree("root", [Tree("mid", [Tree("leaf", [])])])  # C: unchanged by the interpreter

    class T(Transformer):
        def __default__(self, data, children, meta):
            seen.append(data)
            return Tree(data, children, meta)

    seen.clear()
    T().transform(tree)
    assert seen == ["leaf", "mid", "root"]
    earley = Lark('start: "a"', parser="earley").parse("a")
    assert I().visit(earley) == []  # D: a tree of another parser is fine


def test_removing_a_node():
    tree = Tree("start", [Tree("comment", []), Tree("x", [])])

    class Return(Transformer):
        def comment(self, c):
            return Discard

    class Raise(Transformer):
        def comment(self, c):
            raise Discard()

    class ReturnNone(Transformer):
        def comment(self, c):
            return None

    assert Return().transform(tree) == Tree("start", [Tree("x", [])])
    with pytest.raises(VisitError):
        Raise().transform(tree)
    assert ReturnNone().transform(tree).children == [None, Tree("x", [])]
    assert not hasattr(Tree, "EMPTY")


def test_standalone_tool(tmp_path):
    (tmp_path / "json.lark").write_text('start: "a"\n')
    def run(*a):
        return subprocess.run([sys.executable, "-m", *a, "json.lark"], cwd=tmp_path, capture_output=True, text=True)
    ok = run("lark.tools.standalone")
    assert ok.returncode == 0 and "Lark_StandAlone" in ok.stdout
    for wrong in ("lark.standalone", "lark.tools.generate"):
        assert run(wrong).returncode != 0
    from importlib.metadata import distribution
    assert not [e for e in distribution("lark").entry_points if e.group == "console_scripts"]


def test_api_step_by_step():
    ip = Lark('start: A\nA: "a"', parser="lalr").parse_interactive()
    ip.feed_token(Token("A", "a"))
    assert type(ip).__name__ == "InteractiveParser"
    assert lark.lark.Lark is lark.Lark


def test_api_root_first():
    assert not hasattr(Transformer, "visit_topdown")
    assert hasattr(Visitor, "visit_topdown")
