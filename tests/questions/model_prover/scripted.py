"""A scripted model for the workflow: answers by agent and question, and what each was asked."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from tests.models.scripted_server import Received, Reply, calls, says

AGENTS = {
    "You are the claim analyst": "claim_analyst",
    "You are the proof engineer": "proof_engineer",
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
    return [str(one["content"]) for one in received.messages if one["role"] == "tool"]


def claim(option: str, text: str = "", **fields: Any) -> dict[str, Any]:
    """A well-formed claim."""
    return {
        "option": option,
        "type": "positive",
        "claim": text or f"what option {option} names is there",
        "hypothesis": "looking at it shows that it is",
        "code_snippet_hint": "",
        **fields,
    }


def submits(*claims: dict[str, Any]) -> Reply:
    return calls(("submit_claims", {"claims": list(claims)}))


def proves(option: str, source: str, **more: Any) -> Reply:
    """An answer that writes a proof and runs it."""
    file = f"test_option_{option}.py"
    return calls(
        ("write_file", {"path": file, "content": source}), ("run_proof", {"path": file, **more})
    )


def has_name(option: str, name: str, instead: str = "BaseModel", owner: str = "pydantic") -> str:
    """A proof that something of pydantic has a name."""
    first, _, inner = owner.partition(".")
    imported = f"from {first} import {inner}" if inner else f"import {first}"
    return f'''"""Option {option}: `{owner}` has `{name}`."""

{imported}

DISPUTED = "{name}"
INSTEAD = "{instead}"


def test_option_{option}_holds():
    assert hasattr({inner or first}, DISPUTED)


def test_option_{option}_fails():
    assert not hasattr({inner or first}, DISPUTED)
'''


@dataclass
class Case:
    """How the model answers about one question: by agent, and for engineers by option.

    An answer is a reply, a list of replies in turn, or a function of the request.
    """

    mark: str
    analyst: Any = None
    engineers: dict[str, Any] = field(default_factory=dict)
    fixer: Any = None


class Model:
    """A script for `ScriptedServer`: finds the question of a request by a mark in its text."""

    def __init__(self, *cases: Case) -> None:
        self._cases = cases
        self._used: dict[int, int] = {}
        self.asked: list[tuple[str, Received]] = []

    def __call__(self, received: Received) -> Reply:
        agent = agent_of(received)
        self.asked.append((agent, received))
        text = text_of(received)
        case = next(one for one in self._cases if one.mark in text)
        if agent == "proof_engineer":
            option = text.partition("The option to work on: ")[2].partition("\\n")[0]
            return self._answer(case.engineers[option], received)
        return self._answer(case.analyst if agent == "claim_analyst" else case.fixer, received)

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

    def of(self, agent: str) -> list[Received]:
        return [received for name, received in self.asked if name == agent]


def agents_asked(model: Model) -> Iterable[str]:
    return [name for name, _ in model.asked]
