"""Snippets for the boltons questions."""
from boltons.dictutils import FrozenDict
from boltons.iterutils import chunked


# --8<-- [start:chunk_text]
def batches():
    return chunked("abcdefg", 3)
# --8<-- [end:chunk_text]


# --8<-- [start:frozen]
def enable_debug():
    settings = FrozenDict({"debug": False})
    settings["debug"] = True
    return settings
# --8<-- [end:frozen]
