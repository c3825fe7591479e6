"""The stem of a question: the words before its options, read by structure and not by sentence.

The words are split into tokens, and pieces of code into mentions. What is asked for is the first
noun of a small lexicon after the question word; whose it is follows from the words that stand
directly around a mention. What is left over is the residue: as long as there is any, more is asked
than the reader understands, and it claims only what is necessary.
"""

from __future__ import annotations

import ast
import re
import textwrap
import warnings
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from assay.questions.lexical.mentions import CodeForm, Mention, mentions

_LONGEST = 20_000


def word_set(text: str) -> frozenset[str]:
    """Return the words of a text, for a lexicon."""
    return frozenset(text.split())


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
    VALUE = "value"
    THING = "thing"
    OTHER = "other"


class Tie(StrEnum):
    """How closely the words bind what is asked for to a name in the question."""

    OWN = "own"  # "a parameter of `X`"
    NEAR = "near"  # "to configure an `X`, which parameter"
    NONE = "none"


def _lexicon(**words: str) -> dict[str, Noun]:
    return {one: Noun[name] for name, text in words.items() for one in text.split()}


NOUNS = _lexicon(
    IMPORT="import imports",
    PARAMETER="parameter parameters argument arguments kwarg kwargs keyword keywords param params",
    METHOD="method methods",
    FIELD="field fields attribute attributes setting settings property properties member members"
    " option options key keys",
    FUNCTION="function functions decorator decorators helper helpers call calls callable",
    EXCEPTION="exception exceptions error errors",
    FLAG="flag flags switch switches",
    CLASS="class classes subclass subclasses type types object objects",
    VALUE="value values output result constant literal",
)
_MEMBERS = (Noun.PARAMETER, Noun.FIELD, Noun.METHOD, Noun.FUNCTION, Noun.FLAG)
_KINDS = word_set(
    "class function method model constructor decorator dataclass initializer signature command"
    " instance object call module package enum enumeration exception"
)
_ARTICLES = word_set("the a an its this that your each every any")
_PREPOSITIONS = word_set("of in on for to from by with into")
_AUXILIARIES = word_set("do does did can must should will would is are")
_ADJECTIVES = word_set(
    "valid real available actual existing legal supported defined correct right proper"
    " working possible true accepted built-in"
)
_MAKING = re.compile(
    r"(?:creat|construct|instantiat|initiali[sz]|call|invok|mak|build|defin|declar)\w*"
)
_USING = re.compile(r"(?:us|configur|work|set|runn?|deploy|subclass|extend|pass|giv|hand)\w*")
_ASKING = word_set("which what")
# Words that carry the question and describe nothing that would have to be true as well.
_EMPTY = word_set(
    "which what one ones of the these those following is are was be been do does did not n't a an"
    " can cannot will would must should you we i it its there that this in on for to from by with"
    " as at and or into how have has exist exists accept accepts take takes support supports"
    " define defines provide provides offer offers library package version module all except"
    " statement statements line lines way name names called use used work works run runs succeed"
    " succeeds among below above listed given options choices answer imported importable directly"
    " part api sdk framework class default defaults if you when"
)
# Words after "which" that do not name a sort of thing.
_NO_THINGS = word_set(
    "of is are one ones does do did will would can could must should was were has have happens"
    " statement option answer approach way line following best correct value output result"
)


@dataclass(frozen=True)
class Token:
    """A word in lower case, or the number of a mention."""

    text: str
    mention: int | None = None


@dataclass(frozen=True)
class ParsedStem:
    """A stem as read: its words, code, and what is asked for; nothing is looked up yet."""

    prose: str
    blocks: tuple[str, ...]
    mentions: tuple[Mention, ...]
    tokens: tuple[Token, ...]
    noun: Noun
    word: str

    @property
    def sentence(self) -> str:
        """The sentence that asks."""
        sentences = re.split(r"(?<=[.?!])\s+(?=[A-Z`])", self.prose)
        return next((one for one in reversed(sentences) if "?" in one), sentences[-1])

    @property
    def asked(self) -> tuple[str, ...]:
        """The words right after the question word: they say what is asked for."""
        place = next((p for p, one in enumerate(self.tokens) if one.text in _ASKING), None)
        return (
            () if place is None else tuple(one.text for one in self.tokens[place + 1 : place + 5])
        )

    def has(self, *words: str) -> bool:
        """Return whether one of these words stands in it; `x*` stands for any ending."""
        return any(is_form(token.text, word) for token in self.tokens for word in words)

    def tie(self, number: int) -> Tie:
        """Return how the words around a mention bind it to what is asked for."""
        before, after = self._around(number)
        if self._is_of_another():
            return Tie.NONE
        if after[:1] == ["'s"] or _noun_first(after):
            return Tie.OWN
        if before and before[0] in _PREPOSITIONS and any(_is_member(one) for one in before[1:4]):
            return Tie.OWN
        if before and before[0] == "to" and any(_USING.fullmatch(one) for one in before[1:8]):
            return Tie.OWN
        if before and before[0] in _AUXILIARIES and any(_is_member(one) for one in before[1:4]):
            return Tie.OWN
        if any(_MAKING.fullmatch(one) for one in before[:4]):
            return Tie.OWN
        if before[:1] and (before[0] in _PREPOSITIONS or _USING.fullmatch(before[0])):
            return Tie.NEAR
        return Tie.NONE

    def _is_of_another(self) -> bool:
        """Return whether the asked-for thing is said to be of something that is no mention."""
        place = next((p for p, one in enumerate(self.tokens) if one.text == self.word), None)
        if place is None or not self.word:
            return False
        rest = [one for one in self.tokens[place + 1 :] if one.text not in _ARTICLES | _ADJECTIVES]
        if len(rest) < 2 or rest[0].text not in ("of", "in", "on"):
            return False
        follows = next((one for one in rest[1:] if one.text not in _KINDS | _PREPOSITIONS), None)
        return follows is not None and follows.mention is None and follows.text.isalpha()

    def _around(self, number: int) -> tuple[list[str], list[str]]:
        """Return the words before a mention, nearest first, and after it, without fillers."""
        place = next(p for p, one in enumerate(self.tokens) if one.mention == number)
        left = [one.text for one in reversed(self.tokens[:place])]
        right = [one.text for one in self.tokens[place + 1 :]]
        skip = _ARTICLES | _KINDS | _ADJECTIVES | {"new"}
        while left and left[0] in skip:
            left.pop(0)
        while right and right[0] in _KINDS and not _is_member(right[0]):
            right.pop(0)
        return left, right

    def follows(self, number: int, noun: Noun) -> bool:
        """Return whether a mention comes right after such a noun: "parameter `x`"."""
        before, after = self._around(number)
        return any(NOUNS.get(word) is noun for word in (*before[:1], *after[:1]))

    def residue(self, accounted: Collection[str]) -> list[str]:
        """Return the words that describe more than the sort of thing and whose it is."""
        return [
            one.text
            for one in self.tokens
            if one.mention is None
            and one.text.isalpha()
            and one.text not in _EMPTY | _ADJECTIVES | _KINDS
            and one.text not in NOUNS
            and one.text not in accounted
        ]


def is_form(text: str, word: str) -> bool:
    """Return whether a word is another, or with a star at its end begins like it."""
    return text.startswith(word[:-1]) if word.endswith("*") else text == word


def _is_member(word: str) -> bool:
    return NOUNS.get(word) in _MEMBERS or NOUNS.get(word) in (Noun.VALUE, Noun.CLASS)


def _noun_first(after: Sequence[str]) -> bool:
    return bool(after) and NOUNS.get(after[0]) in (Noun.PARAMETER, Noun.FIELD, Noun.METHOD)


def read_stem(text: str, plain: Collection[str] = ()) -> ParsedStem:
    """Read the words of a question; `plain` are words that are names though they look like none."""
    blocks, prose = split_blocks(text[:_LONGEST])
    found = _with_plain(prose, mentions(prose), plain)
    tokens = tuple(_tokens(prose, found))
    noun, word = _find_noun(tokens)
    return ParsedStem(prose, blocks, found, tokens, noun, word)


def _with_plain(
    prose: str, found: tuple[Mention, ...], plain: Collection[str]
) -> tuple[Mention, ...]:
    taken = [(one.start, one.end) for one in found]
    more = [
        Mention(one[0], CodeForm.NAME, one[0], start=one.start(), end=one.end(), quoted=False)
        for one in re.finditer(r"\b[A-Z]\w+\b", prose)
        if one[0] in plain and not any(a <= one.start() < b for a, b in taken)
    ]
    return tuple(sorted((*found, *more), key=lambda one: one.start))


_TOKEN = re.compile(r"⟦(\d+)⟧|'s\b|[A-Za-z]+(?:-[A-Za-z]+)*(?:'(?!s\b)[a-z]+)?|\d[\w.]*|[?.,;:!]")


def _tokens(prose: str, found: tuple[Mention, ...]) -> Iterator[Token]:
    for number in range(len(found) - 1, -1, -1):
        one = found[number]
        prose = f"{prose[: one.start]}⟦{number}⟧{prose[one.end :]}"
    for match in _TOKEN.finditer(prose.replace("’", "'")):
        yield Token(match[0].lower(), int(match[1]) if match[1] else None)


def _find_noun(tokens: Sequence[Token]) -> tuple[Noun, str]:
    """Return the first noun of the lexicon after the question word, or the word after it."""
    for place, token in enumerate(tokens):
        if token.text not in _ASKING:
            continue
        following = [one.text for one in tokens[place + 1 : place + 8]]
        for distance, word in enumerate(following):
            if word in "?.;:" or (word == "," and distance > 1):
                break
            joined = " ".join(following[max(0, distance - 1) : distance + 1])
            if re.fullmatch(r"(?:command-line|cli|line) options?", joined):
                return Noun.FLAG, word
            if word in ("type", "types", "kind") and "of" in following[distance + 1 : distance + 2]:
                continue
            if word in NOUNS:
                return NOUNS[word], word
    for place, token in enumerate(tokens[:-1]):
        after = tokens[place + 1]
        if token.text in _ASKING and after.text.isalpha() and after.text not in _NO_THINGS:
            return Noun.THING, after.text
    return Noun.OTHER, ""


# --- Code that stands by itself ----------------------------------------------------------------

_FENCED = re.compile(r"```[\w+-]*\n(.*?)(?:```|\Z)", re.DOTALL)
_INDENTED = re.compile(r"(?:^|\n)[ \t]*\n((?:(?: {4}|\t).*(?:\n|\Z)|[ \t]*\n)+)")


def split_blocks(text: str) -> tuple[tuple[str, ...], str]:
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


# --- What a reader leaves alone ----------------------------------------------------------------

# From the question word to the end of its own clause: what happens "if" or "when" is another's.
_CLAUSE = re.compile(r"\b(?:which|what|whose)\b([^.?!,;:]*)", re.IGNORECASE)
_SUBORDINATE = re.compile(
    r"\b(?:if|when|whenever|where|while|because|after|before|once|until|to|for|so|that|in case)\b",
    re.IGNORECASE,
)
_FAILS = re.compile(
    r"\b(?:rais(?:e|es|ed|ing)|throws?(?! away)|thrown|fail(?:s|ed|ing|ure)?"
    r"|error(?:s|ed)?|crash(?:es|ed)?|break(?:s|ing)?|broken|deprecated|removed|dropped|gone|missing|invalid|illegal|wrong"
    r"|incorrect|unavailable|unsupported|unknown|nonexistent|reject(?:s|ed)?|refused?|forbidden"
    r"|no longer|typos?|misspell\w*|mistakes?|ignored|made up|invented|fictitious|fake|bogus"
    r"|nonsense|hallucinated|\w+(?:Error|Exception))\b",
    re.IGNORECASE,
)
_TURNS = re.compile(
    r"\b(?:other than|rather than|instead of|except|apart from|besides|unlike|opposite|never|not"
    r"|no longer|third|fourth|fifth)\b|n['’]t\b",
    re.IGNORECASE,
)
_VERSION = r"v?(\d+(?:\.(?:\d+|x|\*))*)"
_VERSIONS = re.compile(
    rf"\b(?:versions?|releases?)\s+{_VERSION}"
    r"|\b(?:before|since|until|till|prior to|up to|from|than|after)\s+v?(\d+\.\d+(?:\.\d+)*)"
    rf"|\bv(\d+(?:\.\d+)*)\b|\bin\s+v?(\d+\.(?:\d+|x)(?:\.\d+)*)\b",
    re.IGNORECASE,
)
_ELSEWHERE = re.compile(
    r"\b(?:windows|macos|mac os|linux|posix|(?:on|across) (?:\w+ )?platforms?"
    r"|operating system|python\s*\d[\d.]*|pypy"
    r"|(?:previous|earlier|older|former|legacy|other|later|newer) (?:\w+ )?"
    r"(?:versions?|releases?|apis?|python)|previously|formerly"
    r"|(?<!is )(?<!are )(?<!be )(?<!being )(?<!can )used to"
    r"|originally|historical(?:ly)?"
    r"|renamed|obsolete|replaced|hypothetical\w*|at the time|back then"
    r"|in the past|did|was called|were called|worked|upcoming|future)\b",
    re.IGNORECASE,
)


def is_outside_target(text: str, names: Collection[str], versions: Collection[str]) -> bool:
    """Return whether a question is about another version, platform or time than the target.

    `names` are the target's packages and `versions` theirs; "in pydantic 2" fits 2.11.7.
    """
    if _ELSEWHERE.search(text):
        return True
    found = [next(filter(None, one)) for one in _VERSIONS.findall(text)]
    for name in names:
        plain = re.sub(r"[-_.]+", "[-_. ]?", re.escape(name).replace("\\-", "-"))
        found += re.findall(rf"\b{plain}\s*(?:==|version)?\s*{_VERSION}", text, re.IGNORECASE)
    return any(not _matches(one, versions) for one in found)


def _matches(version: str, versions: Collection[str]) -> bool:
    parts = [part for part in version.lower().split(".") if part not in ("x", "*")]
    return any(one.split(".")[: len(parts)] == parts for one in versions)


# What a thing that works may well do.
_RAISING = re.compile(r"rais\w*|throw\w*|errors?|fail(?:s|ure)", re.IGNORECASE)


def asks_for_failure(text: str, *, may_raise: bool = False) -> bool:
    """Return whether what is asked for is something that does not work."""
    # The dot in `Owner.member` ends no clause.
    for clause in _CLAUSE.findall(re.sub(r"(?<=\w)\.(?=\w)", "_", text)):
        found = _FAILS.findall(_SUBORDINATE.split(clause, maxsplit=1)[0])
        if any(not (may_raise and _RAISING.fullmatch(one)) for one in found):
            return True
    return False


def is_negated(text: str) -> bool:
    """Return whether a description says what is meant by what it is not."""
    return _TURNS.search(text) is not None
