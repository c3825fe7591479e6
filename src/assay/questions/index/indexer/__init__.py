"""What looks at a target from inside the sandbox: standard library only, nothing of assay."""
