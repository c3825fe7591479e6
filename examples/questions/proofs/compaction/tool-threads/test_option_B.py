"""Option B: `ToolExecutorConfig` can be imported from `google.adk.agents.run_config`."""

from google.adk.agents import run_config

DISPUTED = "ToolExecutorConfig"
INSTEAD = "RunConfig"


def test_option_B_holds():
    assert hasattr(run_config, DISPUTED)


def test_option_B_fails():
    assert not hasattr(run_config, DISPUTED)
