"""Changes fields of one question in its suite file and leaves every other byte as it is."""

from assay.questions.correct.apply_correction import (
    Repository,
    commit_change,
    commit_message,
    patch,
    read_suite_text,
    write_suite_text,
)
from assay.questions.correct.editing import Changes, changes_between, edit_suite

__all__ = [
    "Changes",
    "Repository",
    "changes_between",
    "commit_change",
    "commit_message",
    "edit_suite",
    "patch",
    "read_suite_text",
    "write_suite_text",
]
