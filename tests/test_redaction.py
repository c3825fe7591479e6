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

from assay.errors import InputError
from assay.redaction import ENCODERS, redact, redact_error, redactor

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
    told = redact(f"before {spelled(secret)} after", {secret: "<NAME>"})
    assert "<NAME>" in told
    for part in ("TOPSECRET", "cdef", "w+rd", "token", "words"):
        assert part.casefold() not in told.casefold()


@pytest.mark.parametrize("before", ["", "u", "me", "me:", "user:"])
@pytest.mark.parametrize("after", ["", "x", "xy", "xyz"])
def test_a_part_of_base64_is_replaced_wherever_it_begins(before: str, after: str) -> None:
    secret = "hunter2-and-more"
    told = base64.b64encode(f"{before}{secret}{after}".encode()).decode()
    found = redact(f"Basic {told}", {secret: "<NAME>"})
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
    told = redact(around + "\u2603" + spelled(secret) + "\u2603" + around, {secret: "<>"})
    if secret not in around + "\u2603":
        assert secret not in told.replace("<>", "\u2603")
    assert "<>" in told


@given(text=st.text(st.characters(exclude_characters="\u2603"), max_size=60), secret=SECRETS)
def test_a_text_without_the_secret_stays_as_it_is(text: str, secret: str) -> None:
    assert redact(text, {f"{secret.strip()}\u2603": "<NAME>"}) == text
    assert redact(text, {}) == text


def test_values_of_every_kind() -> None:
    secrets = {"canary-1": "<A>", "567890": "<B>"}
    value = {
        "canary-1": [("my canary-1", b"canary-1 \xff"), 567890, 5678901, None, True, 1.5],
        "deep": {"n": 10**5000},
    }
    assert redact(value, secrets) == {
        "<A>": [("my <A>", b"<A> \xff"), "<B>", 5678901, None, True, 1.5],
        "deep": {"n": 10**5000},
    }


def test_an_error_is_told_without_secrets() -> None:
    error = InputError("no canary-1", where="at canary-1", advice="not canary-1")
    redact_error(error, redactor({"canary-1": "<A>"}))
    assert str(error) == "at <A>: no <A>\n  not <A>"
    assert "canary" not in repr(error)
    plain = InputError("no canary-1")
    redact_error(plain, redactor({}))
    assert str(plain) == "no canary-1"


@pytest.mark.parametrize("text", ["\\" * 20_000, "a " * 20_000, 'p\\"' * 10_000, "%25" * 20_000])
def test_no_text_takes_long(text: str) -> None:
    secrets: dict[str, Any] = {NASTY: "<A>", '\\"\\"': "<B>", "a b": "<C>", "\\\\x": "<D>"}
    assert isinstance(redact(text, secrets), str)


# --- by construction: every encoder, every writer, every character

# One of each kind that some encoder treats in a way of its own.
SPECIAL = [*map(chr, range(0x20)), *"\x7f\x80\x85\x9f\xa0\xad\"'`\\/|<>&%+=#$;:*_[]{}~ é€"]
SPECIAL += ["\u200b", "\u2028", "\u202e", "\ud800", "\udc80", "\udfff", "\ufeff", "\uffff"]
SPECIAL += ["😀", "\U000e0041"]
# What looks like an escape in a secret is read as one by somebody.
LOOKALIKES = ["\\n", "\\u0041", "\\x41", "%41", "%0A", "&amp;", "&#65;", "\\\\", "\\|"]
PIECES = st.sampled_from([*SPECIAL, *LOOKALIKES, *"abcXYZ019"]) | st.characters()
ANY_SECRET = (
    st.lists(PIECES, min_size=4, max_size=14)
    .map("".join)
    .filter(lambda text: len(text.strip()) >= 4)
)


@pytest.mark.parametrize("encoder", ENCODERS.values(), ids=ENCODERS)
def test_a_secret_with_any_special_character_is_replaced_in_what_any_encoder_makes_of_it(
    encoder: Callable[[str], str],
) -> None:
    for character in SPECIAL:
        secret = f"canary{character}CANARY{character}{character}end"
        assert redact(f"[{encoder(secret)}]", {secret: "<NAME>"}) == "[<NAME>]", ascii(secret)


@given(secret=ANY_SECRET, chain=st.lists(st.sampled_from([*ENCODERS.values()]), max_size=2))
def test_whatever_two_encoders_make_of_a_secret_is_replaced(
    secret: str, chain: list[Callable[[str], str]]
) -> None:
    written = secret.strip()
    for encoder in chain:
        written = encoder(written)
    told = redact(f"\u2603 {written} \u2603", {secret: "<NAME>"})
    assert written.strip() not in told.replace("\u2603", "")
    assert "<NAME>" in told


# Encoders that escape their own escape character, so that any number of layers can be removed.
LAYERED = ["JSON", "JSON without escapes", "HTML", "repr", "ASCII", "address", "form"]


@given(secret=ANY_SECRET.filter(lambda one: not set(one) & set("\\%&")),
       chain=st.lists(st.sampled_from(LAYERED), min_size=3, max_size=5))  # fmt: skip
def test_more_layers_hide_no_secret_that_does_not_look_like_an_escape(
    secret: str, chain: list[str]
) -> None:
    written = secret
    for name in chain:
        written = ENCODERS[name](written)
    assert redact(f"\u2603{written}\u2603", {secret: "<NAME>"}).count("<NAME>") == 1


@pytest.mark.parametrize(
    "written",
    [
        r"\u0073\u006b\u002d\u0043\u0041\u004e\u0041\u0052\u0059",
        r"\x73\x6b-CANAR\x59",
        "%73%6b%2d%43%41%4e%41%52%59",
        "%2573k-CANARY",
        "&#115;k&#45;CAN&#x41;RY",
        "&amp;#115;k-CANARY",
        r"\163k\055CANARY",
        r"\\\\u0073k-CANARY",
        r"\u{73}k-CANARY",
        "%5Cu0073k-CANARY",
        "sk&#x00002d;CANARY",
    ],
)
def test_a_plain_secret_is_found_although_its_letters_need_no_escape(written: str) -> None:
    assert redact(f"a {written} b", {"sk-CANARY": "[key]"}) == "a [key] b"


def test_only_what_belongs_to_a_secret_is_replaced() -> None:
    text = r"%41%42 \n\u0041\u0042-canary-\u0043 %E2%82%ACcanary%20end &lt;canary&gt;"
    assert redact(text, {"B-canary-C": "<1>", "€canary": "<2>", "canary>": "<3>"}) == (
        r"%41%42 \n\u0041<1> <2>%20end &lt;<3>"
    )


def test_secrets_that_overlap_leave_nothing_of_each_other() -> None:
    assert redact("abcdefgh", {"abcdef": "<1>", "defgh": "<2>"}) == "<1>"
    assert redact("abcabcabc", {"abcabc": "<1>"}) == "<1>"


def test_short_secrets_are_replaced_as_they_are_and_in_no_other_spelling() -> None:
    assert redact("k K aw== 6b", {"k": "<1>", "": "<2>"}) == "<1> K aw== 6b"
