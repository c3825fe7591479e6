"""Runs in another environment: holds conversations over the connection it is told, prints them.

The standard input is a list of samples, each an agent and its interactions.
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any

from assay.agents.connections import Settings
from tests.agents.holding import Says, held_often

_SAMPLES = 2


def main() -> None:
    results: list[Any] = []
    cpu: list[float] = []
    for agent, interactions in json.load(sys.stdin):
        started = time.process_time()
        conversations = held_often(
            _SAMPLES, sys.argv[1], Settings(agent), *(Says(**each) for each in interactions)
        )
        cpu.append((time.process_time() - started) / _SAMPLES)
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
    print(json.dumps({"results": results, "cpu": cpu}))


if __name__ == "__main__":
    main()
