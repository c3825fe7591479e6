"""google-adk 1.20.0 has no `CodeExecutionTool`, and its name in a `tools` list is refused.

The question is `how_do_you_enable_codeexecutiontool_via_configurat`; its key is D and its right
answer is E, "None of the above": an agent runs code through its `code_executor`.
"""

import re
from importlib import metadata

import pytest
from google.adk.agents import LlmAgent
from google.adk.code_executors import BuiltInCodeExecutor
from google.adk.tools import google_search
from pydantic import ValidationError

NAME = "CodeExecutionTool"


def sources():
    files = metadata.distribution("google-adk").files or ()
    return [file.read_text() for file in files if file.suffix == ".py"]


def test_the_name_occurs_nowhere_in_the_package():
    assert not [text for text in sources() if re.search(rf"\b{NAME}\b", text)]


def test_the_search_finds_what_is_there():
    assert [text for text in sources() if re.search(r"\bGoogleSearchTool\b", text)]


def test_the_name_in_the_list_of_tools_is_refused():
    with pytest.raises(ValidationError) as caught:
        LlmAgent(name="coder", model="any", tools=[NAME])
    assert {error["loc"][:2] for error in caught.value.errors()} == {("tools", 0)}


def test_a_tool_that_exists_is_taken():
    assert LlmAgent(name="coder", model="any", tools=[google_search]).tools == [google_search]


def test_code_execution_is_a_setting_of_the_agent():
    executor = BuiltInCodeExecutor()
    assert LlmAgent(name="coder", model="any", code_executor=executor).code_executor is executor
