"""Runs in another environment: holds conversations over the connection it is told, prints them.

A line of the standard input is a list of samples, each an agent and its interactions; the answer is
a line of the standard output.
"""

from __future__ import annotations

import collections
import json
import os
import sys
from typing import Any

from assay.agents.connections import Settings
from assay.agents.connections.neuro_san import load_factory
from tests.agents.holding import Says, held_often

_SAMPLES = 2


def main() -> None:
    # What agents print is not an answer.
    with os.fdopen(os.dup(1), "w") as output:
        os.dup2(2, 1)
        for line in sys.stdin:
            print(json.dumps(hold(json.loads(line))), file=output, flush=True)


def hold(samples: list[tuple[str, list[dict[str, Any]]]]) -> dict[str, Any]:
    results: list[Any] = []
    sessions = _count_sessions() if sys.argv[1] == "direct" else {}
    for agent, interactions in samples:
        conversations = held_often(
            _SAMPLES, sys.argv[1], Settings(agent), *(Says(**each) for each in interactions)
        )
        results.append(
            [
                {
                    "ending": conversation.ending,
                    "reason": conversation.reason,
                    "answers": [
                        {
                            "text": reply.answer.text,
                            "structure": reply.answer.structure,
                            "sly_data": reply.answer.sly_data,
                        }
                        for reply in conversation.replies
                    ],
                    "seconds": conversation.seconds,
                }
                for conversation in conversations
            ]
        )
    return {"results": results, "sessions": sessions}


def _count_sessions() -> dict[str, int]:
    """Count the sessions that the library's factory makes, by agent; each takes it two seconds."""
    counts: dict[str, int] = collections.Counter()
    factory = load_factory()
    create_session = factory.create_session

    def create_and_count(agent: str, *arguments: Any, **options: Any) -> Any:
        counts[agent] += 1
        return create_session(agent, *arguments, **options)

    factory.create_session = create_and_count
    return counts


if __name__ == "__main__":
    main()
