"""Targets are built once from wheels, kept by content, and rebuilt offline from their lock."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import InfrastructureError, InputError
from assay.sandbox.cache import cache_folder
from assay.sandbox.targets import (
    Environment,
    Target,
    check_requirements,
    environment,
    first_imports,
    list_targets,
    remove_target,
    requirement_names,
)
from assay.sandbox.uv import read_pins
from tests.sandbox.support import build, write_files
from tests.waiting import PATIENCE


def imports(environment: Environment, code: str) -> str:
    """What a statement prints in the environment, with its path as the runner sets it."""
    lines = f"import sys; sys.path[:0] = {[str(path) for path in environment.first]!r}; {code}"
    return subprocess.run(
        [environment.python, "-I", "-c", lines], capture_output=True, text=True, check=True
    ).stdout.strip()


@pytest.fixture
def own_cache(tmp_path: Path, shared_cache: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache, but for the kit, which is the same for all targets."""
    own = tmp_path / "cache"
    own.mkdir()
    (shared_cache / "kits").mkdir(exist_ok=True)
    (own / "kits").symlink_to(shared_cache / "kits")
    monkeypatch.setenv("ASSAY_CACHE", str(own))
    return own


def test_a_requirement_becomes_an_environment(cache: Path) -> None:
    told: list[str] = []
    target = Target(requirements=("iniconfig==2.0.0",))
    build(target)
    found = environment(target, progress=told.append)
    assert told == []
    assert imports(found, "import iniconfig; print(iniconfig.__file__)").startswith(str(cache))
    assert found.kit is not None
    assert found.described == "iniconfig==2.0.0"


def test_what_is_listed_can_be_removed_and_built_again_offline(
    own_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = Target(requirements=("idna==3.7",))
    first = build(target)
    (listed,) = list_targets()
    assert (listed.key, listed.described, listed.packages) == (first.key, "idna==3.7", 1)
    assert listed.bytes > 10_000
    assert remove_target(first.key[:6]) >= listed.bytes
    assert list_targets() == []
    monkeypatch.setenv("UV_OFFLINE", "1")
    second = environment(target)
    assert second == first
    assert imports(second, "import idna; print(idna.__version__)") == "3.7"


def test_the_lock_names_hashes_and_no_address(own_cache: Path) -> None:
    build(Target(requirements=("idna==3.7",)))
    (lock,) = (own_cache / "locks").iterdir()
    text = lock.read_text()
    assert text.startswith("idna==3.7 \\\n    --hash=sha256:")
    assert "://" not in text


def test_two_processes_build_once(own_cache: Path) -> None:
    build(Target(requirements=("idna==3.7",)))
    remove_target(list_targets()[0].key)
    code = (
        "from assay.sandbox.targets import *; told = [];"
        "environment(Target(requirements=('idna==3.7',)), progress=told.append); print(told)"
    )
    started = [
        subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    told = [process.communicate(timeout=PATIENCE)[0] for process in started]
    assert sum("installing" in line for line in told) == 1
    assert len(list_targets()) == 1


def test_a_source_folder_goes_first_and_brings_its_dependencies(
    cache: Path, tmp_path: Path
) -> None:
    files = {
        "pyproject.toml": (
            '[project]\nname = "mine"\nversion = "0.1"\ndependencies = ["idna==3.7"]\n'
        ),
        "src/mine/__init__.py": "import idna, importlib.metadata as m\nV = m.version('mine')\n",
        "src/idna_shadow.py": "",
    }
    folder = write_files(tmp_path / "mine", files)
    found = build(Target(sources=(folder,)))
    assert imports(found, "import mine; print(mine.V, mine.idna.__version__)") == "0.1 3.7"
    # A copy: what happens to the folder later is another target.
    write_files(folder, {"src/mine/__init__.py": "V = 'changed'\n"})
    assert imports(found, "import mine; print(mine.V)") == "0.1"
    changed = build(Target(sources=(folder,)))
    assert changed.key != found.key
    assert changed.lock == found.lock
    assert imports(changed, "import mine; print(mine.V)") == "changed"


def test_current_is_the_environment_assay_runs_in(cache: Path) -> None:
    found = build(Target(current=True))
    assert found.python == Path(sys.executable)
    assert imports(found, "import pydantic; print(1)") == "1"
    assert Path(sys.base_prefix) in found.reads


@pytest.mark.parametrize(
    "requirement", ["no-such-package-of-ours-at-all", "idna==0.0.0.1", "idna=!3"]
)
def test_a_requirement_that_does_not_resolve_gives_uvs_own_words(
    own_cache: Path, requirement: str
) -> None:
    build(Target(requirements=("idna==3.7",)))  # or skip: without a registry nothing resolves
    with pytest.raises(InputError) as caught:
        environment(Target(requirements=(requirement,)))
    assert "idna" in caught.value.what or "no-such-package" in caught.value.what
    assert len(list_targets()) == 1


def test_a_network_that_fails_is_the_machines_fault(
    own_cache: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in [name for name in os.environ if name.startswith(("UV_", "PIP_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("UV_DEFAULT_INDEX", "http://127.0.0.1:9/simple")
    monkeypatch.setenv("UV_HTTP_RETRIES", "0")
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "empty"))
    with pytest.raises(InfrastructureError, match="refused"):
        environment(Target(requirements=("idna==3.7",)))
    assert list_targets() == []


def test_a_package_without_a_wheel_needs_permission(own_cache: Path) -> None:
    build(Target(requirements=("idna==3.7",)))
    with pytest.raises(InputError):
        environment(Target(requirements=("docopt==0.6.2",)))


@pytest.mark.parametrize(
    "requirement",
    ["idna @ https://example.invalid/idna.whl", "./idna", "/srv/idna.whl", "git+https://x.invalid/y",
     "file:///srv/idna", "https://example.invalid/idna.zip"],
)  # fmt: skip
def test_addresses_and_paths_need_permission(requirement: str) -> None:
    with pytest.raises(InputError, match="--allow-direct"):
        check_requirements([requirement])
    check_requirements([requirement], allow_direct=True)


@pytest.mark.parametrize("requirement", ["-r other.txt", "--index-url=x", "", " ", "a\nb", "-e ."])
def test_options_are_never_requirements(requirement: str) -> None:
    with pytest.raises(InputError, match="is not a requirement"):
        check_requirements([requirement], allow_direct=True)


@pytest.mark.parametrize(
    "requirement",
    ["pydantic", "pydantic==2.9.2", "google-adk[eval]>=1.20,<2", "x ; python_version < '3.12'",
     "a.b_c~=1.0", "idna != 3.7, < 4"],
)  # fmt: skip
def test_names_and_versions_are_requirements(requirement: str) -> None:
    check_requirements([requirement])


@given(st.text(max_size=30))
def test_nothing_that_names_a_place_slips_through(text: str) -> None:
    for requirement in (f"https://{text}", f"./{text}", f"x @ file:///{text}", f"-{text}"):
        with pytest.raises(InputError):
            check_requirements([requirement])


def test_a_target_says_what_it_is() -> None:
    assert str(Target(requirements=("a", "b"), python="3.12")) == "a, b on Python 3.12"
    assert str(Target(current=True)) == "current"
    with pytest.raises(InputError, match="empty"):
        Target()
    with pytest.raises(InputError, match="cannot be combined"):
        Target(current=True, requirements=("a",))


def test_removing_what_is_not_there_names_what_is(own_cache: Path) -> None:
    with pytest.raises(InputError, match="not a built target"):
        remove_target("abc")
    assert cache_folder() == own_cache


def test_the_kit_is_pinned_without_an_address() -> None:
    versions = read_pins()
    assert {"pytest", "pytest-asyncio", "pluggy"} <= versions.keys()
    lock = Path(sys.modules["assay.sandbox.uv"].__file__ or "").with_name("kit.lock").read_text()
    assert "://" not in lock


@pytest.mark.parametrize(
    ("requirement", "name"),
    [
        ("google-adk==1.20.0", "google-adk"),
        ("zope.interface >= 5, < 6", "zope.interface"),
        ("httpx[http2]; python_version > '3.8'", "httpx"),
        ("thing @ https://example.invalid/thing.whl", "thing"),
        ("plain", "plain"),
    ],
)
def test_the_distributions_that_were_asked_for_are_known(requirement: str, name: str) -> None:
    assert requirement_names([requirement], []) == (name,)


def test_an_address_alone_names_no_distribution() -> None:
    assert requirement_names(["https://example.invalid/thing.whl", "./folder"], []) == ()


def test_current_can_say_which_installed_package_is_meant() -> None:
    target = Target(current=True, about=("pydantic",))
    assert str(target) == "current:pydantic"
    built = environment(target)
    assert built.distributions == ("pydantic",)
    assert first_imports(target, built) == ("pydantic",)
    assert first_imports(Target(current=True), built) == ()
    with pytest.raises(InputError, match="did you mean 'pydantic'"):
        environment(Target(current=True, about=("pydantik",)))
