"""Which model is asked, where and with which key, from options, configuration and environment."""

from __future__ import annotations

import copy
import pickle
from dataclasses import asdict
from pathlib import Path

import pytest

from assay.config import ModelsConfig
from assay.errors import InputError
from assay.models import DEFAULT_MODEL, ModelChoice, ModelSettings, Price, resolve

GEMINI = "https://generativelanguage.googleapis.com/v1beta/openai"
OPENAI = "https://api.openai.com/v1"
OWN = "http://localhost:9000/v1"
KEYS = {"GEMINI_API_KEY": "g-key", "OPENAI_API_KEY": "o-key", "ASSAY_MODEL_KEY": "own-key"}


def settings(
    choice: ModelChoice | None = None,
    config: ModelsConfig | None = None,
    environment: dict[str, str] | None = None,
) -> ModelSettings:
    found = resolve(
        choice or ModelChoice(),
        config or ModelsConfig(),
        KEYS if environment is None else environment,
    )
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("base", "role", "name", "address", "key"),
    [
        (("gpt-5", None), {"effort": "low"}, "gpt-5", OPENAI, "o-key"),
        (("gpt-5", None), {"model": "gemini-2.5-pro"}, "gemini-2.5-pro", GEMINI, "g-key"),
        (("m", OWN), {"model": "gpt-5-mini"}, "gpt-5-mini", OWN, "own-key"),
        (("m", OWN), {"model": "other"}, "other", OWN, "own-key"),
        (("m", OWN), {"url": OPENAI}, "m", OPENAI, "o-key"),
    ],
)
def test_a_role_is_asked_where_its_model_is(
    base: tuple[str, str | None], role: dict[str, str], name: str, address: str, key: str
) -> None:
    config = ModelsConfig.model_validate({"roles": {"reviewer": {**role, "timeout": 7}}})
    whole = settings(ModelChoice(*base), config)
    found = whole.of_role("reviewer")
    assert (found.name, found.url, found.key) == (name, address, key)
    assert (found.timeout, found.effort) == (7, role.get("effort"))
    assert whole.of_role("reader") is whole


def test_the_key_is_not_sent_to_a_server_that_a_role_names(tmp_path: Path) -> None:
    elsewhere = {"judge": {"model": "m", "url": "http://localhost:9999/v1"}}
    config = ModelsConfig.model_validate({"roles": elsewhere})
    environment = {**KEYS, "XDG_CONFIG_HOME": str(tmp_path)}
    with pytest.raises(InputError, match="not sent to localhost:9999"):
        resolve(ModelChoice("m", OWN), config, environment)
    with pytest.raises(ValueError, match=r"roles\.analyst"):
        ModelsConfig.model_validate({"roles": {"analyst": {}}})


@pytest.mark.parametrize(
    ("model", "url", "name", "address", "key"),
    [
        ("gemini-3-pro-preview", None, "gemini-3-pro-preview", GEMINI, "g-key"),
        ("gemini/gemini-2.5-pro", None, "gemini-2.5-pro", GEMINI, "g-key"),
        ("gpt-5-mini", None, "gpt-5-mini", OPENAI, "o-key"),
        ("o3", None, "o3", OPENAI, "o-key"),
        ("openai/gpt-4o", None, "gpt-4o", OPENAI, "o-key"),
        ("ollama/llama3.2", None, "llama3.2", "http://localhost:11434/v1", None),
        ("vllm/org/model", None, "org/model", "http://localhost:8000/v1", None),
        ("vllm/org/model", OWN, "org/model", OWN, "own-key"),
        ("openai/gpt-oss-20b", OWN, "openai/gpt-oss-20b", OWN, "own-key"),
        ("gemini-3-pro-preview", OWN, "gemini-3-pro-preview", OWN, "own-key"),
        ("anything", f"{OWN}/", "anything", OWN, "own-key"),
        ("gpt-5-mini", OPENAI, "gpt-5-mini", OPENAI, "o-key"),
    ],
)
def test_the_name_says_where_to_ask(
    model: str, url: str | None, name: str, address: str, key: str | None
) -> None:
    found = settings(ModelChoice(model, url))
    assert (found.name, found.url, found.key) == (name, address, key)


def test_the_key_is_not_sent_to_a_server_that_only_the_project_names(tmp_path: Path) -> None:
    project = ModelsConfig(model="m", url=OWN)
    environment = {**KEYS, "XDG_CONFIG_HOME": str(tmp_path)}
    with pytest.raises(InputError, match=r"not sent to localhost:9000[^$]*ASSAY_MODEL_HOSTS"):
        resolve(ModelChoice(), project, environment)
    recorded = ModelChoice.from_run(asdict(ModelChoice("m", OWN)))
    with pytest.raises(InputError, match="not sent to localhost:9000"):
        resolve(recorded, ModelsConfig(), environment)
    # Without a key there is nothing to protect.
    assert settings(None, project, {}).key is None


@pytest.mark.parametrize(
    "hosts", ["localhost:9000", "other.example localhost:9000", "a,localhost:9000"]
)
def test_the_user_ties_the_key_to_a_server_in_the_environment(hosts: str) -> None:
    project = ModelsConfig(model="m", url=OWN)
    assert settings(None, project, {**KEYS, "ASSAY_MODEL_HOSTS": hosts}).key == "own-key"
    assert settings(None, project, {**KEYS, "ASSAY_MODEL_URL": f"{OWN}/"}).key == "own-key"


def test_the_user_ties_the_key_to_a_server_in_a_file_of_their_own(tmp_path: Path) -> None:
    (tmp_path / "assay").mkdir()
    file = tmp_path / "assay" / "assay.toml"
    file.write_text('[models]\nhosts = ["localhost:9000"]\n')
    environment = {**KEYS, "XDG_CONFIG_HOME": str(tmp_path)}
    assert settings(None, ModelsConfig(model="m", url=OWN), environment).key == "own-key"
    with pytest.raises(InputError, match="not sent to localhost:9001"):
        resolve(
            ModelChoice(), ModelsConfig(model="m", url=OWN.replace("9000", "9001")), environment
        )
    file.write_text("[models]\nhost = []\n")
    with pytest.raises(InputError, match=r"assay\.toml:2: there is no key `host` here[^$]*hosts"):
        resolve(ModelChoice(), ModelsConfig(model="m", url=OWN), environment)


def test_nothing_is_configured() -> None:
    assert resolve(ModelChoice(), ModelsConfig(), {}) is None
    assert resolve(ModelChoice(), ModelsConfig(), {"GOOGLE_API_KEY": "for maps"}) is None
    assert resolve(ModelChoice("none"), ModelsConfig(model="gpt-5"), KEYS) is None


def test_a_key_for_models_is_enough_for_the_default() -> None:
    assert settings().name == DEFAULT_MODEL == "gemini-3-pro-preview"
    assert settings().key_name == "GEMINI_API_KEY"
    assert settings(ModelChoice("gemini-2.5-pro"), None, {"GOOGLE_API_KEY": "k"}).key == "k"


def test_options_win_over_the_configuration_and_that_over_the_environment() -> None:
    environment = {
        **KEYS,
        "ASSAY_MODEL": "ollama/env",
        "ASSAY_MODEL_URL": "http://env/v1",
        "ASSAY_MODEL_HOSTS": "file",
    }
    config = ModelsConfig(model="ollama/file", url="http://file/v1", max_tokens=5, max_cost=1)
    assert settings(None, None, environment).url == "http://env/v1"
    assert settings(None, config, environment).url == "http://file/v1"
    assert settings(None, config, environment).name == "file"
    found = settings(ModelChoice("ollama/told", max_tokens=0), config, environment)
    assert (found.name, found.max_tokens, found.max_cost) == ("told", 0, 1)


def test_an_address_belongs_to_the_model_beside_it() -> None:
    config = ModelsConfig(model="ollama/file", url="http://file/v1")
    assert settings(ModelChoice("gpt-5-mini"), config).url == OPENAI
    assert settings(ModelChoice(url=OWN), config).url == OWN
    with pytest.raises(InputError, match=r"no model is named for http://localhost:9000/v1"):
        resolve(ModelChoice(url=OWN), ModelsConfig(), KEYS)


def test_a_providers_key_goes_to_nobody_else() -> None:
    keys = {"GEMINI_API_KEY": "g-key", "OPENAI_API_KEY": "o-key"}
    config = ModelsConfig(model="gpt-5", url="https://evil.example/v1")
    assert settings(None, config, keys).key is None


@pytest.mark.parametrize(
    ("choice", "environment", "told"),
    [
        (ModelChoice("gpt-5"), {}, "no key for openai\n  .*OPENAI_API_KEY"),
        (ModelChoice("claude"), KEYS, "no provider is known for the model 'claude'\n.*--model-url"),
        (ModelChoice("m", "localhost:8000"), KEYS, "not the address of a server"),
        (ModelChoice("m", "http://user:secret@host/v1"), KEYS, "must be plain"),
        (ModelChoice("m", "http://host/v1?key=secret"), KEYS, "must be plain\\D*ASSAY_MODEL_KEY"),
        (ModelChoice(None, "http://host/v1?key=secret"), KEYS, "must be plain"),
        (ModelChoice("none", "http://user:secret@host/v1"), KEYS, "must be plain"),
        (ModelChoice("none", "user:secret@host/v1"), KEYS, "not the address of a server"),
        (ModelChoice("m", OWN, max_cost=1), KEYS, "price of 'm' is not known"),
        (ModelChoice("m", OWN), {"ASSAY_MODEL_KEY": "a\nb"}, "ASSAY_MODEL_KEY is not a key"),
    ],
)
def test_a_mistake_says_what_to_do(
    choice: ModelChoice, environment: dict[str, str], told: str
) -> None:
    with pytest.raises(InputError, match=told) as caught:
        resolve(choice, ModelsConfig(), environment)
    assert "secret" not in str(caught.value)


def test_prices_are_known_given_or_nothing() -> None:
    assert settings(ModelChoice("gpt-4o-2024-08-06")).price == Price(2.5, 10.0)
    assert settings(ModelChoice("gemini-3-pro-preview", OWN)).price == Price(2.0, 12.0)
    assert settings(ModelChoice("ollama/llama3.2", max_cost=1)).price == Price(0.0, 0.0)
    assert settings(ModelChoice("m", OWN)).price is None
    given = ModelsConfig(input_price=3, output_price=4)
    assert settings(ModelChoice("m", OWN, max_cost=1), given).price == Price(3.0, 4.0)
    assert Price(3.0, 4.0).cost(1_000_000, 500_000) == 5.0


def test_the_key_is_in_no_text_made_of_the_settings() -> None:
    found = settings()
    assert "g-key" not in repr(found)
    assert "g-key" not in str(asdict(ModelChoice("gpt-5")))
    with pytest.raises(TypeError, match="do not leave"):
        pickle.dumps(found)
    with pytest.raises(TypeError, match="do not leave"):
        copy.copy(found)
