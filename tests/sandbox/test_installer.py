"""A source folder is read, hashed and copied without what does not belong to it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from assay.errors import InputError
from assay.sandbox.installer import copy_source, digest, read_source
from tests.sandbox.support import write_files

PROJECT = '[project]\nname = "my-thing"\nversion = "2.0"\ndependencies = ["attrs>=20", "idna"]\n'


def test_dependencies_come_from_the_project(tmp_path: Path) -> None:
    source = read_source(write_files(tmp_path, {"pyproject.toml": PROJECT}))
    assert source.requirements == ("attrs>=20", "idna")
    assert (source.name, source.version, source.needs_build) == ("my-thing", "2.0", False)


def test_dependencies_come_from_requirements_without_a_project(tmp_path: Path) -> None:
    write_files(tmp_path, {"requirements.txt": "# all\nattrs  # why\n\nidna==3.7\n"})
    assert read_source(tmp_path).requirements == ("attrs", "idna==3.7")


def test_dynamic_dependencies_need_a_build(tmp_path: Path) -> None:
    text = '[project]\nname = "x"\ndynamic = ["dependencies"]\n'
    assert read_source(write_files(tmp_path, {"pyproject.toml": text})).needs_build


@pytest.mark.parametrize(
    ("files", "root"),
    [
        ({"src/my_thing/__init__.py": ""}, "src"),
        ({"my_thing/__init__.py": ""}, "."),
        ({"my_thing/__init__.py": "", "src/other.c": ""}, "."),
        ({"single.py": ""}, "."),
    ],
)
def test_the_root_is_where_the_package_lies(
    tmp_path: Path, files: dict[str, str], root: str
) -> None:
    write_files(tmp_path, {"pyproject.toml": PROJECT, **files})
    assert read_source(tmp_path).root == tmp_path / root


def test_the_digest_sees_names_and_contents_and_nothing_else(tmp_path: Path) -> None:
    write_files(tmp_path, {"a.py": "1", "sub/b.py": "2"})
    first = digest(tmp_path)
    write_files(tmp_path, {".git/x": "9", "__pycache__/a.pyc": "9", ".venv/y": "9"})
    assert digest(tmp_path) == first
    write_files(tmp_path, {"a.py": "3"})
    second = digest(tmp_path)
    (tmp_path / "a.py").rename(tmp_path / "c.py")
    assert len({first, second, digest(tmp_path)}) == 3


def test_a_copy_has_no_secrets_no_links_and_knows_its_version(tmp_path: Path) -> None:
    folder = write_files(
        tmp_path / "from",
        {
            "pyproject.toml": PROJECT,
            "src/my_thing/__init__.py": "x = 1",
            "src/my_thing/.env": "KEY=secret",
        },
    )
    (folder / "src" / "my_thing" / "link.py").symlink_to("/etc/passwd")
    place = tmp_path / "to"
    copy_source(read_source(folder), place)
    copied = sorted(str(path.relative_to(place)) for path in place.rglob("*") if path.is_file())
    assert copied == ["my_thing-2.0.dist-info/METADATA", "my_thing/__init__.py"]


def test_a_folder_that_is_not_there_is_the_users_mistake(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="does not exist"):
        read_source(tmp_path / "nowhere")


def test_a_project_that_is_not_toml_is_named(tmp_path: Path) -> None:
    write_files(tmp_path, {"pyproject.toml": "[project\n"})
    with pytest.raises(InputError, match=r"pyproject\.toml"):
        read_source(tmp_path)


def test_a_folder_that_is_no_package_is_refused_before_it_is_read(tmp_path: Path) -> None:
    (tmp_path / "large").touch()
    os.truncate(tmp_path / "large", 1 << 40)
    with pytest.raises(InputError, match="name the folder of one package"):
        digest(tmp_path)
