"""uv's failures are told apart: the network's are the machine's, the rest the user's."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from assay.errors import InfrastructureError, InputError
from assay.sandbox.uv import describe, find_interpreter, find_uv, make_error, run_uv


@pytest.mark.parametrize(
    "message",
    [
        "error: Request failed after 3 retries in 5s\n  cause: dns error",
        "error: Failed to fetch: `x`\n  cause: tcp connect error: Connection refused",
        "error: No solution found\nhint: Packages unavailable because the network was disabled",
        "error: operation timed out",
        "error: invalid peer certificate: UnknownIssuer",
    ],
)
def test_the_network_is_the_machines_fault(message: str) -> None:
    error = make_error(message)
    assert isinstance(error, InfrastructureError)
    assert message.splitlines()[0] in error.what


@pytest.mark.parametrize(
    "message",
    [
        "error: No solution found when resolving\n  cause: there is no version of x==9",
        "error: Couldn't parse requirement in `-` at position 0",
        "error: No interpreter found for Python 3.99",
    ],
)
def test_a_wrong_requirement_is_the_users_fault(message: str) -> None:
    error = make_error(message)
    assert isinstance(error, InputError)
    assert error.what == message


def test_a_token_in_the_address_of_an_index_is_not_shown() -> None:
    address = "http://index.example/simple/x/?token=SECRET&more=SECRET"
    message = f"error: Failed to fetch: `{address}`\n  cause: error for url ({address})\nnext line"
    told = str(make_error(message))
    assert "SECRET" not in told
    assert "http://index.example/simple/x/?…" in told
    assert "next line" in told


def test_uv_is_found_and_runs(tmp_path: Path) -> None:
    assert Path(find_uv()).is_file()
    assert run_uv(["--version"], folder=tmp_path).startswith("uv ")


def test_the_default_interpreter_is_the_one_assay_runs_on(tmp_path: Path) -> None:
    found = find_interpreter(None, tmp_path)
    assert found.minor == f"{sys.version_info.major}.{sys.version_info.minor}"
    assert found.base == Path(sys.base_prefix)


def test_a_file_that_is_no_interpreter_is_named(tmp_path: Path) -> None:
    path = tmp_path / "python"
    path.write_text("#!/bin/sh\nexit 3\n")
    path.chmod(0o755)
    with pytest.raises(InfrastructureError, match=str(path)):
        describe(path)
