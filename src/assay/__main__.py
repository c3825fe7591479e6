"""Entry point for `python -m assay`."""

from assay.cli import main

main()
