"""Snippets for the hypothesis questions."""
from hypothesis import find, strategies as st


# --8<-- [start:smallest]
def smallest():
    return find(st.lists(st.integers()), lambda xs: sum(xs) >= 10)
# --8<-- [end:smallest]
