"""What would settle a question that is Unproven, with the command. Pure functions."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping

from assay.questions.examination import OUTDATED
from assay.questions.model import Question
from assay.questions.proof_runners import NO_ENVIRONMENT, NO_PACKAGE
from assay.questions.proofs.claims import Grounds, proof_name
from assay.questions.second_opinions import UNREVIEWED
from assay.questions.verdict.compounds import read_compounds
from assay.questions.verdict.option_findings import OptionFinding, State
from assay.questions.verdict.verdict import Judgement, Verdict

# What looks like code: a name in backticks, with dots or underscores, in CamelCase; a call, a text.
_CODE = re.compile(r"[`\"_=]|(?<!\w)'|\w\(|[a-z][A-Z]|\w\.\w|^\s*\w+\s*$")


def advise(
    address: str,
    question: Question,
    key: str,
    findings: Mapping[str, OptionFinding],
    judgement: Judgement,
) -> str:
    """Return one line on what would settle a question; empty unless it is Unproven."""
    if judgement.verdict is not Verdict.UNPROVEN:
        return ""
    place = shlex.quote(address)
    contradicted = [one for one, found in findings.items() if found.state is State.CONTRADICTED]
    if judgement.code == "key-contradicted" or (
        judgement.code == "rivals-unproven" and contradicted
    ):
        one = key if judgement.code == "key-contradicted" else contradicted[0]
        return (
            "remove the proof that is wrong: "
            f"assay questions prove {place} --option {shlex.quote(one)} --remove"
        )
    if any(one.reason.startswith(UNREVIEWED) for one in findings.values()):
        return f"a second opinion of a model: assay questions verify {place} --model NAME"
    if judgement.code == "suspect-reading":
        return f"a proof of the key by a person who has read the question: {_prove(place, key)}"
    if judgement.code == "several-hold":
        documented = [
            one for one in judgement.answers if findings[one].grounds is Grounds.DOCUMENTED
        ]
        if documented:
            return f"a proof that is executed: {_prove(place, documented[0])}"
    if judgement.code in ("several-hold", "unclear-stem"):
        return f"a question that says which one it asks for, then: assay questions verify {place}"
    return _advise_open(place, question, _find_open(question, key, findings), findings)


_SIMPLE = {
    "api_understanding": "a person who compares the answer with the question",
    "fix_error": "a test that runs in the target, then",
    "unreadable": "the part that is missing, then",
}


def advise_simple(address: str, kind: str) -> str:
    """Return one line on what would settle a question without options, or one with a gap."""
    verb = "show" if kind == "api_understanding" else "verify"
    return f"{_SIMPLE[kind]}: assay questions {verb} {shlex.quote(address)}"


def _find_open(question: Question, key: str, findings: Mapping[str, OptionFinding]) -> str:
    """Return the first option that stands in the way and takes a proof: the key, else a rival."""
    compounds = read_compounds(question)
    letters = [one for one in (key, *findings) if one not in compounds]
    return next((one for one in letters if findings[one].state is State.UNPROVEN), letters[0])


def _advise_open(
    place: str, question: Question, option: str, findings: Mapping[str, OptionFinding]
) -> str:
    reason = findings[option].reason
    if reason == OUTDATED:
        return (
            "a look at the proof by hand, then: "
            f"assay questions prove {place} --option {shlex.quote(option)} --accept"
        )
    if reason in (NO_ENVIRONMENT, NO_PACKAGE):
        return f"the library as target: assay questions verify {place} --target REQUIREMENT"
    if _CODE.search(question.options[option]):
        return (
            f"a claim about {option}: assay questions claim {place}, "
            f"or a proof by hand: {_prove(place, option)}"
        )
    return (
        f"a model: assay questions verify {place} --model NAME, "
        f"or a proof by hand: {_prove(place, option)}"
    )


def _prove(place: str, option: str) -> str:
    return (
        f"assay questions prove {place} --option {shlex.quote(option)} --file {proof_name(option)}"
    )
