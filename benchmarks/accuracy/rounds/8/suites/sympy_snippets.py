"""Snippets for the sympy questions."""
from sympy import symbols


# --8<-- [start:swap]
def swapped():
    x, y = symbols("x y")
    return (x - y).subs([(x, y), (y, x)])
# --8<-- [end:swap]
