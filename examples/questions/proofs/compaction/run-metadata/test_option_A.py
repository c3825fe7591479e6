"""Option A: `run_metadata` is a field of `RunConfig`."""

from google.adk.agents.run_config import RunConfig

DISPUTED = "run_metadata"
INSTEAD = "max_llm_calls"


def test_option_A_holds():
    assert DISPUTED in RunConfig.model_fields


def test_option_A_fails():
    assert DISPUTED not in RunConfig.model_fields
