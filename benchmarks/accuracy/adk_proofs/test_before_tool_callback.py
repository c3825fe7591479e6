"""google-adk 1.20.0: the keyed signature of a `before_tool_callback` cannot be called by an agent.

The question is `what_is_the_correct_signature_for_a_before_tool_ca`; its key is A and its right
answer is E, "None of the above": callbacks are called with the keywords tool, args, tool_context.
"""

import asyncio

import pytest
from google.adk.agents import LlmAgent
from google.adk.models import BaseLlm, LlmResponse
from google.adk.runners import InMemoryRunner
from google.genai import types

# The library warns about settings of its own that it has deprecated.
pytestmark = pytest.mark.filterwarnings("default::DeprecationWarning")
LOOK_UP = types.Part(function_call=types.FunctionCall(name="look_up", args={"word": "assay"}))


class ScriptedModel(BaseLlm):
    """Calls the tool once, then says that it is done."""

    async def generate_content_async(self, llm_request, stream=False):
        answered = any(part.function_response for part in llm_request.contents[-1].parts)
        part = types.Part(text="done") if answered else LOOK_UP
        yield LlmResponse(content=types.Content(role="model", parts=[part]))


def look_up(word: str) -> dict:
    """Look a word up."""
    return {"meaning": word}


def run_agent(callback):
    """The text with which an agent that has the callback ends its turn."""
    agent = LlmAgent(
        name="reader",
        model=ScriptedModel(model="scripted"),
        tools=[look_up],
        before_tool_callback=callback,
    )
    runner = InMemoryRunner(agent=agent, app_name="reading")
    events = asyncio.run(runner.run_debug("assay", quiet=True))
    return events[-1].content.parts[0].text


async def option_a(tool, args, context):
    return None


def option_b(tool, args):
    return None


async def option_c(tool, args, context, response):
    return None


async def option_d(tool_name, arguments):
    return None


async def documented(tool, args, tool_context):
    return None


@pytest.mark.parametrize("callback", [option_a, option_b, option_c, option_d])
def test_no_signature_on_offer_can_be_called(callback):
    with pytest.raises(TypeError, match=rf"{callback.__name__}\(\) got an unexpected keyword"):
        run_agent(callback)


def test_the_documented_signature_can():
    assert run_agent(documented) == "done"
