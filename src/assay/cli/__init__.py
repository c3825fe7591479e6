"""The command line: one module per subject, no logic; each is imported when it is called."""

from assay.cli.main import cli, main

__all__ = ["cli", "main"]
