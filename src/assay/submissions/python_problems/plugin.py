"""A pytest plugin for a problem's own tests: the reference's names, and the folder as a package.

`assay submissions test` uses it; alone it is `pytest -p assay.submissions.python_problems.plugin`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.submissions import slopcode
from assay.submissions.python_problems import package

if TYPE_CHECKING:
    import pytest

slopcode.install()


def pytest_configure(config: pytest.Config) -> None:
    """Make the folder of the tests importable by its own name, as when it is verified."""
    if (config.rootpath / package.VERIFIER_SCRIPT).is_file():
        package.import_folder(config.rootpath)
