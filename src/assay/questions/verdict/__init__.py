"""Verdicts from findings: reads the stem, derives compound options, compares with the key. Pure."""
