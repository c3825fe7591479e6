"""Rules for questions and snippets that give away the answer."""

from __future__ import annotations

import re
from collections.abc import Iterator

from assay.findings import Finding
from assay.questions.lint_rules.context import Linted, blank_quotes, is_compound, prose, rule
from assay.questions.model import AnyQuestion, ApiQuestion, FixQuestion, Question

# A word and a placeholder grown together, which no Python outside of a string can be.
_SLOT = r"\{[A-Za-z_]\w*\}"
_GLUED = re.compile(rf"(?<![\\$\w{{])(?:\w*_{_SLOT}\w*|\w+{_SLOT}\w+|{_SLOT}_\w+)")
_BARE = re.compile(
    r"(?<![\w$/{.])\{[A-Za-z_]\w*\}(?![\w/}.]*/)|\{\{\s*[\w.]+\s*\}\}|\{%.*?%\}|\$\{[a-z]\w*\}"
    r"|(?<![\w%])%(?:\(\w+\))?[sdr](?!\w)"
)
_MARKS = re.compile(r"\{\{?\w+\}|%[sdr]\b")
_TODO = re.compile(
    r"<\s*(?:TODO|FIXME|TBD|PLACEHOLDER|INSERT|FILL)\b[^>]*>"
    r"|\[\s*(?:TODO|FIXME|TBD|PLACEHOLDER|INSERT|FILL)\b[^\]]*\](?!\()"
    r"|^\s*(?:TODO|FIXME|TBD)\b|\blorem ipsum\b",
    re.IGNORECASE | re.MULTILINE,
)
# Questions about placeholders speak of them; in prose a brace alone needs less to be explained.
_ABOUT_PLACEHOLDERS = re.compile(
    r"placeholder|template|interpolat|f-?string|brace|curly|format string|substitut|jinja|route",
    re.IGNORECASE,
)
_ABOUT_STRINGS = re.compile(
    r"format|printf|specifier|strftime|\binject|\bstate\b|\burl\b|\bpath\b|\bstrings?\b|variable|\bsets?\b",
    re.IGNORECASE,
)


@rule(
    "template-leak",
    "error",
    "A template was not filled in",
    "A placeholder of the generator was left in the question. Fill it in.",
)
def template_leak(linted: Linted) -> Iterator[Finding]:
    for suite in linted.suites:
        for entry in suite.entries:
            texts = dict(_texts(entry.question))
            for field, text in texts.items():
                others = [other for name, other in texts.items() if name != field]
                leak = _leak(text, "\n".join([*others, _code(entry.question)]))
                if leak is not None:
                    yield Finding(
                        "template-leak",
                        f"`{field}` holds a placeholder that was not filled in: {leak}",
                        entry.place(field),
                        "fill it in",
                        entry.id,
                    )


def _texts(question: AnyQuestion) -> Iterator[tuple[str, str]]:
    if isinstance(question, FixQuestion):
        yield "description", question.description
        return
    yield "question", question.text
    if isinstance(question, Question):
        for letter, text in question.options.items():
            yield f"options.{letter}", text


def _code(question: AnyQuestion) -> str:
    snippet = question.snippet if isinstance(question, Question) else None
    return snippet.code if snippet else ""


def _leak(text: str, elsewhere: str) -> str | None:
    """Return the first mark in a text that was left there, judged by what stands elsewhere."""
    if todo := _TODO.search(prose(text)):
        return todo[0].strip()
    everything = f"{text}\n{elsewhere}"
    # What is said in several places is the subject of the question and no leak.
    if _ABOUT_PLACEHOLDERS.search(everything) or _MARKS.search(elsewhere):
        return None
    found = list(_GLUED.finditer(blank_quotes(text)))
    if not _ABOUT_STRINGS.search(everything):
        found += _BARE.finditer(prose(text))
    return next((match[0] for match in found if not _is_file_name(text, match)), None)


def _is_file_name(text: str, match: re.Match[str]) -> bool:
    return re.match(r"[\w{}]*\.\w+", text[match.end() :]) is not None


# An option that is a name and nothing else: `a.b.name`, `name(…)`, `--name`.
_NAME = re.compile(r"-{0,2}(?:\w+\.)*([A-Za-z_]\w*)(?:\(.*\))?")
_WORD = re.compile(r"[A-Za-z_]\w*")
_SHAPED = re.compile(r".*(?:_|[a-z0-9][A-Z]|[A-Z]{2,}[a-z]).*")
_ASKS_FOR_A_NAME = re.compile(
    r"\b(?:which|what)\b[^.?]*\b(?:parameters?|arguments?|methods?|functions?|class|classes|fields?"
    r"|attributes?|propert(?:y|ies)|flags?|settings?|keywords?|decorators?|callbacks?|commands?)\b",
    re.IGNORECASE,
)
_NO_NAMES = frozenset({"True", "False", "None", "true", "false", "null"})


@rule(
    "answer-given-away",
    "warning",
    "The question reveals its answer",
    "The question contains the keyed name and none of the others, so the answer can be picked "
    "without knowledge. Describe it without its name.",
)
def answer_given_away(linted: Linted) -> Iterator[Finding]:
    for suite in linted.suites:
        for entry in suite.entries:
            if isinstance(entry.question, Question) and entry.key is not None:
                told = _find_in_choice(entry.question, entry.key.answer)
            elif isinstance(entry.question, ApiQuestion):
                told = _find_in_api(entry.question)
            else:
                continue
            if told:
                yield Finding(
                    "answer-given-away",
                    f"the question already contains the answer `{told}`",
                    entry.place("question"),
                    "describe it without its name",
                    entry.id,
                )


def _find_in_choice(question: Question, key: str) -> str | None:
    name = _name_of(question.options.get(key, ""))
    if name is None or not _stands_in(name, question.text):
        return None
    for letter, text in question.options.items():
        # A distractor that is no name, or that is named as well, is an alternative to think about.
        other = None if letter == key or is_compound(text) else _name_of(text)
        if letter != key and not is_compound(text) and (other is None or other == name):
            return None
        if other is not None and _stands_in(other, question.text):
            return None
    return name


def _find_in_api(question: ApiQuestion) -> str | None:
    names = (_name_of(answer.text) for answer in question.answers)
    return next((name for name in names if name and _stands_in(name, question.text)), None)


def _name_of(option: str) -> str | None:
    match = _NAME.fullmatch(option.strip().strip("`'\".").strip())
    return match[1] if match and match[1] not in _NO_NAMES else None


def _stands_in(name: str, text: str) -> bool:
    """Tell whether a text holds a name; an everyday word counts only if a name is asked for."""
    if name not in _WORD.findall(text):
        return False
    return bool(_SHAPED.fullmatch(name)) or _ASKS_FOR_A_NAME.search(text) is not None
