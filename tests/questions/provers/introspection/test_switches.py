"""What is "enabled by default" and what is not: settings that only the reader can switch on."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from assay.sandbox import Target
from tests.questions.provers.introspection.conftest import settling
from tests.questions.provers.introspection.support import Settle, states
from tests.sandbox.support import build, write_files

CONFIGURATION = '''
@dataclass
class {name}:
    """Switches."""

    {switch}: bool = {default}


@dataclass
class {owner}:
    """Has something to set.

    Args:
        name: What it is called.
        {setting}: {documentation}
    """

    name: str
    {setting}: Optional[{name}] = None

    def works(self):
        return {condition}
'''


def configuration(owner: str, setting: str, switch: str, **other: str) -> str:
    given = {
        "name": f"{owner}Config",
        "default": "False",
        "documentation": f"Whether and how {setting.partition('_')[0]} is done.",
        "condition": f"self.{setting} is not None and self.{setting}.{switch}",
    } | other
    return CONFIGURATION.format(owner=owner, setting=setting, switch=switch, **given)


FILES = {
    "pyproject.toml": '[project]\nname = "mill-works"\nversion = "1.0"\ndependencies = []\n',
    "src/mills/__init__.py": '"""Mills."""\n'
    "from dataclasses import dataclass\n"
    "from typing import Optional\n"
    + configuration("Mill", "grinding_config", "is_grinding")
    + configuration("Shed", "sawing_config", "is_sawing", default="True")
    + configuration("Well", "pumping_config", "is_pumping")
    + "\n\ndef pump():\n    return Well('p', WellConfig(True))\n"
    + configuration("Cellar", "pressing_config", "is_pressing", condition="True")
    + configuration(
        "Crane",
        "lifting_config",
        "is_lifting",
        condition="self.lifting_config is None or self.lifting_config.is_lifting",
    )
    + configuration("Gate", "closing_config", "skip_closing")
    + configuration("Weir", "flooding_config", "is_unflooding"),
}
DEFAULT = "It is enabled by default."


@pytest.fixture(scope="module")
def settle_mills(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Settle]:
    folder = write_files(tmp_path_factory.mktemp("mills"), FILES)
    yield from settling(build(Target(sources=(folder,))), ("mills",))


@pytest.mark.parametrize("option", [DEFAULT, "This feature is already active by default"])
def test_what_nobody_switches_on_is_off(settle_mills: Settle, option: str) -> None:
    text = "How do you configure a mill to support grinding?"
    found = settle_mills(text, "Set `grinding_config` on the `Mill`.", option)
    assert states(found) == "HF", "\n".join(one.reason for one in found.values())


@pytest.mark.parametrize(
    ("text", "setting"),
    [
        pytest.param(
            "How do you make a shed support sawing?",
            "Set `sawing_config` on the `Shed`.",
            id="a switch that is on",
        ),
        pytest.param(
            "How do you make a well support pumping?",
            "Set `pumping_config` on the `Well`.",
            id="the target makes one itself",
        ),
        pytest.param(
            "How do you make a cellar support pressing?",
            "Set `pressing_config` on the `Cellar`.",
            id="no condition asks for it",
        ),
        pytest.param(
            "How do you make a crane support lifting?",
            "Set `lifting_config` on the `Crane`.",
            id="none is taken for one that is on",
        ),
        pytest.param(
            "How do you make a gate support closing?",
            "Set `closing_config` on the `Gate`.",
            id="a switch that ends it",
        ),
        pytest.param(
            "How do you make a weir support flooding?",
            "Set `flooding_config` on the `Weir`.",
            id="a switch for the opposite",
        ),
        pytest.param(
            "How do you make a mill stop grinding?",
            "Set `grinding_config` on the `Mill`.",
            id="the question is for the end of it",
        ),
        pytest.param(
            "What is true of grinding?",
            "Set `grinding_config` on the `Mill`.",
            id="another question",
        ),
    ],
)
def test_whatever_may_be_on_stays_open(settle_mills: Settle, text: str, setting: str) -> None:
    found = settle_mills(text, setting, DEFAULT)
    assert states(found) == "HU", found["B"].reason


def test_a_setting_of_something_else_says_nothing(settle_mills: Settle) -> None:
    text = "How do you make a mill turn quickly?"
    found = settle_mills(text, "Set `grinding_config` on the `Mill`.", DEFAULT)
    assert states(found) == "UU", found["B"].reason


@pytest.mark.parametrize(
    "option",
    [
        "It is enabled by default, if the mill is new.",
        "It is not enabled by default.",
        "It is enabled.",
        "The default is enabled by default.",
    ],
)
def test_other_words_say_something_else(settle_mills: Settle, option: str) -> None:
    text = "How do you configure a mill to support grinding?"
    found = settle_mills(text, "Set `grinding_config` on the `Mill`.", option)
    assert states(found) == "HU", found["B"].reason
