"""Runs Assay modules in a separate process, for untrusted code and data."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from assay.model import decode_value, encode_bytes
from assay.processes.channel import Codec
from assay.processes.child import Child
from assay.processes.limits import clean_environment

VALUES = Codec(encode_bytes, decode_value)
"""JSON that holds bytes and all floats too."""

# Assay's own modules are compiled once, as usual; third-party code leaves no bytecode behind.
_START = (
    "import importlib, json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "sys.dont_write_bytecode = sys.argv[3] == 'True'; "
    "module = importlib.import_module(sys.argv[2]); sys.dont_write_bytecode = True; "
    "module.main(int(sys.argv[4]))"
)


def start_module(module: str, folder: Path | None = None) -> Child:
    """Start `main` of a module in a new interpreter, without Assay's environment."""
    path = json.dumps([entry for entry in sys.path if entry])
    own = {} if folder is None else {"TMPDIR": str(folder)}
    command = [sys.executable, "-P", "-s", "-u", "-c", _START]
    return Child.start(
        [*command, path, module, str(sys.dont_write_bytecode)],
        clean_environment() | own,
        folder=folder or "/",
        codec=VALUES,
    )
