"""Rule about templates that were not filled in: `enable_{t}`, `{{name}}`, `%s`, `<TODO>`.

Braces and percent signs are also code, and questions are about code. So a mark counts only where it
cannot be code, and never where it is what the question is about.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from assay.findings import Finding
from assay.questions.lint_rules.rules import Linted, rule
from assay.questions.lint_rules.words import prose, unquoted
from assay.questions.model import AnyQuestion, FixQuestion, Question

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
    "A placeholder of whatever generated the question stands where a name should. Fill it in.",
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
                        "write what should stand there",
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
    """The first mark in a text that was left there, judged by what stands elsewhere."""
    if todo := _TODO.search(prose(text)):
        return todo[0].strip()
    everything = f"{text}\n{elsewhere}"
    # What is said in several places is the subject of the question and no leak.
    if _ABOUT_PLACEHOLDERS.search(everything) or _MARKS.search(elsewhere):
        return None
    found = list(_GLUED.finditer(unquoted(text)))
    if not _ABOUT_STRINGS.search(everything):
        found += _BARE.finditer(prose(text))
    return next((match[0] for match in found if not _is_file_name(text, match)), None)


def _is_file_name(text: str, match: re.Match[str]) -> bool:
    return re.match(r"[\w{}]*\.\w+", text[match.end() :]) is not None
