"""The pytest plugin: collects agent test files as tests, only with `--assay` or `assay = true`.

pytest loads this module wherever Assay is installed, so it imports nothing else.
"""

from __future__ import annotations

import pytest

_OPTIONS = (
    ("--assay-connection", {"action": "append", "metavar": "NAME",
     "help": "use this connection, instead of those in the files; may be given several times"}),
    ("--assay-host", {"help": "the host of the agent's server"}),
    ("--assay-port", {"type": int, "help": "the port of the agent's server"}),
    ("--assay-url", {"help": "the address of the agent's server, whole; not for http and https"}),
    ("--assay-command", {"help": "the program to talk to, for the connection command"}),
    ("--assay-allow-agent", {"action": "append", "metavar": "MODULE",
     "help": "let files name agents of this module, wherever it is; may be given several times"}),
    ("--assay-trust", {"action": "store_true",
     "help": "let files name any code; only for files that you trust"}),
    ("--assay-ca-file", {"metavar": "FILE", "help": "trust the certificates of this file"}),
    ("--assay-no-verify", {"action": "store_true",
     "help": "do not check the server's certificate"}),
    ("--assay-strict", {"action": "store_true",
     "help": "run nothing if any of the files cannot be used"}),
    ("--assay-jobs", {"type": int, "metavar": "N",
     "help": "how many samples of a test are taken at a time; default: all, at most 32"}),
    ("--assay-retries", {"type": int, "metavar": "N",
     "help": "how often a sample is retried after an outage; default: 2"}),
    ("--assay-transcripts", {"choices": ("all", "failed", "none"),
     "help": "of which samples of a failed test the conversation is shown; default: failed"}),
    ("--assay-ratio", {"metavar": "N/M", "help": "the ratio, instead of those in the files"}),
    ("--assay-model", {"metavar": "NAME", "help": "the model that judges a gist; or none"}),
    ("--assay-model-url", {"metavar": "URL",
     "help": "the OpenAI-compatible address of the model's server"}),
    ("--assay-judge-votes", {"type": int, "metavar": "N",
     "help": "how often the model judges a gist; odd"}),
    ("--assay-max-cost", {"type": float, "metavar": "DOLLARS",
     "help": "stop when the model has cost this many dollars"}),
    ("--assay-max-tokens", {"type": int, "metavar": "N",
     "help": "stop when the model has used this many tokens"}),
)  # fmt: skip
OPTION_NAMES = tuple(name.removeprefix("--assay-") for name, _ in _OPTIONS)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the switch, and options for how agents and their judge are reached."""
    group = parser.getgroup("assay", "agents (Assay)")
    group.addoption(
        "--assay", action="store_true", help="collect test files of agents (*.hocon) as tests"
    )
    parser.addini("assay", "collect test files of agents (*.hocon) as tests", type="bool")
    for name, details in _OPTIONS:
        group.addoption(name, default=None, **details)


def pytest_configure(config: pytest.Config) -> None:
    """Load the collector and runner, only if requested."""
    if config.getoption("assay") or config.getini("assay"):
        from assay.agents.pytest_items import AgentCollection

        config.pluginmanager.register(AgentCollection(config), "assay-agents")
