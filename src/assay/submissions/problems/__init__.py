"""Problem folders: reading and validating their configuration."""

from assay.submissions.problems.reading import examine_problem, find_problem, read_problem

__all__ = ["examine_problem", "find_problem", "read_problem"]
