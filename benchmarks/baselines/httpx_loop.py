"""The floor for conversations: the requests of the benchmark with nothing but httpx."""

import asyncio
import json
import os
import sys

import httpx

CONNECTIONS = 50
ASKED = {
    "user_message": {"type": "HUMAN", "text": "Who did Yellow Submarine?"},
    "chat_filter": {"chat_filter_type": "MINIMAL"},
}


async def main() -> None:
    url = f"http://127.0.0.1:{sys.argv[1]}/api/v1/echo/streaming_chat"
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=None)
    places = iter(range(int(os.environ["CASES"])))
    async with httpx.AsyncClient(verify=False, limits=limits, timeout=30) as client:

        async def work() -> None:
            for _ in places:
                async with client.stream("POST", url, json=ASKED) as response:
                    async for line in response.aiter_lines():
                        json.loads(line)

        await asyncio.gather(*(work() for _ in range(CONNECTIONS)))


asyncio.run(main())
