"""Submissions in containers through the real command: records, hostile programs, interruptions."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.commands import Command
from tests.containers.conftest import podman_store as podman_store
from tests.containers.conftest import store as store
from tests.containers.machine_image import NAME
from tests.containers.support import Traces, podman
from tests.waiting import PATIENCE, wait_until

EXAMPLES = Path(__file__).parents[2] / "examples" / "submissions"
ENVIRONMENT = """\
type: podman
name: podman
commands: {command: python3, entry_file: "{entry_file}.py"}
"""
pytestmark = pytest.mark.usefixtures("podman_store")


def environment(folder: Path, options: str = "", more: str = "", name: str = "env.yaml") -> Path:
    file = folder / name
    file.write_text(f"{ENVIRONMENT}{more}podman: {{image: '{NAME}'{options}}}\n")
    return file


def records(run: Path) -> dict[str, Any]:
    """What a run found, without times, paths of the machine and what names the environment."""
    found = {}
    for line in (run / "journal.jsonl").read_text().splitlines():
        entry = json.loads(line)
        if entry.get("kind") == "record":
            record = entry["record"]
            identifier = record["id"]
            assert identifier not in found
            found[identifier] = (record["outcome"], record.get("code"), _results(record))
    return found


def _results(value: Any) -> Any:
    """Every attribute with what it was and what it should have been, where no time is in it."""
    if isinstance(value, dict):
        left = {
            "started", "duration", "elapsed", "timestamp", "fingerprint", "command", "stderr",
            "link", "date", "server",
        }  # fmt: skip
        return {key: _results(item) for key, item in value.items() if key not in left}
    if isinstance(value, list):
        return [_results(item) for item in value]
    return "a time" if isinstance(value, float) else value


def verify(assay: Command, problem: Path, out: Path, *words: str | Path) -> Any:
    asked = ("-s", problem, "-p", problem, "--out", out, "--quiet", *words)
    return assay("submissions", "verify", *asked)


@pytest.mark.parametrize("name", ["ledger", "todo_api"])
def test_the_examples_give_the_same_records_everywhere(
    assay: Command, tmp_path: Path, name: str
) -> None:
    before, problem = Traces(), EXAMPLES / name
    verify(assay, problem, tmp_path / "sandbox")
    expected = records(tmp_path / "sandbox")
    assert len(expected) > 10
    for number, options in enumerate(["", ", reuse: false"]):
        file, out = environment(tmp_path, options), tmp_path / f"run-{number}"
        done = verify(assay, problem, out, "-e", file)
        assert done.returncode == 0, done.stderr
        assert records(out) == expected
    assert Traces() == before


PROBLEM = """\
name: attack
entry_file: main
adapter: {type: cli, tracked_files: ["*.txt"]}
timeout: 5
checkpoints:
  checkpoint_1:
    groups: {core: {type: Core}}
"""
HOSTILE = """\
import os, socket, sys

def refuse(action):
    try:
        action()
    except (OSError, KeyError):
        return
    print("ALLOWED", action.__code__.co_firstlineno)

what = sys.argv[1]
if what == "bomb":
    while True:
        try:
            os.fork()
        except OSError:
            pass
elif what == "memory":
    held = []
    while True:
        held.append(bytearray(1 << 24))
elif what == "disk":
    for number in range(1000):
        open(f"{number}", "wb").write(bytes(1 << 20))
elif what == "output":
    while True:
        sys.stdout.write("x" * 65536)
elif what == "daemon":
    if os.fork() == 0:
        os.setsid()
        os.closerange(0, 3)
        while True:
            open("/tmp/alive", "w").close()
    print("left one behind")
elif what == "network":
    refuse(lambda: socket.create_connection(("192.0.2.1", 80), 2))
    refuse(lambda: socket.create_connection(("127.0.0.1", A_PORT), 2))
    print("done")
elif what == "rights":
    import ctypes
    library = ctypes.CDLL(None, use_errno=True)
    def mount():
        if library.mount(b"none", b"/workspace", b"tmpfs", 0, None):
            raise OSError
    def unshare():
        if library.unshare(0x10000000):
            raise OSError
    def chroot():
        os.chroot("/tmp")
    refuse(mount); refuse(unshare); refuse(chroot)
    refuse(lambda: os.setuid(0))
    refuse(lambda: os.chmod("/usr/bin/python3", 0o4755))
    refuse(lambda: os.kill(1, 9))
    refuse(lambda: open("/usr/made", "w"))
    refuse(lambda: open("/proc/sysrq-trigger", "w"))
    refuse(lambda: open("A_FILE"))
    refuse(lambda: os.environ["ASSAY_TEST_SECRET"])
    for pid in range(1, 40):
        if pid != os.getpid():
            refuse(lambda: open(f"/proc/{pid}/environ").read())
    print("done")
elif what == "well":
    assert not os.path.exists("/tmp/alive") and not os.listdir("/dev/shm")
    print("well")
"""
CASES = ("bomb", "memory", "disk", "output", "daemon", "network", "rights", "well")


@pytest.mark.parametrize("reuse", ["true", "false"])
def test_hostile_submissions_get_nowhere_and_leave_nothing(
    assay: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reuse: str
) -> None:
    import socket

    monkeypatch.setenv("ASSAY_TEST_SECRET", "a secret")
    secret = tmp_path / "secret.txt"
    secret.write_text("a secret")
    with socket.create_server(("127.0.0.1", 0)) as listening:
        source = HOSTILE.replace("A_PORT", str(listening.getsockname()[1]))
        write_problem(tmp_path, source.replace("A_FILE", str(secret)), CASES)
        before = Traces()
        limits = "limits: {memory: 64m, disk: 32m, pids: 24}"
        file = environment(tmp_path, f", reuse: {reuse}, {limits}")
        words = ("-s", tmp_path / "mine", "-p", tmp_path / "attack", "-e", file, "--jobs", "1")
        done = assay("submissions", "verify", *words, "--out", tmp_path / "run")
    assert Traces() == before
    found = {name.rpartition("/")[2]: one for name, one in records(tmp_path / "run").items()}
    assert set(found) == set(CASES), done.stderr
    text = json.dumps(found)
    assert "a secret" not in text
    # The cases whose output is `done` say so where something was allowed.
    for name in ("network", "rights"):
        assert found[name][0] == "passed", found[name]
    passed = {name for name, (outcome, *_) in found.items() if outcome == "passed"}
    assert passed == {"daemon", "network", "rights", "well"}
    limit = {"bomb": "wall_time", "memory": "memory", "disk": "work_size", "output": "wall_time"}
    for name, expected in limit.items():
        assert f'"{expected}"' in json.dumps(found[name]), found[name]
        assert found[name][0] == "failed"
    assert done.returncode == 1


def write_problem(folder: Path, source: str, cases: Any) -> None:
    (folder / "attack" / "checkpoint_1").mkdir(parents=True)
    (folder / "attack" / "config.yaml").write_text(PROBLEM)
    shown = {"daemon": "left one behind\n", "well": "well\n"}
    written = {
        name: {
            "arguments": [name],
            "expected": {"status_code": 0, "output": shown.get(name, "done\n")},
        }
        for name in cases
    }
    (folder / "attack" / "checkpoint_1" / "core.yaml").write_text(json.dumps({"cases": written}))
    (folder / "mine").mkdir()
    (folder / "mine" / "main.py").write_text(source)


SLOW = "import time; time.sleep(0.1); print('done')"
MOMENTS = int(os.environ.get("ASSAY_TEST_MOMENTS", "3"))


@pytest.mark.parametrize("sign", [signal.SIGKILL, signal.SIGINT])
def test_interrupted_and_resumed_nothing_is_lost_and_nothing_left(
    assay: Command, tmp_path: Path, sign: signal.Signals
) -> None:
    cases = [f"case-{number:02}" for number in range(16)]
    write_problem(tmp_path, SLOW, cases)
    set_up = "setup: {commands: [id > id.txt]}\nsetup_network: false\n"
    file, run = environment(tmp_path, more=set_up), tmp_path / "run"
    command = [sys.executable, "-m", "assay", "submissions", "verify", "-s", str(tmp_path / "mine"),
               "-p", str(tmp_path / "attack"), "-e", str(file), "--out", str(run)]  # fmt: skip
    images = Traces().images
    moments = random.Random(20)
    for _ in range(MOMENTS if sign == signal.SIGKILL else 1):
        shutil.rmtree(run, ignore_errors=True)
        process = subprocess.Popen(
            [*map(str, command)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
        )
        time.sleep(moments.uniform(0.5, 6.0))
        process.send_signal(sign)
        process.communicate(timeout=PATIENCE)
        # What was being started when its process ended sees that, and ends itself.
        wait_until(lambda: not podman("ps", "--all", "--quiet").split())
        wait_until(lambda: not Traces().processes)
        if not (run / "run.json").exists():
            continue
        done = assay("runs", "resume", run)
        assert done.returncode == 0, done.stderr
        assert {outcome for outcome, *_ in records(run).values()} == {"passed"}
        assert len(records(run)) == len(cases)
    assert assay("environments", "remove", "--all").returncode == 0
    after = Traces()
    assert after.images == images
    assert not after.containers + after.mounts + after.processes + after.volumes


def test_set_up_is_kept_by_its_content_and_can_be_listed_and_removed(
    assay: Command, tmp_path: Path
) -> None:
    source = "print('done' if open('made.txt').read() == 'x' else 'not')"
    write_problem(tmp_path, source, ["one"])
    set_up = "setup: {commands: ['echo ran >&2; printf x > made.txt']}\nsetup_network: false\n"
    file = environment(tmp_path, more=set_up)
    words = ("-s", tmp_path / "mine", "-p", tmp_path / "attack", "-e", file)
    before = Traces()
    for number in range(2):
        done = assay("submissions", "verify", *words, "--out", tmp_path / f"run-{number}")
        assert done.returncode == 0, done.stdout + done.stderr
        (kept,) = json.loads(assay("environments", "list", "--json").stdout)["images"]
        assert (kept["engine"], kept["kind"]) == ("podman", "set-up")
    (tmp_path / "mine" / "more.txt").touch()
    assert assay("submissions", "verify", *words, "--out", tmp_path / "run-2").returncode == 0
    keys = [line.split()[0] for line in assay("environments", "list").stdout.splitlines()]
    assert len(keys) == 2
    unknown = assay("environments", "remove", "no-such-key")
    assert unknown.returncode == 2
    assert assay("environments", "remove", keys[0]).returncode == 0
    assert assay("environments", "remove", "--all").returncode == 0
    assert Traces() == before


def test_a_set_up_that_fails_shows_its_output(assay: Command, tmp_path: Path) -> None:
    write_problem(tmp_path, "print('done')", ["one"])
    set_up = "setup: {commands: ['echo no such package >&2; exit 4']}\nsetup_network: false\n"
    file, before = environment(tmp_path, more=set_up), Traces()
    words = ("-s", tmp_path / "mine", "-p", tmp_path / "attack", "-e", file)
    done = assay("submissions", "verify", *words, "--out", tmp_path / "run")
    assert done.returncode == 3
    assert "no such package" in done.stdout
    assert Traces() == before


def test_what_is_wrong_with_an_environment_is_said_before_anything_runs(
    assay: Command, tmp_path: Path
) -> None:
    write_problem(tmp_path, "print('done')", ["one"])
    words = ("-s", tmp_path / "mine", "-p", tmp_path / "attack", "--out", tmp_path / "run", "-e")
    missing = tmp_path / "missing.yaml"
    missing.write_text(f"{ENVIRONMENT}podman: {{image: localhost/none:1}}\n")
    done = assay("submissions", "verify", *words, missing)
    assert done.returncode == 3
    assert "podman has no image localhost/none:1" in done.stderr
    assert "assay environments pull" in done.stderr
    pulled = assay("environments", "pull", missing)
    assert pulled.returncode == 3
    assert "podman pull failed" in pulled.stderr
    command = tmp_path / "command.yaml"
    command.write_text(f"{ENVIRONMENT}podman: {{image: '{NAME}'}}\n".replace("python3", "cobol"))
    done = assay("submissions", "verify", *words, command)
    assert (done.returncode, "'cobol'" in done.stderr) == (2, True), done.stderr
    config = tmp_path / "attack" / "config.yaml"
    config.write_text(f"{PROBLEM}environments: [local]\n")
    done = assay("submissions", "verify", *words, environment(tmp_path))
    assert done.returncode == 2
    assert "environments" in done.stderr


def test_doctor_says_what_works(assay: Command) -> None:
    done = assay("doctor")
    (line,) = (one for one in done.stdout.splitlines() if one.startswith("podman "))
    assert "yes" in line
    assert "runs containers with" in line
