"""Suites: files of questions in the public formats, read with the place of every field."""
