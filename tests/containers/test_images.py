"""Images and faults: what is missing or fails is the machine's, in the engine's own words."""

from __future__ import annotations

import asyncio
import contextlib
import subprocess
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, TypeVar

import pytest

from assay.containers import (
    Container,
    ContainerPrograms,
    ContainerSpec,
    Engine,
    EngineError,
    build_image,
    find_engine,
    find_settings,
    list_images,
    load_image,
    pull_image,
    remove_image,
    require_image,
    sweep,
)
from assay.containers.owners import OWNER, describe_owner, is_abandoned
from assay.containers.settings import EngineSettings, has_same_fault
from assay.errors import InfrastructureError, InputError
from tests.containers.machine_image import NAME
from tests.containers.support import Traces, podman
from tests.waiting import PATIENCE

Result = TypeVar("Result")


def finish(work: Coroutine[Any, Any, Result]) -> Result:
    async def in_time() -> Result:
        return await asyncio.wait_for(work, PATIENCE)

    return asyncio.run(in_time())


@pytest.fixture
def engine(podman_store: dict[str, str]) -> Engine:
    return finish(find_engine("podman"))


def test_no_engine_and_an_unknown_one(
    podman_store: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(InputError, match="did you mean 'podman'"):
        finish(find_engine("podmann"))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(InfrastructureError, match="podman: not installed; docker: not installed"):
        finish(find_engine())


def test_an_engine_that_fails_is_quoted(
    podman_store: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "storage.conf").write_text(
        f'[storage]\ndriver = "overlay"\ngraphroot = "{tmp_path}/file/root"\n'
        f'runroot = "{tmp_path}/run"\n'
    )
    monkeypatch.setenv("CONTAINERS_STORAGE_CONF", str(tmp_path / "storage.conf"))
    with pytest.raises(InfrastructureError, match=r"podman: .*not a directory"):
        finish(find_engine("podman"))


def test_an_image_that_is_missing_or_cannot_be_pulled(engine: Engine) -> None:
    with pytest.raises(InfrastructureError, match="has no image localhost/none:1") as caught:
        finish(require_image(engine, "localhost/none:1", "env.yaml"))
    assert "assay environments pull env.yaml" in str(caught.value)
    with pytest.raises(EngineError, match=r"podman pull failed .*127\.0\.0\.1"):
        finish(pull_image(engine, "127.0.0.1:9/none:1"))


def test_an_image_without_a_shell_is_named(engine: Engine, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    subprocess.run(["tar", "-C", tmp_path, "-cf", tmp_path / "a.tar", "file"], check=True)
    podman("import", str(tmp_path / "a.tar"), "localhost/empty:1")
    try:
        with pytest.raises(InfrastructureError, match="a shell at /bin/sh"):
            finish(find_settings(engine, "localhost/empty:1"))
    finally:
        podman("rmi", "localhost/empty:1")


def test_a_build_that_fails_leaves_nothing_and_names_its_line(
    engine: Engine, tmp_path: Path
) -> None:
    before = Traces()
    file = tmp_path / "Containerfile"
    file.write_text(f"FROM {NAME}\nRUN touch /usr/made\nRUN echo complaint; exit 7\n")
    with pytest.raises(EngineError, match=r"(?s)complaint.*exit status 7") as caught:
        finish(build_image(engine, file, tmp_path, network="none"))
    assert "exit 7" in (caught.value.advice or "")
    assert Traces() == before

    file.write_text(f"FROM {NAME}\nRUN touch /usr/made\n")
    first = finish(build_image(engine, file, tmp_path, network="none"))
    again = finish(build_image(engine, file, tmp_path, network="none"))
    assert first == again
    (tmp_path / "other").touch()
    assert finish(build_image(engine, file, tmp_path, network="none")) != first
    listed = finish(list_images(engine))
    assert [one.kind for one in listed] == ["build", "build"]
    for one in listed:
        finish(remove_image(engine, one))
    assert Traces() == before


def test_an_archive_is_loaded_once(engine: Engine, tmp_path: Path) -> None:
    podman("save", "--output", str(tmp_path / "a.tar"), NAME)
    first = finish(load_image(engine, tmp_path / "a.tar"))
    assert first == podman("image", "inspect", "--format", "{{.Id}}", NAME).strip()
    assert finish(load_image(engine, tmp_path / "a.tar")) == first
    (kept,) = finish(list_images(engine))
    finish(remove_image(engine, kept))
    assert finish(require_image(engine, NAME, "")) == first
    with pytest.raises(InputError, match="no such archive"):
        finish(load_image(engine, tmp_path / "none.tar"))


def test_a_container_that_is_removed_in_the_middle_is_no_fault_of_the_program(
    engine: Engine,
) -> None:
    before = Traces()

    async def scenario() -> bytes:
        settings = await find_settings(engine, NAME)
        async with ContainerPrograms(engine, settings, ContainerSpec(NAME), None) as programs:
            running = asyncio.ensure_future(programs.run(["sleep", "100"]))
            while not (names := (await engine.run(["ps", "--quiet"])).split()):
                await asyncio.sleep(0.05)
            while not await has_begun(names[0]):
                await asyncio.sleep(0.05)
            await engine.run(["rm", "--force", *names])
            with pytest.raises(EngineError, match="has ended"):
                await running
            return (await programs.run(["id", "-u"])).stdout

    async def has_begun(name: str) -> bool:
        pids = (await engine.run(["top", name, "hpid"])).split()[1:]
        commands = [Path(f"/proc/{pid}/cmdline") for pid in pids]
        with contextlib.suppress(OSError):  # one that has ended meanwhile
            return b"sleep\x00100\x00" in [command.read_bytes() for command in commands]
        return False

    assert finish(scenario()) == b"65534\n"
    assert Traces() == before


def test_a_cancelled_start_leaves_nothing(engine: Engine) -> None:
    before = Traces()

    async def scenario() -> None:
        settings = await find_settings(engine, NAME)
        for pause in (0.0, 0.05, 0.2):
            starting = asyncio.ensure_future(Container.start(engine, settings, ContainerSpec(NAME)))
            await asyncio.sleep(pause)
            if not starting.cancel():
                # It was quicker than the pause.
                await starting.result().close()
                continue
            with pytest.raises(asyncio.CancelledError):
                await starting

    finish(scenario())
    assert Traces() == before


def test_what_a_killed_process_left_is_swept_and_nothing_else(engine: Engine) -> None:
    mine = describe_owner()
    boot, space, pid, _ = mine.split("/")
    gone = f"{boot}/{space}/{pid}/1"
    elsewhere = f"{boot}/1/{pid}/1"
    for name, owner in (("mine", mine), ("gone", gone), ("elsewhere", elsewhere)):
        podman("create", "--name", name, "--label", f"{OWNER}={owner}", NAME, "true")
    podman("create", "--name", "users", NAME, "true")
    try:
        assert finish(sweep(engine)) == 1
        left = set(podman("ps", "--all", "--format", "{{.Names}}").split())
        assert left == {"mine", "elsewhere", "users"}
    finally:
        podman("rm", "--all", "--force")


@pytest.mark.parametrize("owner", ["", "a/b/c", "a/b/c/d/e", "1/2/x/3"])
def test_a_label_of_others_is_no_reason_to_remove(owner: str) -> None:
    assert not is_abandoned(owner)


def test_settings_that_fail_for_the_same_reason_are_not_tried() -> None:
    plain, limited = EngineSettings(), EngineSettings((), ("--ulimit", "nproc=9:9"))
    named = EngineSettings(("--runtime", "runc"), limited.ulimits)
    assert has_same_fault(EngineSettings(("--runtime", "runc")), plain, "crun: setrlimit: no")
    assert not has_same_fault(limited, plain, "crun: setrlimit: no")
    crun = EngineSettings(("--runtime", "crun"), limited.ulimits)
    assert has_same_fault(crun, limited, "crun: cgroups in hybrid mode not supported")
    assert not has_same_fault(named, limited, "crun: cgroups in hybrid mode not supported")
