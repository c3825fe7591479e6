from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexer import RegexLexer
from pygments.lexers import PythonLexer
from pygments.token import Name, Number, Whitespace


# --8<-- [start:bare_html]
def render():
    return highlight("x = 1", PythonLexer(), HtmlFormatter(nowrap=True))
# --8<-- [end:bare_html]


# --8<-- [start:tiny_lexer]
class TinyLexer(RegexLexer):
    name = "Tiny"
    aliases = ["tiny"]

    tokens = {
        "root": [
            (r"\d+", Number.Integer),
            (r"[a-z]+", Name),
            (r"\s+", Whitespace),
        ]
    }


def tokenize():
    return list(TinyLexer().get_tokens("abc ? 42"))
# --8<-- [end:tiny_lexer]
