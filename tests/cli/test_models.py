"""`assay models check` as a real command against a scripted server."""

from __future__ import annotations

import json
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.conftest import Command
from tests.models.scripted_server import Received, Reply, ScriptedServer, fails, says, says_json


@pytest.fixture(autouse=True)
def clean(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("GEMINI_API_KEY", "GOOGLE_API_KEY", "OPENAI_API_KEY", "ASSAY_MODEL"):
        monkeypatch.delenv(name, raising=False)
    for name in ("ASSAY_CACHE", "HOME"):
        monkeypatch.setenv(name, str(tmp_path / name.lower()))
    monkeypatch.setenv("ASSAY_MODEL_KEY", "CANARY-4711")


def test_it_says_what_works_and_keeps_no_key(assay: Command, tmp_path: Path) -> None:
    (tmp_path / "assay.toml").write_text("[models]\ninput_price = 1\noutput_price = 2\n")
    with ScriptedServer(says_json({"sign": "alive"})) as server:
        result = assay("models", "check", "--model", "small", "--model-url", server.url)
    assert result.returncode == 0, result.stderr
    lines = result.stdout.splitlines()
    assert lines[0] == f"model   small at {server.url}"
    assert lines[1] == "key     from ASSAY_MODEL_KEY"
    assert lines[3:] == ["schema  followed", "usage   10 + 5 tokens for 0.000020 US dollars"]
    assert server.calls == 1
    with ScriptedServer(says_json({"sign": "alive"})) as again:
        words = ("models", "check", "--model", "small", "--model-url", again.url, "--json")
        found = json.loads(assay(*words, check=True).stdout)
    assert (found["model"], found["schema"]) == (f"small at {again.url}", "followed")
    assert "CANARY" not in result.stdout + result.stderr
    written = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert not [path for path in written if b"CANARY" in path.read_bytes()]


def test_the_configuration_names_the_model_and_the_user_allows_its_server(
    assay: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def plain(received: Received) -> Reply:
        if "response_format" in received.body:
            return fails(400, "no response_format here")
        return says('```json\n{"sign": "alive"}\n```', usage=None)

    with ScriptedServer(plain) as server:
        (tmp_path / "assay.toml").write_text(f'[models]\nmodel = "m"\nurl = "{server.url}"\n')
        host = urlsplit(server.url).netloc
        refused = assay("models", "check")
        assert refused.returncode == 2
        assert f"set ASSAY_MODEL_HOSTS={host}" in refused.stderr
        assert server.calls == 0
        monkeypatch.setenv("ASSAY_MODEL_HOSTS", host)
        result = assay("models", "check")
    assert result.returncode == 0, result.stderr
    assert "schema  refused by the provider" in result.stdout
    assert "of unknown price" in result.stdout


@pytest.mark.parametrize(
    ("reply", "code", "told"),
    [
        (
            fails(401, "who are you, CANARY-4711?"),
            2,
            "the key was refused: 401: who are you, [key]?",
        ),
        (fails(404, "no such model"), 2, "there is no model 'm'"),
        (fails(500, "on fire"), 3, "500: on fire (tried"),
        (says("I am alive!"), 3, "wrong shape, also the second time"),
    ],
)
def test_what_does_not_work_is_told(
    assay: Command, tmp_path: Path, reply: Reply, code: int, told: str
) -> None:
    (tmp_path / "assay.toml").write_text("[models]\npatience = 0.2\n")
    with ScriptedServer(reply) as server:
        result = assay("models", "check", "--model", "m", "--model-url", server.url)
    assert result.returncode == code
    assert told in result.stderr
    assert "Traceback" not in result.stderr
    assert "CANARY" not in result.stdout + result.stderr


def test_without_a_model_it_says_how_to_set_one(assay: Command) -> None:
    result = assay("models", "check")
    assert result.returncode == 2
    assert "no model is configured" in result.stderr
    assert "GEMINI_API_KEY" in result.stderr


def test_a_key_has_no_place_in_the_configuration(assay: Command, tmp_path: Path) -> None:
    (tmp_path / "assay.toml").write_text('[models]\nkey = "CANARY-4711"\n')
    result = assay("models", "check")
    assert result.returncode == 2
    assert "there is no key `key` here" in result.stderr
    assert "CANARY" not in result.stderr
