"""Environment files: read as they are, what is started, and which variables a program gets."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import InfrastructureError, InputError
from assay.submissions.environments.file import (
    DEFAULT,
    EnvironmentFile,
    find_environment,
    is_secret,
    load_environment,
    program_variables,
    setup_variables,
)

LOCAL = find_environment("local")
DOCKER = """
type: docker
name: python3.12
docker:
  image: ghcr.io/astral-sh/uv:python3.12-trixie-slim
  binary: docker
  workdir: /workspace
  mount_workspace: true
  extra_mounts: {}
  network: null
environment:
  include_os_env: false
  env:
    UV_PROJECT_ENVIRONMENT: /workspace/.venv
setup:
  commands:
    - uv init
    - uv add -r requirements.txt
  eval_commands: []
commands:
  entry_file: "{entry_file}.py"
  command: uv run
  agent_command: python
snapshot:
  keep_globs: null
  ignore_globs: ["*.pyc", ".venv/*"]
  compression: gz
  archive_save_dir: null
something_else: [1, 2]
"""
SYSTEM = {
    "HOME": "/home/somebody",
    "PATH": "/opt/bin",
    "LANG": "C",
    "OPENAI_API_KEY": "k",
    "GITHUB_TOKEN": "t",
    "DB_PASSWORD": "p",
    "SERVICE_URL": "https://name:word@example.invalid/",
    "HTTPS_PROXY": "http://proxy.invalid:3128",
    "PLAIN": "yes",
}


def environment_of(folder: Path, text: str) -> EnvironmentFile:
    path = folder / "environment.yaml"
    path.write_text(text)
    return load_environment(path)


def test_a_docker_file_loads_and_needs_an_engine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    environment = environment_of(tmp_path, DOCKER)
    assert LOCAL.setup_commands(environment, tmp_path) == ["uv init", "uv add -r requirements.txt"]
    assert LOCAL.start_command(environment, "logql", tmp_path) == ["uv", "run", "logql.py"]
    assert environment.snapshot.ignore_globs == ["*.pyc", ".venv/*"]
    assert environment.container.image == "ghcr.io/astral-sh/uv:python3.12-trixie-slim"
    assert environment.folder == tmp_path
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(InfrastructureError, match="docker: not installed; podman: not installed"):
        find_environment(environment.type).check(environment)


CONTAINER = "type: docker\nname: x\ndocker: "


def test_sizes_and_users_of_a_container_are_written_as_people_do(tmp_path: Path) -> None:
    text = "{image: a, user: 1000, limits: {memory: 1.5g, disk: 64 MiB, pids: 7, cpus: 0.5}}"
    about = environment_of(tmp_path, CONTAINER + text).container
    assert (about.limits.memory, about.limits.disk) == (3 << 29, 64 << 20)
    assert (about.user, about.limits.pids, about.limits.cpus) == ("1000", 7, 0.5)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{}", "give one of `image`, `archive` and `containerfile`"),
        ("{image: a, archive: b}", "give one of"),
        ("{image: a, workdir: work}", "the absolute path of a folder"),
        ("{image: a, workdir: /}", "the absolute path of a folder"),
        ("{image: a, workdir: /proc/x}", "a work folder cannot be in"),
        ("{image: a, limits: {memory: much}}", "is not a size"),
        ("{image: a, options: {privileged: 'true'}}", "'privileged' is not allowed"),
        ("{image: a, options: {volume: '/:/host'}}", "'volume' is not allowed"),
        ("{image: a, engine: rkt}", "engine"),
    ],
)
def test_a_container_that_cannot_be_is_refused(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        environment_of(tmp_path, CONTAINER + text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("type: podmen\n", r"environment\.yaml:1: `type`: there is no environment 'podmen'"),
        ("type: podman\n", "has no section `podman`"),
        (
            "name: x\nsetup:\n  commands: all\n",
            r"environment\.yaml:3: `setup\.commands` must be a list",
        ),
        ("- a\n", "is not an environment"),
        ("a: [", "is not valid YAML"),
    ],
)
def test_a_mistake_has_a_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        environment_of(tmp_path, text)


def test_an_empty_section_is_one_that_was_left_out(tmp_path: Path) -> None:
    environment = environment_of(tmp_path, "type: local\nname: x\nsetup:\nenvironment:\n  env:\n")
    assert LOCAL.setup_commands(environment, tmp_path) == []
    assert environment.environment.env == {}


def test_without_a_file_the_entry_may_have_a_suffix(tmp_path: Path) -> None:
    assert LOCAL.start_command(DEFAULT, "tool", tmp_path) == ["python", "tool"]
    (tmp_path / "tool.py").touch()
    assert LOCAL.start_command(DEFAULT, "tool", tmp_path) == ["python", "tool.py"]
    assert LOCAL.start_command(EnvironmentFile(), "tool", tmp_path) == ["python", "tool"]
    (tmp_path / "tool").touch()
    assert LOCAL.start_command(DEFAULT, "tool", tmp_path) == ["python", "tool"]
    assert LOCAL.start_command(DEFAULT, "two words", tmp_path) == ["python", "two words"]


def test_later_layers_win_and_only_plain_variables_of_the_system_come_along() -> None:
    section = {"include_os_env": True, "env": {"A": 1, "B": True, "C": "environment"}}
    environment = EnvironmentFile.model_validate({"environment": section})
    found = program_variables(
        environment, SYSTEM, {"C": "problem", "D": "problem"}, {"D": "checkpoint"}
    )
    assert found == {
        "LANG": "C",
        "PLAIN": "yes",
        "HTTPS_PROXY": "http://proxy.invalid:3128",
        "A": "1",
        "B": "true",
        "C": "problem",
        "D": "checkpoint",
    }


def test_nothing_of_the_system_unless_it_is_asked_for() -> None:
    assert program_variables(DEFAULT, SYSTEM, {"A": "x"}) == {"A": "x"}
    named = EnvironmentFile.model_validate(
        {"environment": {"env": {"GITHUB_TOKEN": None, "X": None}}}
    )
    assert program_variables(named, SYSTEM) == {"GITHUB_TOKEN": "t"}


def test_set_up_has_the_network_and_no_secret() -> None:
    section = {"env": {"OPENAI_API_KEY": "given", "MODE": "test"}}
    environment = EnvironmentFile.model_validate({"environment": section})
    assert setup_variables(environment, SYSTEM) == {
        "HTTPS_PROXY": "http://proxy.invalid:3128",
        "MODE": "test",
    }


@given(
    st.sampled_from(["KEY", "TOKEN", "SECRET", "PASSWORD", "CREDENTIALS", "PASSWD"]),
    st.text(st.characters(categories=["Lu", "Nd"]), max_size=5),
    st.booleans(),
)
def test_names_of_secrets_are_known_wherever_the_word_stands(
    word: str, more: str, is_lower: bool
) -> None:
    name = f"{more}_{word}_{more}"
    assert is_secret(name.lower() if is_lower else name)
