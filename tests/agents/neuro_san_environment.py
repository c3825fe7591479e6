"""Makes an environment of its own with neuro-san, and starts its server: the real other side.

`python -m tests.agents.neuro_san_environment` makes it ahead of the tests. Where it cannot be
made (no Python 3.12, no package index), `NotHere` says why.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.agents.environments import ROOT, NotHere, made_with
from tests.waiting import PATIENCE

REQUIREMENT = "neuro-san==0.7.15"
# Agents of the library's own that test files are written for, here with a model of ours.
AGENTS = ("hello_world", "music_nerd", "music_nerd_pro", "math_guy")
_SERVER = "neuro_san.service.main_loop.server_main_loop"


@dataclass(frozen=True)
class NeuroSan:
    """An interpreter with neuro-san, and where the library lies."""

    python: Path
    package: Path

    def variables(self, folder: Path, model_port: int) -> dict[str, str]:
        """What the library reads from the environment to use our agents and our model."""
        own = {key: os.environ[key] for key in ("PATH", "HOME", "LANG") if key in os.environ}
        return own | {
            "AGENT_MANIFEST_FILE": str(self._manifest(folder)),
            "AGENT_TOOL_PATH": str(self.package / "coded_tools"),
            "OPENAI_API_BASE": f"http://127.0.0.1:{model_port}/v1",
            "OPENAI_API_KEY": "scripted",
            # The library looks for its tools below the first of these that fits.
            "PYTHONPATH": os.pathsep.join([str(self.package.parent), str(ROOT / "src"), str(ROOT)]),
        }

    def _manifest(self, folder: Path) -> Path:
        for agent in AGENTS:
            network = (self.package / "registries" / f"{agent}.hocon").read_text()
            # A scripted model speaks the older of the two protocols.
            assert '"model_name": "gpt-5.2"' in network
            ours = '"model_name": "gpt-4o", "use_responses_api": false'
            (folder / f"{agent}.hocon").write_text(network.replace('"model_name": "gpt-5.2"', ours))
        # Every agent is also a tool of the server's MCP endpoint.
        lines = [
            f'"{agent}.hocon": {{"serve": true, "public": true, "mcp": true}}' for agent in AGENTS
        ]
        (folder / "manifest.hocon").write_text("{\n" + ",\n".join(lines) + "\n}\n")
        return folder / "manifest.hocon"


def neuro_san() -> NeuroSan:
    """The environment, made on first use and kept beside the project's own."""
    python = made_with(REQUIREMENT, _interpreter)
    (package,) = python.parents[1].glob("lib/python3.*/site-packages/neuro_san")
    return NeuroSan(python, package)


@contextmanager
def server(environment: NeuroSan, variables: dict[str, str], folder: Path) -> Iterator[int]:
    """The real server on a free port, until the block ends."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with (folder / "server.log").open("wb") as log:
        process = subprocess.Popen(
            [environment.python, "-m", _SERVER, "--http_port", str(port)],
            env=variables,
            cwd=folder,
            stdout=log,
            stderr=subprocess.STDOUT,
        )
        try:
            _wait_until_served(process, port, folder / "server.log")
            yield port
        finally:
            process.terminate()
            try:
                process.wait(60)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _wait_until_served(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    import httpx

    end = time.monotonic() + PATIENCE
    while time.monotonic() < end and process.poll() is None:
        try:
            listed = httpx.get(f"http://127.0.0.1:{port}/api/v1/list", timeout=2).json()["agents"]
            if {each["agent_name"] for each in listed} >= set(AGENTS):
                return
        except (httpx.HTTPError, ValueError, KeyError):
            pass
        time.sleep(0.2)
    raise AssertionError(f"the server did not come up:\n{log.read_text()[-3000:]}")


def _interpreter() -> Path:
    """A Python that the library supports: this one, one on the path, or one of pyenv's."""
    names = ("python3.12", "python3.13")
    found = [Path(path) for name in names if (path := shutil.which(name))]
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    found += sorted(pyenv.glob("versions/3.1[23].*/bin/python"))
    for python in (Path(sys.executable), *found):
        asked = [
            str(python),
            "-c",
            "import sys; sys.exit(not (3, 12) <= sys.version_info < (3, 14))",
        ]
        if subprocess.run(asked, capture_output=True).returncode == 0:
            return python
    raise NotHere("neuro-san needs Python 3.12 or 3.13, and there is none here")


if __name__ == "__main__":
    print(neuro_san().python)
