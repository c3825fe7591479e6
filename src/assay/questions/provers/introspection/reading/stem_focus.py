"""What a question asks for: a sort of thing, its owner, and whether being one is sufficient."""

from __future__ import annotations

import ast
import re
import textwrap
import warnings
from collections.abc import Collection
from dataclasses import dataclass, replace
from enum import StrEnum

from assay.questions.provers.introspection.reading.mentions import Mention, mentions

_LONGEST = 20_000


class Noun(StrEnum):
    """The sort of thing that is asked for."""

    IMPORT = "import"
    PARAMETER = "parameter"
    FIELD = "field"
    METHOD = "method"
    FUNCTION = "function"
    CLASS = "class"
    EXCEPTION = "exception"
    FLAG = "flag"
    DEFAULT = "default"
    OUTCOME = "outcome"
    THING = "thing"
    OTHER = "other"


class Tie(StrEnum):
    """How closely the words bind what is asked for to a name in the question."""

    OWN = "own"  # "a parameter of `X`"
    NEAR = "near"  # "from an `X`, which parameter"
    NONE = "none"


@dataclass(frozen=True)
class StemFocus:
    """The reading of a question's words; nothing is looked up yet.

    `word` is the noun as written. `owner` is the name the thing is to belong to. `is_whole` says
    that an option which is such a thing of the owner is thereby right. `subject` is the name the
    question is about, such as the parameter whose default is asked for, or what is to be imported.
    """

    noun: Noun
    word: str = ""
    owner: Mention | None = None
    tie: Tie = Tie.NONE
    is_whole: bool = False
    subject: Mention | None = None
    prose: str = ""
    blocks: tuple[str, ...] = ()
    mentions: tuple[Mention, ...] = ()


_WORDS: dict[Noun, str] = {
    Noun.IMPORT: r"imports?|import statements?|import lines?",
    Noun.PARAMETER: r"(?:keyword |constructor |init |named )?(?:parameters?|arguments?)|kwargs?"
    r"|keywords?",
    Noun.METHOD: r"(?:class |static |instance |async |helper )?methods?",
    Noun.FIELD: r"(?:configuration |config )?(?:fields?|attributes?|settings?|propert(?:y|ies)"
    r"|members?|options?)",
    Noun.FUNCTION: r"functions?|decorators?|helpers?|calls?",
    Noun.EXCEPTION: r"exceptions?|errors?|exception (?:class|type)|error (?:class|type)",
    Noun.FLAG: r"(?:command[- ]line |cli )?(?:flags?|switch|switches)|command[- ]line options?",
    Noun.CLASS: r"(?:abstract |base |abstract base )?class(?:es)?|types?|"
    r"(?:configuration |config )?objects?",
}
_ANY = "|".join(f"(?P<{noun.name}>{words})" for noun, words in _WORDS.items())
_PLAIN = "|".join(_WORDS.values())
_CODE = r"⟦(\d+)⟧"
_ASKING = r"(?:which|what)(?: one)?"
_OF_THESE = r"(?: of (?:the|these|those)(?: following)?)?"
_ARTICLE = r"(?:(?:the|an?|its|this|that|your|each|every)\s+)?"
_OF = r"(?:of|in|on|for|to|from|by|with)"

_FIRST_NOUN = re.compile(
    rf"\b{_ASKING}{_OF_THESE}(?:\s+(?!(?:{_PLAIN})\b)[^\s?.,]+){{0,5}}?\s+(?:{_ANY})\b",
    re.IGNORECASE,
)
_EXCEPT = re.compile(rf"\ball (?:of )?(?:these|the following)\b[^?]*?\b(?:{_ANY})\b", re.IGNORECASE)
_DIRECT_NOUN = re.compile(rf"\b{_ASKING}\s+(\w[\w-]*)\b", re.IGNORECASE)
# Words after "which" that do not name a sort of thing.
_NO_NOUNS = frozenset(
    {"of", "is", "are", "one", "ones", "does", "do", "did", "will", "would", "can", "could", "must",
     "should", "was", "were", "has", "have", "happens", "statement", "option", "answer", "approach",
     "way", "line", "following", "best", "correct", "value", "output", "result"}
)  # fmt: skip
_OWN_TIES = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"{_CODE}\s+(?:(?:class|model|constructor|method|function|decorator|command)\s+)?"
        rf"(?:{_PLAIN})\b",
        rf"\b(?:{_PLAIN})\s+(?:{_CODE}\s+)?{_OF}\s+{_ARTICLE}"
        r"(?:(?!(?:which|what|types?|kind|sort)\b)\w+\s+){0,2}?"
        rf"(?P<owner>{_CODE})",
        rf"\b(?:{_PLAIN})\s+(?:do|does|can|must|should)\s+{_ARTICLE}(?:\w+\s+)?(?P<owner>{_CODE})"
        r"(?:'s \w+)?\s+(?:accept|take|have|support|define|expect|require|provide|offer"
        r"|expose|use)",
        r"\b(?:when|while|if|for)\s+(?:you\s+are\s+|you\s+)?(?:call|creat|construct|instantiat"
        r"|initiali[sz]|invok|mak|build|us|run|deploy)\w*\s+"
        rf"(?:\w+\s+){{0,4}}?{_ARTICLE}(?P<owner>{_CODE})[^,?.]{{0,40}},\s*{_ASKING}\s+"
        rf"(?:\w+\s+)?(?:{_PLAIN})\b",
        rf"\b(?:{_PLAIN})\s+(?:do|does|should|must|can|would)\s+(?:you|we|one|i)\s+(?:\w+\s+)?"
        rf"(?:pass|give|hand|add)\s+(?:in\s+)?to\s+{_ARTICLE}(?P<owner>{_CODE})",
        rf"\b(?:which|what)\s+(?:keyword\s+)?(?:parameter|argument)\s+(?:is|are)\b[^?.,]{{0,80}}"
        rf"\b(?:given|passed|handed)\s+to\s+{_ARTICLE}(?P<owner>{_CODE})",
    )
)
_NEAR_TIE = re.compile(
    rf"\b(?:of|in|on|for|to|from|with|configure|create)\s+{_ARTICLE}(?P<owner>{_CODE})"
    rf"[^,?.]{{0,60}},\s*{_ASKING}\s+(?:\w+\s+)?(?:{_PLAIN}|callback|hook)\b",
    re.IGNORECASE,
)
_VALID = r"(?:(?:valid|real|public|available|actual|existing|legal|supported)\s+)?"
_END = r"(?:\s+in\s+[\w.]+(?:\s+v?[\d.]+)?)?\s*[?.:]*\s*$"
_KIND = r"(?:(?:class|function|method|model|constructor|decorator|module|package)\s+)?"
_WHOLE = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\b{_ASKING}{_OF_THESE}(?:\s+\w+)?\s+(?:is|are)(?:\s+not|n't)?\s+(?:an?\s+)?{_VALID}"
        rf"(?:{_PLAIN})\s+{_OF}\s+{_ARTICLE}{_KIND}{_CODE}{_END}",
        rf"\ball (?:of )?(?:these|the following)\s+are\s+{_VALID}(?:{_PLAIN})\s+{_OF}\s+{_ARTICLE}"
        rf"{_KIND}{_CODE}\s*,?\s*except\b[^,]{{0,20}}$",
        rf"\b{_ASKING}{_OF_THESE}(?:\s+(?:{_PLAIN}))?\s+(?:do|does|can)(?:\s+not|n't)?\s+{_ARTICLE}"
        rf"{_KIND}{_CODE}\s+(?:accept|take|have|support|define|provide|offer){_END}",
        rf"\b{_ASKING}{_OF_THESE}(?:\s+(?:{_PLAIN}))?\s+(?:exists?|is defined|is available)\s+"
        rf"{_OF}\s+{_ARTICLE}{_KIND}{_CODE}{_END}",
    )
)
_IMPORTED_FROM = re.compile(
    rf"\b{_ASKING}{_OF_THESE}(?:\s+\w+){{0,3}}\s+can(?:not|\s+not|'t)?\s+be\s+imported\s+"
    rf"(?:directly\s+)?from\s+{_ARTICLE}{_KIND}(?P<owner>{_CODE}){_END}",
    re.IGNORECASE,
)
_MAKING = (
    r"(?:when|if|while)\s+(?:you\s+)?(?:creat|construct|instantiat|initiali[sz]|call|mak|build)\w*"
)
_DEFAULT = re.compile(
    rf"\bdefault(?:\s+value)?\s+(?:of|for)\s+{_ARTICLE}(?:(?:{_PLAIN})\s+)?(?P<subject>{_CODE})"
    rf"(?:\s+(?:{_PLAIN}))?(?:\s+(?:{_OF}|{_MAKING})\s+{_ARTICLE}(?:\w+\s+){{0,2}}?"
    rf"(?P<owner>{_CODE}))?",
    re.IGNORECASE,
)
_DEFAULTS_TO = re.compile(
    rf"\bwhat\s+(?:value\s+)?does\s+{_ARTICLE}(?:(?:{_PLAIN})\s+)?(?P<subject>{_CODE})"
    rf"(?:\s+(?:{_PLAIN}))?\s+{_OF}\s+{_ARTICLE}(?:\w+\s+){{0,2}}?(?P<owner>{_CODE})\s+"
    r"(?:default\s+to|have\s+by\s+default)\b",
    re.IGNORECASE,
)
_SUBJECT = re.compile(
    rf"\b(?:import statements?|imports?|import)\s+(?:\w+\s+){{0,3}}?{_ARTICLE}(?P<subject>{_CODE})",
    re.IGNORECASE,
)
_OUTCOME = re.compile(
    r"\bwhat\s+(?:happens|will happen|is printed|is the (?:\w+ )?(?:output|outcome|result)"
    r"|is (?:then )?(?:raised|returned|printed)|(?:gets|will be) (?:raised|returned|printed)"
    r"|(?:is|will be) the value of|does .*?\b(?:print|output|return|raise"
    r"|evaluate)\b|will .*?\b(?:print|output|return|raise|evaluate)\b)",
    re.IGNORECASE,
)


def parse_focus(text: str) -> StemFocus:
    """Read a question's words; whatever is not understood is Noun.OTHER."""
    text = text[:_LONGEST]
    blocks, prose = _blocks(text)
    found = mentions(prose)
    masked = _mask(prose, found)
    focus = _read(masked, found)
    return replace(focus, prose=prose, blocks=blocks, mentions=found)


_FENCED = re.compile(r"```[\w+-]*\n(.*?)(?:```|\Z)", re.DOTALL)
_INDENTED = re.compile(r"(?:^|\n)[ \t]*\n((?:(?: {4}|\t).*(?:\n|\Z)|[ \t]*\n)+)")


def _blocks(text: str) -> tuple[tuple[str, ...], str]:
    """Return the code that stands by itself, fenced or indented, and the words around it."""
    blocks = tuple(found[1].rstrip() for found in _FENCED.finditer(text))
    prose = _FENCED.sub(" ", text)
    if not blocks:
        found = [one for one in _INDENTED.finditer(text) if _is_program(one[1])]
        blocks = tuple(textwrap.dedent(one[1]).strip("\n").rstrip() for one in found)
        for one in reversed(found):
            prose = f"{prose[: one.start(1)]} {prose[one.end(1) :]}"
    return blocks, re.sub(r"\s+", " ", prose).strip()


def _is_program(text: str) -> bool:
    """Return whether an indented part is code and not a quotation or a list."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            body = ast.parse(textwrap.dedent(text)).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return any(not isinstance(one, ast.Expr) or isinstance(one.value, ast.Call) for one in body)


def _mask(prose: str, found: tuple[Mention, ...]) -> str:
    """Return the words with every piece of code replaced by its number."""
    for number in range(len(found) - 1, -1, -1):
        one = found[number]
        prose = f"{prose[: one.start]}⟦{number}⟧{prose[one.end :]}"
    return prose


def _read(masked: str, found: tuple[Mention, ...]) -> StemFocus:
    if default := _DEFAULT.search(masked) or _DEFAULTS_TO.search(masked):
        return StemFocus(
            Noun.DEFAULT,
            subject=_at(default, "subject", found),
            owner=_at(default, "owner", found),
            tie=Tie.OWN,
        )
    if imported := _IMPORTED_FROM.search(masked):
        return StemFocus(
            Noun.THING, owner=_at(imported, "owner", found), tie=Tie.OWN, is_whole=True
        )
    noun, word = _noun(masked)
    if noun is Noun.IMPORT:
        subject = _SUBJECT.search(masked)
        return StemFocus(noun, word, subject=_at(subject, "subject", found) if subject else None)
    if noun is Noun.OTHER and _OUTCOME.search(masked):
        return StemFocus(Noun.OUTCOME)
    owner, tie = _owner(masked, found)
    is_whole = tie is Tie.OWN and any(one.search(masked) for one in _WHOLE)
    return StemFocus(noun, word, owner, tie, is_whole)


def _noun(masked: str) -> tuple[Noun, str]:
    found = _FIRST_NOUN.search(masked) or _EXCEPT.search(masked)
    if found:
        name = next(name for name, value in found.groupdict().items() if value)
        return Noun[name], found[name].lower()
    for direct in _DIRECT_NOUN.finditer(masked):
        if direct[1].lower() not in _NO_NOUNS:
            return Noun.THING, direct[1].lower()
    return Noun.OTHER, ""


def _owner(masked: str, found: tuple[Mention, ...]) -> tuple[Mention | None, Tie]:
    for pattern in _OWN_TIES:
        if tied := pattern.search(masked):
            return _at(tied, "owner", found), Tie.OWN
    if near := _NEAR_TIE.search(masked):
        return _at(near, "owner", found), Tie.NEAR
    return None, Tie.NONE


def _at(match: re.Match[str], group: str, found: tuple[Mention, ...]) -> Mention | None:
    """Return the mention that a group stands for; the only one if there is no such group."""
    text = match.groupdict().get(group)
    if text is None and group in match.re.groupindex:
        return None
    number = re.search(_CODE, text if text is not None else match.group())
    place = int(number[1]) if number else len(found)
    return found[place] if place < len(found) else None


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


def is_outside_target(text: str, names: Collection[str], versions: Collection[str]) -> bool:
    """Return whether a question is about another version, platform or time than the target.

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
    """Return whether what is asked for is something that does not work."""
    # The dot in `Owner.member` ends no clause.
    for clause in _CLAUSE.findall(re.sub(r"(?<=\w)\.(?=\w)", "_", text)):
        if _FAILS.search(_SUBORDINATE.split(clause, maxsplit=1)[0]):
            return True
    return False


def is_negated(text: str) -> bool:
    """Return whether a description says what is meant by what it is not."""
    return _TURNS.search(text) is not None
