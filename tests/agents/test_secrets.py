"""Secrets are replaced however they are written, and nothing else is."""

from __future__ import annotations

import base64
import html
import json
from collections.abc import Callable
from typing import Any
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.agents.secrets import (
    conceal_error,
    concealed,
    concealing,
    credentials_in,
    credentials_of_file,
    secrets_of,
)
from assay.errors import InputError

NASTY = "p\"ss/w+rd é\\😀\n<k>\t'&"

SPELLINGS: dict[str, Callable[[str], str]] = {
    "as it is": str,
    "upper case": lambda secret: secret.upper(),
    "JSON": json.dumps,
    "JSON without escapes": lambda secret: json.dumps(secret, ensure_ascii=False),
    "JSON in JSON in JSON": lambda secret: json.dumps(json.dumps(json.dumps({"a": secret}))),
    "JSON with escaped slashes": lambda secret: json.dumps(secret).replace("/", r"\/"),
    "repr": lambda secret: repr({"a": secret, "b": "'\""}),
    "repr of bytes": lambda secret: repr(secret.encode()),
    "percents": lambda secret: quote(secret, safe=""),
    "percents of a path": quote,
    "percents in lower case": lambda secret: "".join(
        letter if letter.isalnum() and letter.isascii() else quote(letter, safe="").lower()
        for letter in secret
    ),
    "percents of a form": quote_plus,
    "percents twice": lambda secret: quote(quote(secret)),
    "HTML": html.escape,
    "folded white space": lambda secret: " ".join(secret.split()),
    "broken over lines": lambda secret: "\n    ".join(secret.split()),
    "hexadecimal": lambda secret: secret.encode().hex(),
    "base64": lambda secret: base64.b64encode(secret.encode()).decode(),
    "base64 for addresses": lambda secret: base64.urlsafe_b64encode(secret.encode()).decode(),
}


@pytest.mark.parametrize("spelled", SPELLINGS.values(), ids=SPELLINGS)
@pytest.mark.parametrize("secret", ["TOPSECRET-abcdefghij-0123456789", NASTY, "a token of words"])
def test_a_secret_is_replaced_however_it_is_written(
    secret: str, spelled: Callable[[str], str]
) -> None:
    told = concealed(f"before {spelled(secret)} after", {secret: "<NAME>"})
    assert "<NAME>" in told
    for part in ("TOPSECRET", "cdef", "w+rd", "token", "words"):
        assert part.casefold() not in told.casefold()


@pytest.mark.parametrize("before", ["", "u", "me", "me:", "user:"])
@pytest.mark.parametrize("after", ["", "x", "xy", "xyz"])
def test_a_part_of_base64_is_replaced_wherever_it_begins(before: str, after: str) -> None:
    secret = "hunter2-and-more"
    told = base64.b64encode(f"{before}{secret}{after}".encode()).decode()
    found = concealed(f"Basic {told}", {secret: "<NAME>"})
    assert "<NAME>" in found
    left = found.replace("Basic ", "").split("<NAME>")
    # At most a letter on either side tells some bits of the secret beside what is around it.
    assert len(left[0]) <= len(before) * 4 / 3 + 1
    assert len(left[1].rstrip("=")) <= len(after) * 4 / 3 + 2


TEXTS = st.text(st.characters(codec="utf-8"), min_size=1, max_size=12)
SECRETS = TEXTS.filter(lambda text: len(text.strip()) >= 4)


@given(secret=SECRETS, around=TEXTS, spelled=st.sampled_from([
    str, json.dumps, quote, lambda one: quote(one, safe=""),
    lambda one: base64.b64encode(one.encode()).decode(),
    lambda one: json.dumps(json.dumps(one)),
]))  # fmt: skip
def test_no_secret_is_left_in_any_text(
    secret: str, around: str, spelled: Callable[[str], str]
) -> None:
    secret = secret.strip()
    told = concealed(around + "\u2603" + spelled(secret) + "\u2603" + around, {secret: "<>"})
    if secret not in around + "\u2603":
        assert secret not in told.replace("<>", "\u2603")
    assert "<>" in told


@given(text=st.text(st.characters(exclude_characters="\u2603"), max_size=60), secret=SECRETS)
def test_a_text_without_the_secret_stays_as_it_is(text: str, secret: str) -> None:
    assert concealed(text, {f"{secret.strip()}\u2603": "<NAME>"}) == text
    assert concealed(text, {}) == text


def test_values_of_every_kind() -> None:
    secrets = {"canary-1": "<A>", "567890": "<B>"}
    value = {
        "canary-1": [("my canary-1", b"canary-1 \xff"), 567890, 5678901, None, True, 1.5],
        "deep": {"n": 10**5000},
    }
    assert concealed(value, secrets) == {
        "<A>": [("my <A>", b"<A> \xff"), "<B>", 5678901, None, True, 1.5],
        "deep": {"n": 10**5000},
    }


def test_the_name_of_one_secret_may_contain_another() -> None:
    secrets = secrets_of({"TOKEN": "abcdef"}, {"scope": "TOKEN", "long": "abcdef-and-more"})
    assert concealed("abcdef-and-more abcdef TOKEN", secrets) == (
        "<metadata.long> <TOKEN> <metadata.scope>"
    )


@pytest.mark.parametrize("word", ["Bearer", "basic", "Token", "ApiKey"])
def test_a_token_is_known_without_the_word_before_it(word: str) -> None:
    secrets = secrets_of({}, {"authorization": f"{word} canary-1"})
    assert concealed("no such key: canary-1", secrets) == "no such key: <metadata.authorization>"


def test_a_header_is_sent_without_the_space_around_it() -> None:
    secrets = secrets_of({}, {"user": "  canary  ", "short": " a  "})
    assert concealed("canary a", secrets) == "<metadata.user> a"


def test_credentials_are_known_by_the_names_of_their_variables() -> None:
    environment = {
        "OPENAI_API_KEY": "sk-canary-1",
        "HF_TOKEN": "hf-canary-2",
        "DB_PASSWORD": "canary-3",
        "KEYBOARD": "international",
        "API_KEY": "short",
        "HOME": "/home/somebody",
    }
    assert credentials_in(environment) == {
        "sk-canary-1": "<OPENAI_API_KEY>",
        "hf-canary-2": "<HF_TOKEN>",
        "canary-3": "<DB_PASSWORD>",
    }


def test_an_error_is_told_without_secrets() -> None:
    error = InputError("no canary-1", where="at canary-1", advice="not canary-1")
    conceal_error(error, concealing({"canary-1": "<A>"}))
    assert str(error) == "at <A>: no <A>\n  not <A>"
    assert "canary" not in repr(error)
    plain = InputError("no canary-1")
    conceal_error(plain, concealing({}))
    assert str(plain) == "no canary-1"


@pytest.mark.parametrize("text", ["\\" * 20_000, "a " * 20_000, 'p\\"' * 10_000, "%25" * 20_000])
def test_no_text_takes_long(text: str) -> None:
    secrets: dict[str, Any] = {NASTY: "<A>", '\\"\\"': "<B>", "a b": "<C>", "\\\\x": "<D>"}
    assert isinstance(concealed(text, secrets), str)


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
    assert set(credentials_of_file({}, metadata)) == hidden
    # Whatever comes from the environment may be a secret, whatever it is called.
    assert set(credentials_of_file({"PLAN": "gold plan"}, metadata)) == {*hidden, "gold plan"}
    assert credentials_of_file({}, metadata).items() <= secrets_of({}, metadata).items()
