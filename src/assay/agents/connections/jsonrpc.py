"""JSON-RPC 2.0 calls over HTTP, as used by MCP and A2A; replies are JSON or event streams.

A JSON-RPC error object counts as an outage, like a status other than 200: the server did not
understand the call or failed while serving it. An agent reports its own failures inside a result,
in a place that each protocol defines.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from assay.agents.connections.protocol import ConnectionFailed
from assay.agents.connections.web import Web, encode_json, read_events, read_json

if TYPE_CHECKING:
    import httpx

# Parse error, invalid request, no such method, invalid parameters: a retry would not help.
_MISUNDERSTOOD = (-32700, -32600, -32601, -32602)


class JsonRpc:
    """Calls the methods of one server."""

    def __init__(self, web: Web) -> None:
        self._web = web
        self._numbers = itertools.count(1)

    async def call(
        self,
        method: str,
        params: Mapping[str, Any],
        *,
        path: str = "",
        limit: float | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> tuple[dict[str, Any], Mapping[str, str]]:
        """Return the result of a call, and the headers of the reply."""
        number = next(self._numbers)
        call = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        body = encode_json(call)
        async with self._web.send("POST", path, body, limit=limit, headers=headers) as response:
            reply = await _find_reply(response, number)
            return _read_result(reply), dict(response.headers)

    async def notify(self, method: str, headers: Mapping[str, str]) -> None:
        """Send a notification, which has no reply."""
        body = encode_json({"jsonrpc": "2.0", "method": method})
        async with self._web.send("POST", body=body, headers=headers, accepted=(200, 202, 204)):
            pass


async def _find_reply(response: httpx.Response, number: int) -> Any:
    if not response.headers.get("content-type", "").startswith("text/event-stream"):
        return await read_json(response)
    # A stream may hold notifications, and requests to a client that offers nothing, before it.
    async for event in read_events(response):
        if isinstance(event, dict) and event.get("id") == number and "method" not in event:
            return event
    raise ConnectionFailed("the stream ended without an answer")


def _read_result(reply: Any) -> dict[str, Any]:
    error = reply.get("error") if isinstance(reply, dict) else None
    if error:
        code = error.get("code") if isinstance(error, dict) else None
        said = error.get("message", error) if isinstance(error, dict) else error
        raise ConnectionFailed(
            f"the server reports error {code}" if code else "the server reports an error",
            said=said if isinstance(said, str) else json.dumps(said, ensure_ascii=False),
            lasting=code in _MISUNDERSTOOD,
        )
    result = reply.get("result") if isinstance(reply, dict) else None
    if not isinstance(result, dict):
        raise ConnectionFailed("the answer has no result")
    return result
