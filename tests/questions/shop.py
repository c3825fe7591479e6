"""A package with made-up releases, as wheels in a folder that the package clients look into."""

from __future__ import annotations

import hashlib
import json
import zipfile
from pathlib import Path

import pytest

from assay.sandbox import list_releases

CART = '''\
"""A cart."""


class Cart:
    """Holds items."""

    def add(self, item):
        """Add an item."""
        return item
'''
REMOVE = '''
    def remove(self, item):
        """Remove an item."""
        return item
'''
BASKET = '''\
"""A basket."""


class Basket:
    """Holds items."""

    def carry(self):
        """Take it along."""
'''
COUPON = '''

class Coupon:
    """Makes it cheaper."""

    def redeem(self):
        """Use it."""
'''
# `remove` comes in 1.3.0, and in 1.6.0 the cart is gone.
SOURCES = {
    f"1.{number}.0": (CART + (REMOVE if number >= 3 else "") if number < 6 else BASKET) + COUPON
    for number in range(8)
}
# Its name depends on its content, because environments are kept by name and version.
MARK = hashlib.sha256(json.dumps(SOURCES).encode()).hexdigest()[:8]
MODULE = f"assay_test_shop_{MARK}"
PACKAGE = MODULE.replace("_", "-")

SUITE = f"""\
target: {PACKAGE}==1.2.0
benchmarks:
- id: method
  question: Which of these is a method of `{MODULE}.Cart`?
  options: {{A: "`remove`", B: "`add`", C: "`discard`"}}
  correct_answer: B
- id: coupon
  question: Which of these is a method of `{MODULE}.Coupon`?
  options: {{A: "`spend`", B: "`redeem`", C: "`burn`"}}
  correct_answer: B
- id: nicer
  question: Which one is nicer?
  options: {{A: this, B: that}}
  correct_answer: A
"""


def make_releases(folder: Path) -> None:
    """Write the wheels; what lists releases is itself a package, which is installed once."""
    for version, source in SOURCES.items():
        write_wheel(folder, version, {f"{MODULE}/__init__.py": source})
    with pytest.MonkeyPatch.context() as patch:
        offer_releases(folder, patch)
        patch.delenv("UV_NO_INDEX")
        assert list_releases(PACKAGE) == list(SOURCES)


def offer_releases(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the package clients see these releases and nothing else."""
    for name in ("PIP_FIND_LINKS", "UV_FIND_LINKS"):
        monkeypatch.setenv(name, str(folder))
    for name in ("PIP_NO_INDEX", "UV_NO_INDEX"):
        monkeypatch.setenv(name, "1")


def write_wheel(folder: Path, version: str, files: dict[str, str]) -> None:
    """Write a wheel that has the same bytes every time."""
    about = f"{MODULE}-{version}.dist-info"
    files = {
        **files,
        f"{about}/METADATA": f"Metadata-Version: 2.1\nName: {PACKAGE}\nVersion: {version}\n",
        f"{about}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    files[f"{about}/RECORD"] = "".join(f"{name},,\n" for name in [*files, f"{about}/RECORD"])
    with zipfile.ZipFile(folder / f"{MODULE}-{version}-py3-none-any.whl", "w") as wheel:
        for name, text in files.items():
            wheel.writestr(zipfile.ZipInfo(name), text)
