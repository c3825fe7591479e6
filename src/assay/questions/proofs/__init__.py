"""Claims and the proofs that settle them: files, their twins, their outcomes, the store."""
