"""Drift on suites whose answers change between releases, against plain pytest."""
