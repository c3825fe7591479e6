"""Input files: every type becomes bytes, the same every time, and comes back from disk."""

from __future__ import annotations

import bz2
import contextlib
import csv
import gzip
import io
import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import ValidationError

from assay.errors import InputError
from assay.submissions import file_formats
from assay.submissions.cases import InputFile
from assay.submissions.declarative.expectations import UnreadableError, read_structure
from assay.submissions.file_formats import (
    Compression,
    FileType,
    parse_content,
    signature,
    write_content,
)
from tests.conftest import json_values

ROWS = [{"item": "tea, green", "price": 3, "fresh": True}, {"item": "coffee", "price": 4.5}]


def made(content: Any, file_type: str, **more: Any) -> bytes:
    return InputFile(path="f", content=content, file_type=FileType(file_type), **more).to_bytes()


def test_text_and_bytes_are_written_as_they_are_for_every_type() -> None:
    for kind in FileType:
        assert made("{not json\n", kind) == b"{not json\n"
        assert made(b"\x00\xff", kind) == b"\x00\xff"
    assert made(42, "text") == b"42"


def test_structure_becomes_what_its_type_says() -> None:
    assert json.loads(made({"a": [1, "ü"]}, "json")) == {"a": [1, "ü"]}
    assert made([{"a": 1}, [2]], "jsonl") == b'{"a": 1}\n[2]\n'
    assert yaml.safe_load(made({"b": 1, "a": None}, "yaml")) == {"b": 1, "a": None}
    assert made(ROWS, "csv").decode() == ('item,price,fresh\n"tea, green",3,true\ncoffee,4.5,\n')
    assert made([["a", "b"], [1, 2]], "tsv") == b"a\tb\n1\t2\n"
    table = pyarrow.parquet.read_table(io.BytesIO(made([{"a": 1}, {"a": 2}], "parquet")))
    assert table.to_pylist() == [{"a": 1}, {"a": 2}]


@pytest.mark.parametrize("row", [{"a": {}}, {"a": [{}]}, {"a": 10**30}, {"a": -(2**64)}])
def test_what_parquet_cannot_hold_is_told(row: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="f: cannot be written as parquet"):
        made([row], "parquet")


@given(json_values, st.sampled_from(FileType))
@example(True, FileType.SQLITE)
@example({}, FileType.SQLITE)
@example({}, FileType.PARQUET)
def test_no_structure_breaks_a_format(content: Any, kind: FileType) -> None:
    shapes = (content, [content], [{"a": content}], [[content]])
    tables = ({"t": content}, {"t": [{"a": content}]}, {"t": {"columns": content, "rows": []}})
    for one in (*shapes, *({"tables": each} for each in tables), {"tables": {}}):
        # Anything else than these would be a traceback for who wrote the case.
        with contextlib.suppress(InputError, ValueError):
            assert isinstance(made(one, kind), bytes)


def test_a_database_holds_its_tables(tmp_path: Path) -> None:
    content = {
        "tables": {
            "users": [{"id": 1, "name": 'A"da'}, {"id": 2, "tags": ["x"]}],
            'odd "name"': {"columns": ["n"], "rows": []},
            "typed": {"columns": {"k": "TEXT PRIMARY KEY"}, "rows": [["one"]]},
        }
    }
    file = tmp_path / "data.db"
    file.write_bytes(made(content, "sqlite"))
    database = sqlite3.connect(file)
    assert database.execute("select * from users").fetchall() == [
        (1, 'A"da', None),
        (2, None, '["x"]'),
    ]
    assert database.execute('select count(*) from "odd ""name"""').fetchone() == (0,)
    with pytest.raises(sqlite3.IntegrityError):
        database.execute("insert into typed values ('one')")
    database.close()


@pytest.mark.parametrize("kind", ["json", "jsonl", "csv", "tsv", "yaml", "parquet", "sqlite"])
@pytest.mark.parametrize("packing", list(Compression))
def test_the_same_content_gives_the_same_bytes(kind: str, packing: Compression) -> None:
    content: Any = {"tables": {"t": ROWS}} if kind == "sqlite" else ROWS[:1]
    first = made(content, kind, compression=packing)
    assert first == made(content, kind, compression=packing)
    unpack: dict[str, Any] = {"none": bytes, "gzip": gzip.decompress, "bzip2": bz2.decompress}
    assert unpack[packing](first) == made(content, kind)


@pytest.mark.parametrize(
    ("content", "kind", "said"),
    [
        ({"a": 1}, "text", "cannot be written from dict"),
        (None, "text", "NoneType"),
        ({"a": 1}, "csv", "a list of rows, not dict"),
        ([{"a": 1}, [1]], "csv", "all mappings or all lists"),
        (7, "sqlite", "mapping of tables"),
        ({"tables": {"t": []}}, "sqlite", "no columns"),
        ({"t": {"columns": {"a": "UNIQUE"}, "rows": [[1], [1]]}}, "sqlite", "UNIQUE constraint"),
    ],
)
def test_what_cannot_be_written_says_why_and_where(content: Any, kind: str, said: str) -> None:
    with pytest.raises(InputError, match=said) as caught:
        made(content, kind)
    assert caught.value.where == "f"


@pytest.mark.parametrize("path", ["/etc/passwd", "../x", "a/../../b", "", "."])
def test_a_file_stays_within_the_work_folder(path: str) -> None:
    with pytest.raises(ValidationError, match="within the work folder"):
        InputFile(path=path, content="")


def test_a_path_object_is_taken_for_its_text() -> None:
    file = InputFile.model_validate({"path": Path("a/b.txt"), "content": "x", "file_type": "text"})
    assert (file.path, file.file_type) == ("a/b.txt", FileType.TEXT)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("a.json", ("json", "none")),
        ("A.CSV.GZ", ("csv", "gzip")),
        ("a.txt.bz2", ("text", "bzip2")),
        ("a.tar.gz", ("binary", "none")),
        ("a.gz", ("binary", "none")),
        ("a.sqlite3", ("sqlite", "none")),
        ("Makefile", ("text", "none")),
    ],
)
def test_a_name_tells_type_and_compression(name: str, expected: tuple[str, str]) -> None:
    assert signature(Path(name)) == expected


def on_disk(folder: Path, name: str, data: bytes) -> InputFile:
    (folder / name).write_bytes(data)
    return InputFile.from_path(path=Path(name), relative_to=folder)


def test_a_file_on_disk_has_structure_and_keeps_its_bytes(tmp_path: Path) -> None:
    odd = b'{"a":1,\r\n"b":[2]}\n\n'
    file = on_disk(tmp_path, "odd.json", odd)
    assert file.content == {"a": 1, "b": [2]}
    assert file.to_bytes() == odd
    assert InputFile.model_validate_json(file.model_dump_json()).to_bytes() == odd
    file.content["a"] = 2
    assert json.loads(file.to_bytes()) == {"a": 2, "b": [2]}
    packed = gzip.compress(b"x,y\r\n1,2\r\n", mtime=5)
    table = on_disk(tmp_path, "t.csv.gz", packed)
    assert (table.content, table.to_bytes()) == ([{"x": "1", "y": "2"}], packed)


def test_malformed_files_are_input_too(tmp_path: Path) -> None:
    broken = on_disk(tmp_path, "broken.json", b"{oops")
    assert (broken.content, broken.file_type) == ("{oops", FileType.TEXT)
    assert on_disk(tmp_path, "x.txt", b"\xff\x00").content == b"\xff\x00"
    assert on_disk(tmp_path, "x.db", b"no database").to_bytes() == b"no database"
    assert on_disk(tmp_path, "x.json.gz", b"not packed").to_bytes() == b"not packed"
    assert on_disk(tmp_path, "dates.yaml", b"when: 2020-01-01\n").content == "when: 2020-01-01\n"


def test_from_absolute_saves_under_another_name(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("hello")
    file = InputFile.from_absolute(path=tmp_path / "a.txt", save_path=Path("in/b.txt"))
    assert (file.path, file.content, file.source) == ("in/b.txt", "hello", None)
    given_content = InputFile.from_absolute(tmp_path / "none.json", "n.json", content=[1])
    assert given_content.file_type is FileType.JSON
    with pytest.raises(InputError, match="cannot be read"):
        InputFile.from_absolute(tmp_path / "none.json", "n.json")
    absolute = InputFile.from_path(tmp_path / "a.txt", relative_to=tmp_path)
    assert absolute.path == "a.txt"


cells = st.text(st.characters(codec="utf-8", exclude_characters="\r\n\0"), max_size=8)
names = st.lists(cells.filter(bool), min_size=2, max_size=4, unique=True)


@given(
    names.flatmap(
        lambda header: st.lists(st.fixed_dictionaries(dict.fromkeys(header, cells)), min_size=1)
    )
)
def test_tables_of_texts_come_back(rows: list[dict[str, str]]) -> None:
    for kind in (FileType.CSV, FileType.TSV):
        data = write_content(rows, kind)
        assert (
            list(
                csv.DictReader(
                    io.StringIO(data.decode(), newline=""), delimiter="\t" if kind == "tsv" else ","
                )
            )
            == rows
        )
        assert parse_content(data, kind) == rows


@given(
    st.binary(max_size=60), st.sampled_from(["a.json", "a.csv", "a.yaml", "a.txt", "a.jsonl.gz"])
)
def test_any_bytes_on_disk_are_written_unchanged(data: bytes, name: str) -> None:
    kind, packing = signature(Path(name))
    assert InputFile._of_bytes(name, data, kind, packing).to_bytes() == data


def bomb(levels: int = 7) -> str:
    """A few lines of YAML that mean ten to the power of `levels` values."""
    lines = [
        f"a{level}: &a{level} [{','.join([f'*a{level - 1}' if level else 'x'] * 10)}]"
        for level in range(levels)
    ]
    return "\n".join(lines)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("o.yaml", b"[" * 20_000),
        ("o.yaml", b"[" * 5_000 + b"]" * 5_000),
        ("o.yaml", bomb().encode()),
        ("o.yaml", b"&a [*a]"),
        ("o.yaml", b"a: !!bool x"),
        ("o.yaml", b"a: !!timestamp x"),
        ("o.yaml", b"a: !!int ''"),
        ("o.yaml", b"a: !!float x"),
        ("o.yaml", b"a: !!python/object:os.system x"),
        ("o.yaml", b"? [1, 2]\n: 3"),
        ("o.yaml", b"a: " + b"9" * 6_000),
        ("o.yaml", b"a: 2024-99-99"),
        ("o.yaml", b"\xff\xfe\x00"),
        ("o.yaml", b"a: 1\n---\nb: 2"),
        ("o.jsonl", b"[" * 100_000 + b"\n"),
        ("o.jsonl", b"[" * 100_000 + b"]" * 100_000 + b"\n"),
        ("o.json", b"[" * 100_000),
        ("o.parquet", b"PAR1" + b"\xff" * 64 + (60).to_bytes(4, "little") + b"PAR1"),
        ("o.parquet", b"PAR1"),
        ("o.csv.gz", gzip.compress(b"")[:10] + b"\xff" * 40),
        ("o.csv.gz", gzip.compress(b"a,b\n" * 500)[:-20]),
        ("o.csv.bz2", b"BZh91AY&SY" + b"\0" * 50),
        ("o.csv", b'a\n"x'),
        ("o.db", b"SQLite format 3\0" + b"\xff" * 5_000),
        ("o.db", b"x" * 100),
    ],
    ids=lambda value: value if isinstance(value, str) else "content",
)
def test_what_is_not_of_its_type_is_told_whatever_is_wrong(name: str, content: bytes) -> None:
    with pytest.raises(UnreadableError, match="the file is not"):
        read_structure(content, name)


@pytest.mark.parametrize("kind", ["gz", "bz2"])
def test_what_unpacks_to_too_much_is_refused(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_formats, "MOST_UNPACKED", 1 << 20)
    pack = gzip.compress if kind == "gz" else bz2.compress
    assert read_structure(pack(b"a\n" * 100), f"o.csv.{kind}") == [{"a": "a"}] * 99
    with pytest.raises(UnreadableError, match="unpacks to more than 1 MiB"):
        read_structure(pack(bytes(1 << 20)) * 100, f"o.csv.{kind}")


def test_a_database_makes_no_giants(tmp_path: Path) -> None:
    file = tmp_path / "o.db"
    with closing(sqlite3.connect(file)) as database:
        database.execute("create table t(a, b as (hex(zeroblob(450000000))))")
        database.execute("insert into t(a) values (1)")
        database.commit()
    with pytest.raises(UnreadableError, match="too big"):
        read_structure(file.read_bytes(), "o.db")


def test_yaml_is_read_as_before() -> None:
    text = b"a: yes\nb: &x {c: 1}\nd: *x\ne: {<<: *x, f: ~}\n"
    assert read_structure(text, "o.yaml") == {
        "a": True,
        "b": {"c": 1},
        "d": {"c": 1},
        "e": {"c": 1, "f": None},
    }
    assert read_structure(b" \n", "o.yml") is None


@pytest.mark.parametrize(
    ("name", "given", "found"),
    [
        ("a.json", (), (FileType.JSON, Compression.NONE)),
        ("deep/b.csv.gz", (), (FileType.CSV, Compression.GZIP)),
        ("notes", (None, None), (FileType.TEXT, Compression.NONE)),
        ("a.json", ("text",), (FileType.TEXT, Compression.NONE)),
        ("a.json.gz", (FileType.BINARY, "none"), (FileType.BINARY, Compression.NONE)),
    ],
)
def test_a_loader_can_ask_what_a_files_name_says(
    name: str, given: tuple[FileType | str | None, ...], found: tuple[FileType, Compression]
) -> None:
    assert InputFile.resolve_suffix(Path(name), *given) == found
    assert InputFile.resolve_suffix(name, *given) == found


def test_a_type_that_does_not_exist_is_told() -> None:
    with pytest.raises(ValueError, match="jsn"):
        InputFile.resolve_suffix("a.json", "jsn")


def _database_of_calculated_cells() -> bytes:
    with closing(sqlite3.connect(":memory:")) as database:
        database.execute("CREATE TABLE t (a, b AS (zeroblob(1000000)))")
        database.executemany("INSERT INTO t (a) VALUES (?)", [(number,) for number in range(40)])
        database.commit()
        return bytes(database.serialize())


def _parquet_of_one_repeated_value() -> bytes:
    import pyarrow
    from pyarrow import parquet

    sink = pyarrow.BufferOutputStream()
    parquet.write_table(pyarrow.table({"a": pyarrow.array([1] * 600_000)}), sink)
    return bytes(sink.getvalue().to_pybytes())


_MANY_PARTS: dict[str, Callable[[], bytes]] = {
    "many.json": lambda: b"[" + b"[]," * 600_000 + b"[]]",
    "long.json": lambda: b'["' + b"x" * 17_000_000 + b'"]',
    "many.jsonl": lambda: b"1\n" * 600_000,
    "many.csv": lambda: b"a,b\n" + b"1,2\n" * 300_000,
    "many.tsv": lambda: b"a\r" * 600_000,
    "many.yaml": lambda: b"- a\n" * 600_000,
    "many.sqlite": _database_of_calculated_cells,
    "many.parquet": _parquet_of_one_repeated_value,
    "many.json.gz": lambda: gzip.compress(b"[" + b"[]," * 600_000 + b"[]]"),
}


@pytest.mark.parametrize("name", _MANY_PARTS)
def test_a_file_of_too_many_parts_is_given_as_it_is_and_not_as_structure(
    tmp_path: Path, name: str
) -> None:
    data = _MANY_PARTS[name]()
    (tmp_path / name).write_bytes(data)
    file = InputFile.from_path(name, relative_to=tmp_path)
    assert isinstance(file.content, str | bytes)
    assert file.to_bytes() == data


def test_a_text_that_would_take_gigabytes_is_given_as_bytes(tmp_path: Path) -> None:
    data = "é".encode() * 33_000_000
    (tmp_path / "long.txt").write_bytes(data)
    file = InputFile.from_path("long.txt", relative_to=tmp_path)
    assert file.content == data
    assert file.to_bytes() == data
