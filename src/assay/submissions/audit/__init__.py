"""Grades the grader: tries a problem's verifier on right, empty and mutated answers."""
