"""Stems: what a question asks of its options, read from its words.

The verdict depends on it: two true options make a question ambiguous only if exactly one can be
right, and "which is NOT" inverts every finding. If the words leave a doubt, the kind is OTHER; if
they leave a doubt about a negation, the stem is not clear. In both cases no defect is reported.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum


class StemKind(StrEnum):
    """How many options can be right, and whether running them can tell which."""

    ONE_TRUE = "one-true"
    ONE_FALSE = "one-false"
    SUPERLATIVE = "superlative"
    WHY = "why"
    OTHER = "other"


@dataclass(frozen=True)
class Stem:
    """The kind of a question and the words that showed it.

    `clear` is False where it cannot be told whether an option that works is what is asked for, as
    in "which is NOT the recommended way": an option that works may still be the answer.
    """

    kind: StemKind
    sign: str = ""
    clear: bool = True

    @property
    def negated(self) -> bool:
        """Whether the answer is the option whose statement is not true."""
        return self.kind is StemKind.ONE_FALSE

    @property
    def sure(self) -> bool:
        """Whether the words of the question alone say how it is to be read."""
        return self.clear and self.kind is not StemKind.OTHER

    @property
    def strict(self) -> bool:
        """Whether exactly one option can be right, so that two are an ambiguity."""
        return self.kind in (StemKind.ONE_TRUE, StemKind.ONE_FALSE)


# A sentence longer than this is no question that these patterns were made for.
_LONGEST = 1200


# No question is that long; reading it word by word would take minutes.
_LONGEST_TEXT = 8_000


def classify(text: str) -> Stem:
    """Return the stem of a question from its text."""
    if len(text) > _LONGEST_TEXT:
        return Stem(StemKind.OTHER, f"{text[:40]}…", clear=False)
    sentences = _sentences(_prose(text))
    asked = _find_question(sentences)
    if re.match(r"true or false\b", asked, re.IGNORECASE):
        return Stem(StemKind.ONE_TRUE, "true or false")
    if len(asked) > _LONGEST:
        return Stem(StemKind.OTHER, f"{asked[:40]}…", clear=False)
    core = _without_situation(asked)
    affirmed = _classify_affirmed(core)
    if affirmed.kind is StemKind.WHY and not _CHOICE.match(core):
        return affirmed
    sign = _choice_negation(core)
    doubt = _doubtful_negation(core, sign, [one for one in sentences if one != asked])
    if doubt:
        return Stem(_doubtful_kind(affirmed.kind), doubt, clear=False)
    if not sign:
        return affirmed
    if affirmed.kind in (StemKind.SUPERLATIVE, StemKind.WHY):
        return Stem(affirmed.kind, f"{sign}, {affirmed.sign}", clear=False)
    return Stem(StemKind.ONE_FALSE, sign)


# --- The text ----------------------------------------------------------------------------------

# "When" opens a question only before a verb; "when calling f, …" opens a circumstance.
_BEFORE_VERB = r"(?=\s+(?:is|are|does|do|did|will|can|should)\b)"
_INTERROGATIVE = rf"(?:which|what|whose|who|how|why|(?:where|when){_BEFORE_VERB})"
_PREPOSITION = r"(?:in|from|to|for|on|at|by|with|under|of|through|via|into|during)"
# A question word opens the question only at its start or after a comma or colon: "in a way which".
_OPENING = re.compile(
    rf"(?:^|[,;:–—]\s*|\)\s+)((?:and |then |so )?(?:{_PREPOSITION}\s+)?{_INTERROGATIVE}\b.*)",
    re.IGNORECASE,
)
_SITUATION = re.compile(
    r",?\s*\b(?:if|when|whenever|while|unless|because|since|although|even though|so that|such that"
    r"|in case|once|after|before|until|provided|assuming|where|given)\b[^,;?]*",
    re.IGNORECASE,
)


def _prose(text: str) -> str:
    """Return the words without code, quotations and emphasis, which never say what is asked."""
    text = re.sub(r"```.*?(?:```|$)|~~~.*?(?:~~~|$)", " ", text, flags=re.DOTALL)
    text = text.replace("’", "'").replace("‘", "'")
    text = re.sub(r"`[^`]*`|\bexcept(?= (?:clause|block|branch|handler|statement)\b)", "CODE", text)
    text = re.sub(r"\"[^\"]*\"|“[^”]*”|(?<!\w)'[^']*'(?!\w)", "CODE", text)
    text = re.sub(r"\*+|(?<!\w)_+(?=\w)|(?<=\w)_+(?!\w)", "", text)
    return re.sub(r"\s+", " ", text).strip()


def _sentences(prose: str) -> list[str]:
    parts = re.split(r"(?<=[.?!])(?<!e\.g\.)(?<!i\.e\.)(?<!etc\.)(?<!vs\.)\s+(?=[A-Z(])", prose)
    return [part for part in parts if part]


def _find_question(sentences: list[str]) -> str:
    """Return the last sentence with a question mark, or else the last one."""
    questions = [one for one in sentences if "?" in one]
    return (questions or sentences or [""])[-1]


def _without_situation(asked: str) -> str:
    """Return what is asked without its circumstances, whose negations do not count."""
    opening = _OPENING.search(asked)
    core = opening.group(1) if opening else asked
    head = re.match(
        rf"(?:and |then |so )?(?:{_PREPOSITION}\s+)?{_INTERROGATIVE}\b", core, re.IGNORECASE
    )
    start = head.end() if head else 0
    return (core[:start] + _SITUATION.sub("", core[start:])).strip()


# --- Without a negation ------------------------------------------------------------------------

_CHOICE = re.compile(
    rf"(?:and |then |so )?(?:{_PREPOSITION}\s+)?(?:which|what|who|whose)\b", re.IGNORECASE
)
_WHY = re.compile(
    r"^why\b|^how come\b|\bfor what reason\b|^what (?:explains|accounts for)\b"
    r"|\breasons? (?:why|for)\b"
    r"|^what (?:is|was|are|were|would be) (?:the|a) (?:\w+ )?reasons?\b",
    re.IGNORECASE,
)
_WAY = (
    r"(?:way|ways|approach|manner|usage|practice|strategy|pattern|procedure|process|technique"
    r"|method|means|choice|place|order)"
)
_SUPERLATIVE = re.compile(
    r"\bprimar(?:y|ily)\b|\bbest\b|(?<!at )\bmost(?:ly)?\b|(?<!at )\bleast\b|\brecommend(?:ed|s)?\b"
    r"|\bprefer(?:red|able|ably|s)?\b|\bmain(?:ly)?\b|\bidiomatic\b|\bshould(?:n't)?\b|\bought\b"
    r"|\b(?:typical|usual|normal|common|general|chief|principal|ideal|optimal|fundamental)(?:ly)?\b"
    r"|\b(?:suggested|advised|advisable|intended|appropriate|suitable|canonical|official|better"
    r"|essential|suited|designed|conventional|optimally)\b"
    rf"|\b(?:correct|right|proper|standard|valid|good) (?:\w+ )?{_WAY}\b"
    r"|\b(?:easiest|simplest|fastest|safest|cleanest|clearest|quickest|cheapest)\b",
    re.IGNORECASE,
)
# Words under which several options may well be right: nothing is ambiguous by them.
_HEDGE = re.compile(
    r"\b(?:would|could|might|may|helps?|helpful|useful|benefits?|advantages?|purposes?|roles?"
    r"|two|three|apply|apart)\b",
    re.IGNORECASE,
)
_MANY = re.compile(
    rf"(?:{_PREPOSITION}\s+)?(?:which|what)\b(?:\s+\S+){{0,6}}?\s(?:are|were|have)\b", re.IGNORECASE
)
_THIS = r"(?:this|that|the|it|CODE|each|[\w.]+\(\))"
_ONE_TRUE = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"(?:{_PREPOSITION}\s+)?which (?:one )?of (?:the|these|those|them)\b",
        rf"(?:{_PREPOSITION}\s+)?which\b(?!.*\bcan\b)",
        r"what (?:happens|will happen|occurs|results)\b",
        r"what (?:is|are|was|will be|gets) (?:the |then )?(?:printed|returned|raised|thrown|shown"
        r"|output)\b",
        r"what (?:is|will be|are) the (?:\w+ )?(?:\w+ )?(?:output|result|outcome|value|type|name"
        r"|signature|default|exception|error|class|module|path|import|statement|parameter|argument|field"
        r"|attribute|keyword|length|number|status|code)\b",
        r"what (?:exception|error|value|type|class|module|method|function|parameter|argument|field"
        r"|attribute|keyword|string|number|import|object|message|status|version|flag|decorator)\b"
        r"(?!.*\bcan\b)",
        rf"what (?:does|do|did|will) {_THIS}.*\b(?:print|return|raise|output|evaluate to|yield"
        r"|default to|throw|inherit from)s?\W*$",
        r"how (?:many|often|long|much)\b",
        r"(?:select|choose|pick|identify|find|mark|name) the (?:only |one |single )?"
        r"(?:correct|true|valid|right|accurate)\b",
    )
)


def _classify_affirmed(core: str) -> Stem:
    """Return the kind, leaving negations aside."""
    if why := _WHY.search(core):
        return Stem(StemKind.WHY, why.group())
    if superlative := _SUPERLATIVE.search(core):
        return Stem(StemKind.SUPERLATIVE, superlative.group())
    if _HEDGE.search(core) or _MANY.match(_without_description(core)):
        return Stem(StemKind.OTHER)
    for pattern in _ONE_TRUE:
        if found := pattern.match(core):
            return Stem(StemKind.ONE_TRUE, found.group())
    return Stem(StemKind.OTHER)


# --- With a negation ---------------------------------------------------------------------------

_NOT = r"(?:not|cannot|never|no longer|\w+n't)"
_ANY_NOT = re.compile(rf"\b{_NOT}\b|\b(?:neither|nor|except|excluding)\b", re.IGNORECASE)
_SHOUTED = re.compile(r"\b(?:NOT|EXCEPT|CANNOT|NEVER|INCORRECT|INVALID|FALSE|WRONG|LEAST|\w+N'T)\b")
_VERB = (
    r"(?:is|are|was|were|be|does|do|did|can|could|will|would|may|might|must|has|have|had|should)"
)
_SUBJECT = r"(?:\s+(?:you|we|one|it|CODE|(?:the|an?|this) \w+))?"
# Nouns that stand for the option itself: what is said of them is said of the choice.
_OPTION = r"(?:options?|statements?|one|ones|following|answers?|choices?|claims?|assertions?|item)"
_UNTRUE = (
    r"(?:incorrect|invalid|wrong(?! with)|untrue|inaccurate|illegal|improper|impossible|unsupported"
    r"|disallowed)"
)
_LISTED = rf"(?:which|{_OPTION}|these|those|sentences?|descriptions?)"
_CHOICE_NEGATIONS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        # "which parameter is not …", "which of these doesn't …", "what can you not …"
        rf"(?:{_PREPOSITION}\s+)?(?:which|what)\b(?:(?!\b(?:that|who)\b).)*?"
        rf"\b(?:{_VERB}{_SUBJECT}\s+(?:not|never|no longer)\b|cannot\b|\w+n't\b)",
        rf"(?:{_PREPOSITION}\s+)?(?:which|what)\s+(?:\S+\s+){{0,3}}?never\b",
        rf"(?:{_PREPOSITION}\s+)?(?:which|what)\b(?:(?!\b(?:that|who)\b).)*?"
        rf"\b(?:is|are|would be|be)\s+(?:an?\s+|the\s+)?{_UNTRUE}\b",
        rf"(?:{_PREPOSITION}\s+)?(?:which|what) {_UNTRUE}\b",
        rf"(?:which|what)\b.*\b{_LISTED}\b.*\b(?:is|are)\s+(?:an?\s+|the\s+)?false\b",
        r"which (?:is|are)\s+(?:an?\s+|the\s+)?false\b",
        # "all of the following are … except"
        r".*\b(?:all|each|every|any)\b.*\b(?:except|excluding|apart from|other than|but)"
        r"(?:\s+(?:for|one|which|what|the|following|of|these))*\s*[:?.…_]*$",
        rf"(?:select|choose|pick|identify|find|mark|name|which|what)\b.*\bthe (?:\w+ )?{_OPTION}\s+"
        rf"(?:that|which)\s+(?:{_VERB}\s+not|cannot|\w+n't|(?:is|are)\s+(?:{_UNTRUE}|false))\b",
        rf"(?:select|choose|pick|identify|find|mark|name) the (?:{_UNTRUE}|false)\b",
    )
)
_SIGN = re.compile(
    rf"\b(?:{_NOT}|except|excluding|apart from|other than|but|{_UNTRUE}|false)(?=\W|$)",
    re.IGNORECASE,
)
# Words that negate without a "not": an option that works is hardly what they ask for, but whoever
# proves may take them by the letter.
_REVERSED = re.compile(
    r"\b(?:fails?|lacks?|removed|missing|mistakes?|nonexistent|odd one|exception to)\b",
    re.IGNORECASE,
)
_LEAST = re.compile(r"(?<!at )\bleast\b", re.IGNORECASE)
_NO = re.compile(
    r"\b(?:which|what)\b.*\b(?:has|have|with|takes?|accepts?|needs?|is|are)\s+no\b", re.IGNORECASE
)
_RELATIVE = re.compile(r"\b(?:that|who|which)\b[^,;?]*", re.IGNORECASE)
_PREDICATE = re.compile(
    rf"\b(?:is|are|was)\s+(?:an?|the)\s+[^,;?]*?\b(?:that|which)\b[^,;?]*?\b{_NOT}\b", re.IGNORECASE
)


def _choice_negation(core: str) -> str:
    """Return the words that ask for the option that is not so, if there are any."""
    for pattern in _CHOICE_NEGATIONS:
        if found := pattern.match(core):
            signs = [one.group() for one in _SIGN.finditer(found.group())]
            return signs[-1] if signs else found.group()
    return ""


def _doubtful_negation(core: str, sign: str, others: list[str]) -> str:
    """Return a negation that may or may not reverse the choice."""
    for other in others:
        told = other if len(other) > _LONGEST else _without_situation(other)
        if found := _SHOUTED.search(told):
            return found.group()
    if found := _LEAST.search(core):
        return found.group()
    clause = core if sign else _without_description(core)
    negations = _ANY_NOT.findall(clause)
    untrue = re.findall(rf"\b{_UNTRUE}\b", clause, re.IGNORECASE) if sign else []
    if sign and (
        len(negations) + len(untrue) > 1 or re.search(r"\b(?:not|n't)\b.*\bbut\b", clause)
    ):
        return ", ".join([*negations, *untrue])
    if sign:
        return ""
    found = _ANY_NOT.search(clause) or _NO.search(clause) or _SHOUTED.search(core)
    found = found or _PREDICATE.search(core) or (_CHOICE.match(core) and _REVERSED.search(clause))
    return found.group() if found else ""


def _without_description(core: str) -> str:
    """Return what is asked without "that …" clauses, which only describe a thing."""
    head = _CHOICE.match(core)
    start = head.end() if head else 0
    return core[:start] + _RELATIVE.sub("", core[start:])


def _doubtful_kind(kind: StemKind) -> StemKind:
    return kind if kind in (StemKind.SUPERLATIVE, StemKind.WHY) else StemKind.OTHER
