"""What loader and verifier have in common; siblings are imported by the folder's name."""

EXPECTED = "expected.yaml"
BOOK = "book.yaml"
