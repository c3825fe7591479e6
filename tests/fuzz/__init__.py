"""Hostile inputs for everything that reads: a standing corpus, and a search for more of them."""
