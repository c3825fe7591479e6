"""What a test file and a run folder may make Assay do, and what only the user may."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from assay.agents.connections import KINDS, Kind
from assay.agents.plan import AgentsPlan, AgentsRequest, ConnectionOptions, Sampling
from assay.agents.trust import Trust
from assay.config import load_config
from assay.errors import InputError
from assay.models import ModelChoice
from tests.agents.running_support import answers, ask, write
from tests.agents.scripted_server import ScriptedServer
from tests.commands import run_forked
from tests.conftest import Command

SHOP = """\
import os
import subprocess
from subprocess import getoutput
from urllib.request import urlopen

import click

def answer(text):
    return f"right {text}"

class Shop:
    def answer(self, text):
        return f"right {text}"

class Runner(subprocess.Popen):
    pass

shop = Shop()
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with an agent, and a user who has no configuration."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "user"))
    folder = tmp_path / "project"
    (folder / "package").mkdir(parents=True)
    (folder / "pyproject.toml").touch()
    (folder / "shop.py").write_text(SHOP)
    (folder / "package" / "inner.py").write_text(SHOP)
    return folder


def configure_user(tmp_path: Path, text: str) -> None:
    (tmp_path / "user" / "assay").mkdir(parents=True)
    (tmp_path / "user" / "assay" / "assay.toml").write_text(text)


def write_test(
    folder: Path, agent: str, text: str = "touch marker; echo right", name: str = "test.hocon"
) -> Path:
    return write(folder, ask(text), agent=agent, connections="python", name=name)


ELSEWHERE = [
    "subprocess:getoutput",
    "os:system",
    "builtins:exec",
    "click:echo",
    "assay.agents.trust:import_module",
    "shop:subprocess.getoutput",
    "shop:getoutput",
    "shop:os.system",
    "shop:urlopen",
    "shop:Runner.communicate",
    "shop:click.echo",
    "shop:__loader__.get_data",
    "shop:answer.__globals__",
    "package.inner:subprocess.getoutput",
    "linked:answer",
    "elsewhere:answer",
    "elsewhere.below:answer",
]


@pytest.mark.parametrize("is_configured", [False, True])
def test_a_test_file_cannot_run_code_that_is_not_of_its_project(
    assay: Command,
    project: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    is_configured: bool,
) -> None:
    outside = tmp_path / "outside" / "elsewhere"
    outside.mkdir(parents=True)
    for name in ("__init__", "below"):
        (outside / f"{name}.py").write_text(f"open('marker', 'w')\n{SHOP}")
    (project / "linked.py").symlink_to(outside / "below.py")
    monkeypatch.setenv("PYTHONPATH", str(outside.parent))
    if is_configured:
        (project / "assay.toml").write_text('agents.python_paths = ["."]')
    for number, agent in enumerate(ELSEWHERE):
        write_test(project, agent, name=f"{number:02}.hocon")
    # One that can be used, so that each of the others has a record of its own.
    write_test(project, "shop:answer", name="own.hocon")
    result = assay("agents", "verify", ".", "--json", cwd=project)
    assert (result.returncode, (project / "marker").exists()) == (2, False)
    *refused, own = json.loads(result.stdout)["cases"]
    assert (len(refused), own["outcome"]) == (len(ELSEWHERE), "passed")
    for agent, case in zip(ELSEWHERE, refused, strict=True):
        assert case["outcome"] == "error", agent
        assert "a test file cannot run it" in case["reason"] or "__" in agent, agent


def test_code_of_the_project_runs_from_its_root_or_from_below(
    assay: Command, project: Path
) -> None:
    (project / "tests").mkdir()
    for number, agent in enumerate(("shop:answer", "shop:shop.answer", "package.inner:answer")):
        write_test(project / "tests", agent, name=f"{number}.hocon")
    for folder in (project, project / "tests"):
        result = assay("agents", "verify", project / "tests", cwd=folder)
        assert result.returncode == 0, result.stdout + result.stderr


def test_a_test_file_finds_an_agent_beside_itself_wherever_the_user_is(
    assay: Command, project: Path, tmp_path: Path
) -> None:
    (project / "agents").mkdir()
    (project / "agents" / "beside.py").write_text(SHOP)
    path = write_test(project / "agents", "beside:answer")
    assert assay("agents", "verify", path, cwd=tmp_path).returncode == 0


def test_a_folder_of_python_paths_is_searched(assay: Command, project: Path) -> None:
    (project / "source").mkdir()
    (project / "shop.py").rename(project / "source" / "market.py")
    path = write_test(project, "market:answer")
    assert assay("agents", "verify", path, cwd=project).returncode == 2
    (project / "assay.toml").write_text('[agents]\npython_paths = ["source"]')
    assert assay("agents", "verify", path, cwd=project).returncode == 0


@pytest.mark.parametrize("path", ["..", "/", str(Path(os.__file__).parent), "link"])
def test_a_project_cannot_allow_itself_what_is_outside_of_it(project: Path, path: str) -> None:
    (project / "link").symlink_to("/usr")
    (project / "assay.toml").write_text(f'[agents]\npython_paths = ["{path}"]')
    with pytest.raises(InputError, match=r"assay.toml:2.*outside of the project[^$]*--allow-agent"):
        load_config(project)


@pytest.mark.parametrize(
    ("options", "user", "code"),
    [
        ([], "", 2),
        (["--allow-agent", "subprocess"], "", 0),
        (["--allow-agent", "subprocess:getoutput"], "", 2),
        (["--trust"], "", 0),
        ([], 'agents.allow = ["subprocess"]', 0),
    ],
)
def test_the_user_allows_a_module_or_trusts_the_files(
    assay: Command, project: Path, tmp_path: Path, options: list[str], user: str, code: int
) -> None:
    configure_user(tmp_path, user)
    write_test(project, "subprocess:getoutput", "echo right")
    result = assay("agents", "verify", "test.hocon", *options, cwd=project)
    assert result.returncode == code, result.stdout + result.stderr
    if user:
        (project / "assay.toml").write_text(user)
        refused = assay("agents", "verify", "test.hocon", cwd=project)
        assert "there is no key `allow` here" in refused.stderr


def test_two_modules_of_one_name_are_never_taken_for_each_other(
    assay: Command, project: Path
) -> None:
    for folder in ("one", "two"):
        (project / folder).mkdir()
        (project / folder / "bot.py").write_text(f"def answer(text): return '{folder}'")
        write(
            project / folder, ask("x", {"text": {"value": folder}}),
            agent="bot:answer", connections="python",
        )  # fmt: skip
        assert assay("agents", "verify", folder, cwd=project).returncode == 0
    both = assay("agents", "verify", "one", "two", cwd=project)
    assert both.returncode == 2
    assert "another module of that name" in both.stdout


@pytest.mark.parametrize(
    ("agent", "options", "code"),
    [
        ("shop:answer", [], 0),
        ("subprocess:getoutput", [], 2),
        ("subprocess:getoutput", ["--assay-allow-agent", "subprocess"], 0),
        ("subprocess:getoutput", ["--assay-trust"], 0),
    ],
)
def test_the_pytest_plugin_goes_by_the_same_rules(
    preloaded_pytest: str, project: Path, agent: str, options: list[str], code: int
) -> None:
    write_test(project, agent)
    words = ("--assay", "-p", "no:cacheprovider", "-p", "no:hypothesispytest", *options)
    result = run_forked(preloaded_pytest, words, project, os.environ)
    assert result.returncode == code, result.stdout
    assert (project / "marker").exists() == bool(options)
    assert ("--assay-allow-agent MODULE" in result.stdout) == (code == 2)


def test_assess_goes_by_the_same_rules(assay: Command, project: Path) -> None:
    write_test(project, "subprocess:getoutput")
    assert assay("agents", "assess", "test.hocon", cwd=project).returncode == 2
    assert not (project / "marker").exists()


def test_lint_says_which_files_run_code_and_runs_none(assay: Command, project: Path) -> None:
    (project / "shop.py").write_text(f"open('marker', 'w')\n{SHOP}")
    write(project, agent="shop:answer", connections=["http", "python"], name="a.hocon")
    write(project, agent="subprocess:getoutput", connections="python", name="b.hocon")
    write(project, agent="shop:answer", connections="http", name="c.hocon")
    result = assay("agents", "lint", ".", "--format", "json", cwd=project)
    notes = json.loads(result.stdout)["findings"]
    assert [one["file"] for one in notes] == ["a.hocon", "b.hocon"]
    assert "runs code: shop:answer is imported" in notes[0]["message"]
    assert "refuses to run: subprocess:getoutput" in notes[1]["message"]
    assert (result.returncode, (project / "marker").exists()) == (0, False)


def resume_elsewhere(
    assay: Command, project: Path, server: ScriptedServer, *options: str, **reach: Any
) -> subprocess.CompletedProcess[str]:
    """Resume a run of one errored test whose folder was changed to name another server."""
    folder = project / "run"
    if not folder.exists():
        verify = ("agents", "verify", "test.hocon", "--out", folder, "--retries", "0")
        assert assay(*verify, "--port", "1", cwd=project).returncode == 3
    manifest = json.loads((folder / "run.json").read_text())
    manifest["asked"]["reach"].update({"port": server.port, **reach})
    (folder / "run.json").write_text(json.dumps(manifest))
    return assay("runs", "resume", folder, *options, cwd=project)


# It is this machine, under a name that does not say so.
SOMEWHERE = "127.1"


@pytest.mark.parametrize(
    ("keys", "connection"),
    [
        ({"metadata": {"x-token": "secret-of-the-user"}}, "http"),
        ({"metadata": {"x-token": "secret-of-the-user"}}, "a2a"),
        ({}, "openai"),
        ({}, "responses"),
    ],
)
def test_secrets_go_to_the_server_of_a_run_folder_only_if_the_user_says_so(
    assay: Command,
    project: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    keys: dict[str, Any],
    connection: str,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "secret-of-the-user")
    write(project, connections=connection, **keys)
    with ScriptedServer(answers("right")) as server:
        refused = resume_elsewhere(assay, project, server, host=SOMEWHERE)
        assert (refused.returncode, len(server.requests)) == (2, 0), refused.stdout
        place = f"{SOMEWHERE}:{server.port}"
        assert f"no key or header is sent to {place}" in refused.stderr
        assert "ASSAY_AGENT_HOSTS=" in refused.stderr
        # The server has no answer that every connection understands: that it is asked is enough.
        resume_elsewhere(assay, project, server, "--trust")
        assert (heard := len(server.requests)) > 0
        monkeypatch.setenv("ASSAY_AGENT_HOSTS", f"example.org,{place}")
        resume_elsewhere(assay, project, server)
        assert len(server.requests) > heard or connection == "http"


def test_a_run_folder_may_name_a_server_if_nothing_secret_is_sent(
    assay: Command, project: Path
) -> None:
    write(project)
    with ScriptedServer(answers("right")) as server:
        assert resume_elsewhere(assay, project, server, host=SOMEWHERE).returncode == 0


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", SOMEWHERE])
def test_servers_of_this_machine_and_of_the_users_configuration_get_secrets(
    assay: Command, project: Path, tmp_path: Path, host: str
) -> None:
    write(project, metadata={"x-token": "secret-of-the-user"})
    with ScriptedServer(answers("right")) as server:
        configure_user(tmp_path, f'[agents]\nhosts = ["{SOMEWHERE}:{server.port}"]')
        resumed = resume_elsewhere(assay, project, server, host=host)
        assert resumed.returncode == 0, resumed.stdout + resumed.stderr
        assert server.requests


def test_a_run_folder_cannot_switch_off_certificates() -> None:
    trust = Trust(resumed_from=Path("/project"))
    allowed = {"ASSAY_AGENT_HOSTS": "agents.example.org"}
    server = "https://agents.example.org/v1"
    trust.check_server(server, is_verified=True, environment=allowed)
    with pytest.raises(InputError, match="certificate"):
        trust.check_server(server, is_verified=False, environment=allowed)
    Trust().check_server(server, is_verified=False, environment={})


def test_a_run_folder_runs_code_only_of_the_project_that_the_user_is_in(
    assay: Command, project: Path, tmp_path: Path
) -> None:
    (project / "shop.py").write_text("def answer(text): raise SystemExit(3)")
    write_test(project, "shop:answer")
    folder = project / "run"
    assay("agents", "verify", "test.hocon", "--out", folder, cwd=project)
    (project / "shop.py").write_text(f"open('marker', 'w')\n{SHOP}")
    write_test(project, "shop:answer", "changed")
    (tmp_path / "mine").mkdir()
    refused = assay("runs", "resume", folder, cwd=tmp_path / "mine")
    assert (refused.returncode, (project / "marker").exists()) == (2, False)
    assert "only the run folder names it" in refused.stderr
    assert assay("runs", "resume", folder, cwd=project / "package").returncode == 0


def test_a_connection_of_a_package_says_itself_that_it_sends_the_key(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def open_it(settings: object) -> Any:
        raise AssertionError("nothing is opened before it is trusted")

    monkeypatch.setenv("OPENAI_API_KEY", "secret-of-the-user")
    monkeypatch.chdir(project)
    path = write(project, connections="keyed")
    reach = ConnectionOptions(host=SOMEWHERE)
    asked = AgentsRequest((path.name,), str(project), reach, Sampling(), ModelChoice(model="none"))
    for sends_key in (True, False):
        kind = Kind("keyed", "of a package", open_it, sends_key=sends_key)
        monkeypatch.setitem(KINDS, "keyed", kind)
        if sends_key:
            with pytest.raises(InputError, match="no key or header is sent"):
                AgentsPlan(asked, trust=Trust(resumed_from=project))
        else:
            AgentsPlan(asked, trust=Trust(resumed_from=project))
