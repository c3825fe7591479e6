"""Option C: `extra_metadata` is a field of `RunConfig`."""

from google.adk.agents.run_config import RunConfig

DISPUTED = "extra_metadata"
INSTEAD = "max_llm_calls"


def test_option_C_holds():
    assert DISPUTED in RunConfig.model_fields


def test_option_C_fails():
    assert DISPUTED not in RunConfig.model_fields
