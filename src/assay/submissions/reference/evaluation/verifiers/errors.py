"""What the helpers of verifiers raise."""


class VerifierError(Exception):
    """A verifier cannot judge: the case becomes an error, neither passed nor failed."""
