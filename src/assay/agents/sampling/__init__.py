"""Sampling of a test: conversations, checks on answers, and a verdict as soon as it is certain."""
