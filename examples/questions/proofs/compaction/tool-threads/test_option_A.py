"""Option A: `ToolThreadPoolConfig` can be imported from `google.adk.agents.run_config`."""

from google.adk.agents import run_config

DISPUTED = "ToolThreadPoolConfig"
INSTEAD = "RunConfig"


def test_option_A_holds():
    assert hasattr(run_config, DISPUTED)


def test_option_A_fails():
    assert not hasattr(run_config, DISPUTED)
