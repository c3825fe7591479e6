"""Proxies that the environment names, which the user may have written wrongly."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from assay.errors import InputError


@contextmanager
def refuse_wrong_proxy() -> Iterator[None]:
    """Raise an InputError where httpx cannot read the proxy of a variable.

    The value is not shown: it may hold a password.
    """
    import httpx

    try:
        yield
    except (httpx.InvalidURL, ValueError):
        raise InputError(
            "a proxy that the environment names (HTTPS_PROXY and so on) is not an address",
            advice="correct the variable, or unset it",
        ) from None
