"""Assay finds out by test what an evaluation is worth; these are its public names."""

from assay._version import __version__

__all__ = ["__version__"]
