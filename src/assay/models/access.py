"""One tiny call to a model, and what it says about the access to it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Literal

from pydantic import BaseModel, ConfigDict

from assay.models.client import Answer, ModelClient
from assay.models.settings import ModelSettings


class Sign(BaseModel):
    """The smallest answer that has a shape."""

    model_config = ConfigDict(extra="forbid")

    sign: Literal["alive"]


async def check_access(settings: ModelSettings) -> list[tuple[str, str]]:
    """What works, as pairs of a word and what there is to say; raises what a call raises."""
    asked = [{"role": "user", "content": 'Give the sign "alive".'}]
    clock = time.monotonic()
    # Without the cache: the question is whether the model answers now.
    async with ModelClient(settings) as client:
        answer = await client.ask(asked, schema=Sign, purpose="check")
    return list(_told(client, answer, time.monotonic() - clock))


def _told(client: ModelClient, answer: Answer[Sign], seconds: float) -> Iterator[tuple[str, str]]:
    settings, used = client.settings, answer.usage
    yield "model", f"{settings.name} at {settings.url}"
    yield "key", f"from {settings.key_name}" if settings.key_name else "none sent"
    yield "answer", f"in {seconds:.1f} s"
    if not client.sends_schemas:
        yield "schema", "refused by the provider; it is told in words, and answers are checked"
    elif used.calls > 1:
        yield "schema", "ignored at first; such an answer is sent back once"
    else:
        yield "schema", "kept to"
    cost = "of unknown price" if used.cost is None else f"for {used.cost:.6f} US dollars"
    yield "usage", f"{used.input_tokens} + {used.output_tokens} tokens {cost}"
