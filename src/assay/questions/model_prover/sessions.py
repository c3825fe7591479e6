"""Runs a workflow of google-adk in a session of its own, and gives back the session's state."""

from __future__ import annotations

from contextlib import aclosing
from typing import Any

from assay.errors import AssayError
from assay.questions.model_prover.access import Conversation
from assay.questions.model_prover.instructions import OPENING

_APP, _USER = "assay", "assay"


async def run_workflow(workflow: Any, conversation: Conversation) -> dict[str, Any]:
    """Run a workflow to its end; the failure it began with is what is raised."""
    from google.adk.runners import InMemoryRunner
    from google.genai import types

    runner = InMemoryRunner(node=workflow, app_name=_APP)
    session = await runner.session_service.create_session(app_name=_APP, user_id=_USER)
    opening = types.Content(role="user", parts=[types.Part(text=OPENING)])
    events = runner.run_async(user_id=_USER, session_id=session.id, new_message=opening)
    try:
        async with aclosing(events):
            async for _ in events:
                if conversation.failure is not None:
                    break
    except Exception as error:
        failure: Any = conversation.failure or getattr(error, "error", error)
        if not isinstance(failure, AssayError):
            raise
        conversation.fail(failure)
    if conversation.failure is not None:
        # Without the many hands it has gone through.
        raise conversation.failure.with_traceback(None) from None
    ended = await runner.session_service.get_session(
        app_name=_APP, user_id=_USER, session_id=session.id
    )
    return dict(ended.state) if ended else {}
