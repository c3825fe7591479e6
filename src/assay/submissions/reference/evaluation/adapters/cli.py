"""`slop_code.evaluation.adapters.cli`: cases and results of a command."""

from assay.submissions.config import CliAdapter as CLIAdapterConfig
from assay.submissions.reference.evaluation.adapters.models import CLICase, CLIResult

__all__ = ["CLIAdapterConfig", "CLICase", "CLIResult"]
