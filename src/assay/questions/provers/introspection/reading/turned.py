"""Words that turn a question round, so that a name that works says the opposite of what it seems.

"Which import raises an error?" is not answered by one that imports, and "for anything other than
output" is not described by what is said about output. Where such words stand, nothing is claimed.
"""

from __future__ import annotations

import re
from collections.abc import Collection

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
    r"|no longer|typos?|misspell\w*|mistakes?|ignored|made up|invented|fictitious|fake|bogus"
    r"|nonsense|\w+(?:Error|Exception))\b",
    re.IGNORECASE,
)
_TURNS = re.compile(
    r"\b(?:other than|rather than|instead of|except|apart from|besides|unlike|opposite|never|not"
    r"|no longer|third|fourth|fifth)\b|n['’]t\b",
    re.IGNORECASE,
)

_VERSION = r"v?(\d+(?:\.(?:\d+|x|\*))*)"
_VERSIONS = re.compile(
    r"\b(?:versions?|releases?|before|since|until|till|prior to|up to|from|than|after)\s+"
    rf"{_VERSION}"
    rf"|\bv(\d+(?:\.\d+)*)\b|\bin\s+v?(\d+\.(?:\d+|x)(?:\.\d+)*)\b",
    re.IGNORECASE,
)
_ELSEWHERE = re.compile(
    r"\b(?:windows|macos|mac os|linux|posix|platforms?|operating system|python\s*\d[\d.]*|pypy"
    r"|previous(?:ly)?|earlier|older|former(?:ly)?|legacy"
    r"|(?<!is )(?<!are )(?<!be )(?<!being )(?<!can )used to"
    r"|originally|historical(?:ly)?"
    r"|renamed|obsolete|replaced|other librar\w+|hypothetical\w*|at the time|back then"
    r"|in the past|was called|were called|worked|upcoming|future)\b",
    re.IGNORECASE,
)


def speaks_of_elsewhere(text: str, names: Collection[str], versions: Collection[str]) -> bool:
    """Whether a question is about another version, platform or time than those of the target.

    `names` are the target's packages and `versions` theirs; "in pydantic 2" fits 2.11.7.
    """
    if _ELSEWHERE.search(text):
        return True
    told = [next(filter(None, found)) for found in _VERSIONS.findall(text)]
    for name in names:
        plain = re.sub(r"[-_.]+", "[-_. ]?", re.escape(name).replace("\\-", "-"))
        told += re.findall(rf"\b{plain}\s*(?:==|version)?\s*{_VERSION}", text, re.IGNORECASE)
    return any(not _fits(one, versions) for one in told)


def _fits(told: str, versions: Collection[str]) -> bool:
    parts = [part for part in told.lower().split(".") if part not in ("x", "*")]
    return any(version.split(".")[: len(parts)] == parts for version in versions)


def asks_for_failure(text: str) -> bool:
    """Whether what is asked for is something that does not work."""
    # The dot in `Owner.member` ends no clause.
    for clause in _CLAUSE.findall(re.sub(r"(?<=\w)\.(?=\w)", "_", text)):
        if _FAILS.search(_SUBORDINATE.split(clause, maxsplit=1)[0]):
            return True
    return False


def is_turned(text: str) -> bool:
    """Whether a description says what is meant by what it is not."""
    return _TURNS.search(text) is not None
