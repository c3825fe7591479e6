"""Takes the samples of a test: conversations, checks on answers, a verdict when it is certain."""
