"""A scripted model for the workflow: answers by agent and question, and what each was asked."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.models.scripted_server import Received, Reply, calls, says, says_json

AGENTS = {
    "You are the reader": "reader",
    "You are the proof engineer": "proof_engineer",
    "You are the reviewer": "reviewer",
    "You maintain the questions": "remediation_engineer",
    "You are the proctor": "proctor",
    "You are the solver": "solver",
}


def agent_of(received: Received) -> str:
    """Which agent a request is of, by the instruction it begins with."""
    instruction = received.messages[0]["content"]
    return next(name for mark, name in AGENTS.items() if mark in str(instruction))


def text_of(received: Received) -> str:
    """Everything that is said in a request."""
    return json.dumps(received.body, ensure_ascii=False)


def tool_results(received: Received) -> list[str]:
    """What tools answered, out of its fence if it has one, else as JSON."""
    found = []
    for one in received.messages:
        if one["role"] == "tool":
            told = json.loads(one["content"])
            inside = FENCE.fullmatch(told["data"]) if "data" in told else None
            found.append(inside[2] if inside else str(one["content"]))
    return found


FENCE = re.compile(r"<data (\w+)>\n(.*?)\n</data \1>", re.DOTALL)


def without_marks(received: Received) -> str:
    """The messages of a request, without the mark that is theirs alone."""
    found = re.search(r"The MARK of this request is (\w+)\.", text_of(received))
    assert found is not None
    return json.dumps(received.messages).replace(found[1], "")


def rounds_told(received: Received) -> str:
    """What an engineer is told of its earlier proofs."""
    texts = "\n".join(str(one["content"]) for one in received.messages if one["role"] == "user")
    return texts.partition("Your last answer led to this:")[2]


def listed(received: Received, before: str) -> list[str]:
    """The letters in the fence that follows these words."""
    texts = "\n".join(str(one["content"]) for one in received.messages if one["role"] == "user")
    found = re.search(rf"{re.escape(before)}:\s+{FENCE.pattern}", texts, re.DOTALL)
    if not found:
        return []
    return list(json.loads(found[2])) if found[2].startswith("{") else found[2].split(", ")


# --- What a reader answers ----------------------------------------------------------------------


def reads(*entries: tuple[str, list[dict[str, Any]]], asks: str = "one_true") -> Reply:
    """The answer of a reader, in the form that a schema asks for."""
    return says_json(reading(*entries, asks=asks))


def reading(*entries: tuple[str, list[dict[str, Any]]], asks: str = "one_true") -> dict[str, Any]:
    options = [{"option": option, "claims": claims} for option, claims in entries]
    return {"asks": asks, "options": options}


def program(
    option: str, says: str = "", relation: str = "equivalent"
) -> tuple[str, list[dict[str, Any]]]:
    """An option whose claim an engineer proves."""
    said = says or f"what option {option} names refuses the number"
    return option, [{"kind": "program", "says": said, "sketch": "", "relation": relation}]


def reads_all(received: Received) -> Reply:
    """A reader that makes every option a program."""
    return reads(*(program(one) for one in listed(received, "Claims are wanted for")))


# --- What an engineer answers -------------------------------------------------------------------


def proves(*proofs: tuple[str, str]) -> Reply:
    return calls(*(("prove", {"option": option, "source": text}) for option, text in proofs))


def limit(option: str, name: str, instead: str = "gt") -> str:
    """A proof by behaviour: a limit of pydantic refuses a number of its own size, or does not."""
    return f'''"""Option {option}: a number of the same size is refused."""

from typing import Annotated

import pydantic

DISPUTED = "{name}"
INSTEAD = "{instead}"


def refuses(word):
    limited = Annotated[int, pydantic.Field(**{{word: 3}})]
    try:
        pydantic.TypeAdapter(limited).validate_python(3)
    except pydantic.ValidationError as error:
        assert error.errors()[0]["input"] == 3
        return True
    return False


def test_option_{option}_holds():
    assert refuses(DISPUTED)


def test_option_{option}_fails():
    assert not refuses(DISPUTED)
'''


# --- What a reviewer answers --------------------------------------------------------------------


def reviews(
    received: Received, *, wrong: Mapping[str, str] | None = None, asks: str = "one_true"
) -> Reply:
    """A reviewer that agrees, except with the options in `wrong`, whose reasons these are."""
    against = wrong or {}
    given = [
        {
            "option": option,
            "if_true": "open" if option in against else "right",
            "if_false": "open" if option in against else "wrong",
            "test_decides_claim": True,
            "reason": against.get(option, "it says what the option says"),
        }
        for option in listed(received, "The options to review")
    ]
    return says_json({"asks": asks, "options": given})


@dataclass
class Case:
    """How the model answers about one question: by agent, and for engineers by option.

    An answer is a reply, a list of replies in turn, or a function of the request. An engineer's
    are proofs, in turn; None gives up.
    """

    mark: str
    reader: Any = reads_all
    engineers: Any = field(default_factory=dict)
    fixer: Any = None
    reviewer: Any = reviews


class Model:
    """A script for `ScriptedServer`: finds the question of a request by a mark in its text."""

    def __init__(self, *cases: Case) -> None:
        self._cases = cases
        self._tried: dict[tuple[int, str], int] = {}
        self._used: dict[int, int] = {}
        self.asked: list[tuple[str, Received]] = []

    def __call__(self, received: Received) -> Reply:
        agent = agent_of(received)
        self.asked.append((agent, received))
        text = text_of(received)
        case = next(one for one in self._cases if one.mark in text)
        if agent == "proof_engineer" and isinstance(case.engineers, dict):
            return self._prove(case.engineers, received)
        script = {
            "reader": case.reader,
            "proof_engineer": case.engineers,
            "reviewer": case.reviewer,
            "remediation_engineer": case.fixer,
        }[agent]
        return self._answer(script, received)

    def _answer(self, script: Any, received: Received) -> Reply:
        if isinstance(script, Reply):
            return script
        if callable(script):
            function: Callable[[Received], Reply] = script
            return function(received)
        place = self._used.get(id(script), 0)
        self._used[id(script)] = place + 1
        replies: list[Reply] = list(script)
        return replies[place] if place < len(replies) else says("I have nothing more to say.")

    def _prove(self, scripts: dict[str, Any], received: Received) -> Reply:
        """Prove what is still open, each option with the next of its proofs."""
        proofs = []
        for option in listed(received, "The claims to be proven, by option"):
            script = scripts.get(option)
            texts = script if isinstance(script, list) else [script]
            place = self._tried.get((id(scripts), option), 0)
            self._tried[id(scripts), option] = place + 1
            text = texts[min(place, len(texts) - 1)]
            if isinstance(text, str):
                proofs.append((option, text))
        return proves(*proofs) if proofs else says("nobody can know that")

    def of(self, agent: str, mark: str = "") -> list[Received]:
        return [one for name, one in self.asked if name == agent and mark in text_of(one)]


def agents_asked(model: Model) -> list[str]:
    return [name for name, _ in model.asked]
