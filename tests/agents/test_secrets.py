"""Which values of a test are secrets, and the names that stand for them."""

from __future__ import annotations

import pytest

from assay.agents.secrets import find_credentials, find_file_credentials, find_secrets
from assay.redaction import redact


def test_the_name_of_one_secret_may_contain_another() -> None:
    secrets = find_secrets({"TOKEN": "abcdef"}, {"scope": "TOKEN", "long": "abcdef-and-more"})
    assert redact("abcdef-and-more abcdef TOKEN", secrets) == (
        "<metadata.long> <TOKEN> <metadata.scope>"
    )


@pytest.mark.parametrize("word", ["Bearer", "basic", "Token", "ApiKey"])
def test_a_token_is_known_without_the_word_before_it(word: str) -> None:
    secrets = find_secrets({}, {"authorization": f"{word} canary-1"})
    assert redact("no such key: canary-1", secrets) == "no such key: <metadata.authorization>"


def test_a_header_is_sent_without_the_space_around_it() -> None:
    secrets = find_secrets({}, {"user": "  canary  ", "short": " a  "})
    assert redact("canary a", secrets) == "<metadata.user> a"


def test_credentials_are_known_by_the_names_of_their_variables() -> None:
    environment = {
        "OPENAI_API_KEY": "sk-canary-1",
        "HF_TOKEN": "hf-canary-2",
        "DB_PASSWORD": "canary-3",
        "KEYBOARD": "international",
        "API_KEY": "short",
        "HOME": "/home/somebody",
    }
    assert find_credentials(environment) == {
        "sk-canary-1": "<OPENAI_API_KEY>",
        "hf-canary-2": "<HF_TOKEN>",
        "canary-3": "<DB_PASSWORD>",
    }


@pytest.mark.parametrize(
    ("name", "value", "hidden"),
    [
        ("authorization", "anything", {"anything"}),
        ("X-Api-Key", "anything", {"anything"}),
        ("accessToken", "anything", {"anything"}),
        ("cookie", "anything", {"anything"}),
        ("caller", "Bearer abcdef", {"Bearer abcdef", "abcdef"}),
        ("user_id", "anything", set()),
        ("monkey", "anything", set()),
        ("keyboard", "anything", set()),
    ],
)
def test_only_what_opens_a_door_is_withheld_from_a_judge(
    name: str, value: str, hidden: set[str]
) -> None:
    metadata = {name: value, "plan": "gold plan"}
    assert set(find_file_credentials({}, metadata)) == hidden
    # Whatever comes from the environment may be a secret, whatever it is called.
    assert set(find_file_credentials({"PLAN": "gold plan"}, metadata)) == {*hidden, "gold plan"}
    assert find_file_credentials({}, metadata).items() <= find_secrets({}, metadata).items()
