"""Suites: files of questions in the public formats, with the position of every field."""
