"""A first evaluation: does `slug` make readable addresses out of titles?

Run it:          assay run evaluations/first.py
See a case:      assay runs show latest spaces
"""

import re

import assay
from assay.checks import run_check


def slug(title):
    """The function under test; replace it by what you want to evaluate."""
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")


# Pairs of a case and the expected output; any iterable will do, a generator too.
CASES = [
    ({"id": "spaces", "title": "Hello big World"}, "hello-big-world"),
    ({"id": "punctuation", "title": "Ready? Steady... Go!"}, "ready-steady-go"),
    ({"id": "empty", "title": ""}, ""),
]


def task(case):
    """Run one case and say what happened."""
    return case.result(output=slug(case.title))


def verifier(group_name, case_name, actual, expected):
    """Compare what happened with what was expected, attribute by attribute."""
    return {
        "output": run_check("exact", actual.output, expected.output),
        "safe": run_check("regex", actual.output, r"[a-z0-9-]*", weight=0.5),
    }


evaluation = assay.Evaluation(CASES, task, verifier)
