"""Snippets for the babel questions."""
from babel.numbers import parse_decimal


# --8<-- [start:amount]
def read_amount(text):
    return parse_decimal(text, locale="de_DE")
# --8<-- [end:amount]
