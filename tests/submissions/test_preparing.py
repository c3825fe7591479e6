"""Preparing: copied once, set up once in the sandbox, without secrets, and nothing left behind."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

import pytest

from assay.errors import InfrastructureError, InputError
from assay.sandbox.isolation import available_levels, probe
from assay.sandbox.jail import trees
from assay.sandbox.overlay_base import new_base
from assay.submissions.assets import bind_assets
from assay.submissions.cases import CLICase
from assay.submissions.config import GroupConfig
from assay.submissions.environments import DEFAULT, EnvironmentFile
from assay.submissions.protocols import SetUpFailedError
from tests.submissions.adapters.support import LEVELS, Bench, finish

ONE = CLICase(id="one", group="core")


def set_up(*commands: str, **more: Any) -> EnvironmentFile:
    return EnvironmentFile.model_validate(
        {
            "setup": {"commands": list(commands)},
            "commands": {"entry_file": "{entry_file}.py"},
            **more,
        }
    )


@pytest.mark.parametrize("level", LEVELS)
def test_set_up_runs_once_and_all_cases_see_what_it_left(tmp_path: Path, level: str) -> None:
    bench = Bench(tmp_path, {"main.py": "print(open('made').read(), end='')"})
    environment = set_up("echo once >> made", "echo twice >> made; mkdir -p deep/er")
    results = bench.run(ONE, ONE, environment=environment, level=level)
    assert [result.output for result in results] == ["once\ntwice\n"] * 2
    assert [path.name for path in bench.submission.iterdir()] == ["main.py"]


def test_a_failing_set_up_says_what_it_wrote(tmp_path: Path) -> None:
    bench = Bench(tmp_path, {"main.py": ""})
    with pytest.raises(SetUpFailedError) as caught:
        bench.run(ONE, environment=set_up("true", "echo said; echo and >&2; exit 3", "touch x"))
    message = str(caught.value)
    assert "set-up of checkpoint_1" in message
    assert "(exit 3)\nsaid\nand" in message


def test_set_up_has_no_secret_and_no_network_if_it_is_turned_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_TOKEN", "hidden")
    bench = Bench(tmp_path, {"main.py": "print(open('env').read() + open('links').read())"})
    environment = set_up(
        "env > env",
        "cat /proc/net/dev > links",
        environment={"include_os_env": True, "env": {"MY_TOKEN": None, "OTHER": "seen"}},
        setup_network=False,
    )
    (result,) = bench.run(ONE, environment=environment)
    assert "OTHER=seen" in str(result.output)
    assert "hidden" not in str(result.output)
    if "namespaces" in available_levels(probe()):
        assert [
            line.split(":")[0].strip()
            for line in str(result.output).splitlines()
            if ":" in line and "|" not in line
        ][-1] == "lo"


def test_cases_get_named_variables_but_none_of_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_TOKEN", "hidden")
    monkeypatch.setenv("MY_MODE", "plain")
    bench = Bench(
        tmp_path,
        {"main.py": "import os; print(sorted(k for k in os.environ if k[:3] == 'MY_'))"},
        env={"MY_PROBLEM": "1"},
    )
    (bare,) = bench.run(ONE)
    asked = EnvironmentFile.model_validate(
        {"environment": {"include_os_env": True}, "commands": {"entry_file": "{entry_file}.py"}}
    )
    (with_system,) = bench.run(ONE, environment=asked, env={"MY_GROUP": "2"})
    assert bare.output == "['MY_PROBLEM']\n"
    assert with_system.output == "['MY_GROUP', 'MY_MODE', 'MY_PROBLEM']\n"


def test_links_are_never_followed_and_ignored_files_stay_out(tmp_path: Path) -> None:
    outside = tmp_path / "outside.txt"
    outside.write_text("private")
    bench = Bench(
        tmp_path,
        {
            "main.py": "import os; print(sorted(os.listdir()), os.path.exists('link'),"
            " open('inner').read())",
            "data.txt": "own",
            "old.pyc": "",
            ".venv/bin/python": "",
        },
    )
    (bench.submission / "link").symlink_to(outside)
    (bench.submission / "inner").symlink_to("data.txt")
    (result,) = bench.run(ONE)
    assert result.output == "['data.txt', 'inner', 'link', 'main.py'] False own\n"


@pytest.mark.parametrize("level", LEVELS)
def test_a_copy_keeps_its_modes_and_is_for_no_other_user_of_the_machine(
    tmp_path: Path, level: str
) -> None:
    script = "import os; print(open('open.txt').read(), open('d/private.txt').read())"
    files = {"main.py": script, "run.sh": "", "open.txt": "a", "d/private.txt": "b"}
    bench = Bench(tmp_path, files)
    given = {
        "main.py": 0o644,
        "run.sh": 0o755,
        "open.txt": 0o666,
        "d": 0o777,
        "d/private.txt": 0o600,
    }
    for name, mode in given.items():
        (bench.submission / name).chmod(mode)

    async def modes() -> dict[str, int]:
        async with bench.prepare(DEFAULT, level=level) as prepared:
            return {name: (prepared.base.path / name).stat().st_mode & 0o7777 for name in given}

    copied = finish(modes())
    assert copied == {
        "main.py": 0o640, "run.sh": 0o750, "open.txt": 0o640, "d": 0o750, "d/private.txt": 0o600,
    }  # fmt: skip
    (result,) = bench.run(ONE, level=level)
    assert result.output == "a b\n"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root runs programs as another user")
@pytest.mark.parametrize("path", ["data", "data/deep/words.txt"])
def test_a_copy_of_an_asset_is_for_no_other_user_of_the_machine(tmp_path: Path, path: str) -> None:
    script = "import sys; print(open(sys.argv[1] + sys.argv[2]).read())"
    bench = Bench(tmp_path, {"main.py": script}, static_assets={"words": {"path": path}})
    file = bench.problem.path / "data" / "deep" / "words.txt"
    file.parent.mkdir(parents=True)
    file.write_text("word")
    file.chmod(0o600)
    below = "/deep/words.txt" if path == "data" else ""
    case = ONE.model_copy(update={"arguments": ["{{static:words}}", below]})
    for level in available_levels(probe()):
        with new_base(level) as base:
            (bound,) = bind_assets(bench.problem, base, level).values()
            copies = [base.path.parent / "static", *(base.path.parent / "static").rglob("*")]
            assert Path(bound.host) in copies
            assert [one for one in copies if one.stat().st_mode & 0o027] == []
            # It is the program's to read, and not its to change.
            assert {(one.stat().st_uid, one.stat().st_gid) for one in copies} == {(0, base.user)}
        (result,) = bench.run(case, level=level)
        assert (result.output, result.stderr) == ("word\n", "")


def test_the_digest_is_of_what_is_run(tmp_path: Path) -> None:
    bench = Bench(tmp_path, {"main.py": "print(1)"})

    async def digest(environment: EnvironmentFile = DEFAULT) -> str:
        async with bench.prepare(environment) as prepared:
            assert prepared.base.path.is_dir()
        assert not prepared.base.path.parent.exists()
        return str(prepared.digest)

    first, again = finish(digest()), finish(digest())
    other = finish(digest(EnvironmentFile.model_validate({"commands": {"command": "python -I"}})))
    (bench.submission / "main.py").write_text("print(2)")
    assert first == again
    assert len({first, other, finish(digest())}) == 3


def test_a_docker_environment_needs_an_engine_and_a_file_is_no_submission(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = Bench(tmp_path, {"main.py": ""})
    environment = EnvironmentFile.model_validate({"type": "docker", "docker": {"image": "a"}})
    with monkeypatch.context() as patch:
        patch.setenv("PATH", str(tmp_path))
        with pytest.raises(InfrastructureError, match="no container engine can be used"):
            bench.run(ONE, environment=environment)
    bench.submission = bench.submission / "main.py"
    with pytest.raises(InputError, match="not the folder of a submission"):
        bench.run(ONE)


def test_uv_and_python_are_there_for_set_up_and_cases(tmp_path: Path) -> None:
    bench = Bench(tmp_path, {"main.py": "import sys; print(sys.prefix != sys.base_prefix)"})
    environment = set_up(
        "uv init --bare --name small", "uv lock --offline", "uv sync --offline", setup_network=False
    )
    environment = environment.model_copy(
        update={"commands": environment.commands.model_copy(update={"command": "uv run"})}
    )
    (result,) = bench.run(ONE, environment=environment)
    assert (result.output, result.status_code) == ("True\n", 0), result.stderr


def test_groups_share_what_was_prepared(tmp_path: Path) -> None:
    bench = Bench(tmp_path, {"main.py": "print(1)"})

    async def work() -> list[object]:
        found: list[object] = []
        async with bench.prepare() as prepared:
            for name in ("first", "second"):
                async with prepared.runner(GroupConfig(name=name)) as runner:
                    found.append((await runner.run(ONE)).output)
        return found

    assert finish(work()) == ["1\n", "1\n"]


def nest(folder: Path, depth: int) -> None:
    """Folders in each other, deeper than a path can say."""
    here = os.open(folder, os.O_RDONLY)
    for _ in range(depth):
        os.mkdir("d", dir_fd=here)
        inner = os.open("d", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = inner
    os.close(here)


def test_a_submission_too_deep_to_be_copied_is_refused_as_its_own_fault(tmp_path: Path) -> None:
    bench = Bench(tmp_path, {"main.py": "print('ran')", "pit/file": ""})
    nest(bench.submission / "pit", 1500)
    try:
        with pytest.raises(InputError, match="nested more than 100 deep") as caught:
            bench.run(ONE)
        assert caught.value.where == str(bench.submission)
        assert "submission's own" in (caught.value.advice or "")
        without = set_up("true", snapshot={"ignore_globs": ["pit"]})
        (result,) = bench.run(ONE, environment=without)
        assert result.output == "ran\n"
    finally:
        trees.remove(str(bench.submission / "pit"))


@pytest.mark.parametrize("level", LEVELS)
def test_a_set_up_that_digs_too_deep_has_failed_and_leaves_nothing(
    tmp_path: Path, level: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = Bench(tmp_path, {"main.py": "", "dig.py": DIG})
    # Where every user may go, unlike the folders of tests.
    with tempfile.TemporaryDirectory() as places:
        Path(places).chmod(0o755)
        monkeypatch.setattr(tempfile, "tempdir", places)
        with pytest.raises(SetUpFailedError, match="what it made has folders nested"):
            bench.run(ONE, environment=set_up("python3 dig.py"), level=level)
        assert list(Path(places).iterdir()) == []


DIG = "import os\nfor _ in range(500):\n    os.mkdir('d')\n    os.chdir('d')\n"


@pytest.mark.parametrize("level", LEVELS)
def test_input_files_take_the_place_of_what_the_submission_has_there(
    tmp_path: Path, level: str
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    script = "print(open('data/x.csv').read(), open('linked/y').read(), open('folder').read())"
    files = {"main.py": script, "data": "a file", "folder/inner": "in the way"}
    bench = Bench(tmp_path, files)
    (bench.submission / "linked").symlink_to(outside)
    inputs = [{"path": path, "content": path[0]} for path in ("data/x.csv", "linked/y", "folder")]
    case = CLICase.model_validate({"id": "one", "group": "core", "input_files": inputs})
    for isolated in (True, False):
        results = bench.run(case, case, level=level, isolated=isolated)
        assert [result.output for result in results] == ["d l f\n"] * 2
    assert list(outside.iterdir()) == []
