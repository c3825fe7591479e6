"""What runs in the target's own interpreter: standard library only, nothing of assay."""
