"""From findings to a verdict: what is asked, what is derived, and where the key is met. Pure."""
