"""Rule about imports in snippet files that lead nowhere, though the section does not need them."""

from __future__ import annotations

from collections.abc import Iterator

from assay.documents import Place
from assay.findings import Finding
from assay.questions.lint_rules.rules import Linted, Resolve, rule
from assay.questions.suite.imports import ImportedName
from assay.questions.suite.suite import Suite


@rule(
    "broken-unused-import",
    "warning",
    "A snippet file imports what does not exist",
    "The question's section does not use the name, but whoever runs the file as a whole fails "
    "before the section is reached. Correct or remove the import.",
)
def broken_unused_import(linted: Linted) -> Iterator[Finding]:
    if linted.resolve is None:
        return
    seen: set[tuple[Place, str]] = set()
    for suite, entry, question in linted.questions():
        if question.snippet is None or suite.snippets is None:
            continue
        for place, name in _broken(suite, entry.id, linted.resolve):
            # One broken line of a file is one defect, however many questions share the file.
            if (place, name.bound) not in seen:
                seen.add((place, name.bound))
                yield Finding(
                    "broken-unused-import",
                    f"`{name.statement}` leads nowhere",
                    place,
                    "correct or remove it",
                    entry.id,
                )


def _broken(
    suite: Suite, question_id: str, resolve: Resolve
) -> Iterator[tuple[Place, ImportedName]]:
    reference = suite.references.get(question_id)
    if suite.snippets is None or reference is None or reference.section is None:
        return
    file = suite.snippets.get(reference.file)
    for name in file.unused(reference.section):
        if not name.module.startswith(".") and resolve(name.module, name.member) is False:
            yield Place(file.path, name.line), name
