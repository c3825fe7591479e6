"""Code that runs in the target's own interpreter: standard library only, nothing from assay."""
