"""Words that turn a question round, so that a name that works says the opposite of what it seems.

"Which import raises an error?" is not answered by one that imports, and "for anything other than
output" is not described by what is said about output. Where such words stand, nothing is claimed.
"""

from __future__ import annotations

import re

# From the question word to the end of its own clause: what happens "if" or "when" is another's.
_CLAUSE = re.compile(r"\b(?:which|what|whose)\b([^.?!,;:]*)", re.IGNORECASE)
_SUBORDINATE = re.compile(
    r"\b(?:if|when|whenever|where|while|because|after|before|once|until|to|for|so|that|in case)\b",
    re.IGNORECASE,
)
_FAILS = re.compile(
    r"\b(?:rais(?:e|es|ed|ing)|throws?|thrown|fail(?:s|ed|ing|ure)?|error(?:s|ed)?|crash(?:es|ed)?"
    r"|break(?:s|ing)?|broken|deprecated|removed|dropped|gone|missing|invalid|illegal|wrong"
    r"|incorrect|unavailable|unsupported|unknown|nonexistent|reject(?:s|ed)?|refused?|forbidden"
    r"|no longer)\b",
    re.IGNORECASE,
)
_TURNS = re.compile(
    r"\b(?:other than|rather than|instead of|except|apart from|besides|unlike|opposite|never|not"
    r"|no longer|third|fourth|fifth)\b|n['’]t\b",
    re.IGNORECASE,
)


def asks_for_failure(text: str) -> bool:
    """Whether what is asked for is something that does not work."""
    for clause in _CLAUSE.findall(text):
        if _FAILS.search(_SUBORDINATE.split(clause, maxsplit=1)[0]):
            return True
    return False


def is_turned(text: str) -> bool:
    """Whether a description says what is meant by what it is not."""
    return _TURNS.search(text) is not None
