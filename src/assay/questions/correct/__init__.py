"""Corrections of a question: what may change, the edit of its file, and how it is applied."""
