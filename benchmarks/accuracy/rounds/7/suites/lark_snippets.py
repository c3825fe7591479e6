from lark import Lark, Transformer


# --8<-- [start:inverse]
class Inverse(Transformer):
    def number(self, children):
        return 1 / int(children[0])


def run():
    parser = Lark(r"""
        start: number
        number: /\d+/
    """)
    tree = parser.parse("0")
    return Inverse().transform(tree)
# --8<-- [end:inverse]
