"""What the tests of models share: clients of a scripted server, with caches of their own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from assay.models import Budget, ModelClient, ModelSettings, Price, ResponseCache
from tests.models.scripted_server import ScriptedServer

Connect = Callable[..., ModelClient]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def connect(tmp_path: Path) -> Connect:
    """A client of a server; all clients of a test share one cache."""

    def client(
        server: ScriptedServer,
        *,
        cached: bool = True,
        budget: Budget | None = None,
        **settings: Any,
    ) -> ModelClient:
        wanted: dict[str, Any] = {"timeout": 5.0, "patience": 5.0, "price": Price(1.0, 2.0)}
        return ModelClient(
            ModelSettings("scripted", server.url, **{**wanted, **settings}),
            cache=ResponseCache(tmp_path / "answers") if cached else None,
            budget=budget,
        )

    return client
