"""Is the submission right? Runs a program on the cases of a problem and verifies what it did."""
