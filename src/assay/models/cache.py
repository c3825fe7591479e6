"""The cache of answers on disk: what was asked once is not paid again.

An answer is kept under a hash of the whole request and the number of the sample. The request itself
is not kept, and a key to a provider is part of neither.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from assay.documents import UnreadableFileError, read_record
from assay.model import values
from assay.sandbox import cache_folder, write_whole

KIND = "answers"
# Raised when what is kept changes its shape.
_VERSION = 1


class ResponseCache:
    """Answers by request and sample, one small file each; safe for several processes."""

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder or cache_folder() / KIND

    def get(self, request: Any, sample: int = 0) -> Any:
        """What was kept for a request, any JSON value, or None."""
        try:
            return values.decode(read_record(self._path(request, sample)))
        except (OSError, ValueError, UnreadableFileError):
            # Unreadable is as good as absent: it is asked again and written anew.
            return None

    def put(self, request: Any, sample: int, response: Any) -> None:
        """Keep a JSON value for a request; only its owner may read the file."""
        write_whole(self._path(request, sample), values.encode(response))

    def _path(self, request: Any, sample: int) -> Path:
        name = request_hash(request, sample)
        return self.folder / name[:2] / f"{name}.json"


def request_hash(request: Any, sample: int) -> str:
    """The name of an answer: the same whatever the order of keys."""
    return values.fingerprint(_VERSION, request, sample)
