"""Option C: `ThreadedToolConfig` can be imported from `google.adk.agents.run_config`."""

from google.adk.agents import run_config

DISPUTED = "ThreadedToolConfig"
INSTEAD = "RunConfig"


def test_option_C_holds():
    assert hasattr(run_config, DISPUTED)


def test_option_C_fails():
    assert not hasattr(run_config, DISPUTED)
