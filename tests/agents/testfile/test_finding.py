"""Files, folders and globs; what is no test is passed over, what is broken is not."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from assay.agents.plan import ConnectionOptions, Sampling, plan_tests
from assay.agents.testfile import read_files
from assay.agents.testfile.lint import lint_files
from assay.errors import InputError
from tests.agents.testfile.support import PUBLIC, whole, written


def test_a_folder_gives_its_tests_and_passes_over_what_is_none(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / ".hidden").mkdir()
    for name in ("a.hocon", "deep/b.hocon", ".hocon", ".hidden/c.hocon"):
        written(tmp_path, whole(), name)
    written(tmp_path, "tools: [1]", "network.hocon")
    written(tmp_path, "{}", "other.json")
    written(tmp_path, "agent: a\ninteractions:\n- response: {text: {keywords: x}}\n", "d.yaml")
    reading = read_files([tmp_path])
    assert [file.path.name for file in reading.files] == [".hocon", "a.hocon", "d.yaml", "b.hocon"]
    assert [one.path.name for one in reading.skipped] == ["network.hocon", "other.json"]
    assert reading.problems == []


def test_a_file_that_was_named_must_be_a_test(tmp_path: Path) -> None:
    path = written(tmp_path, "agent: a, tools: [1]", "network.hocon")
    reading = read_files([path])
    assert {one.code for one in reading.problems} == {"missing-key", "unknown-key"}
    with pytest.raises(InputError, match="there is no key"):
        plan_tests(reading.found, ConnectionOptions(), Sampling())


def test_a_broken_file_of_a_folder_is_not_passed_over(tmp_path: Path) -> None:
    written(tmp_path, whole(), "a.hocon")
    written(tmp_path, "interactions: [", "b.hocon")
    reading = read_files([tmp_path])
    assert [one.place.file.name for one in reading.problems] == ["b.hocon"]
    assert len(reading.files) == 1


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("minified.json", '{"agent":"a","interactions":[{"response":{"text":{"keywords":"x"}}}]}'),
        ("last.json", '{"agent":"a", "n\\u00e9": 1, "interactions":[]}'),
        ("flow.yaml", "{agent: a, interactions: [{response: {text: {keywords: x}}}]}"),
        ("lines.YAML", "agent: a\ninteractions:\n- response: {text: {keywords: x}}\n"),
        ("tagged.yml", 'agent: a\n? "interactions"\n: [{response: {text: {keywords: x}}}]\n'),
        ("merged.yaml", "<<: {agent: a, interactions: [{response: {text: {keywords: x}}}]}"),
        ("upper.JSON", '{"interactions" : [{"response":{"text":{"keywords":"x"}}}],"agent":"a"}'),
        ("upper.HOCON", "agent: a, interactions: [{response.text.keywords: x}]"),
        ("list.json", '[{"agent":"a","interactions":[]}]'),
        ("broken.json", '{"agent":"a","interactions":[}'),
        ("two.yaml", "agent: a\n---\ninteractions: []\n"),
    ],
)
def test_no_test_of_a_folder_vanishes_however_it_is_written(
    tmp_path: Path, name: str, text: str
) -> None:
    written(tmp_path, whole(), "a.hocon")
    written(tmp_path, text, name)
    reading = read_files([tmp_path])
    found = {file.path.name for file in reading.files}
    found |= {one.place.file.name for one in reading.problems}
    assert found == {"a.hocon", name}
    assert reading.skipped == []


def test_a_test_in_another_encoding_is_a_problem_and_does_not_vanish(tmp_path: Path) -> None:
    written(tmp_path, whole(), "a.hocon")
    (tmp_path / "b.json").write_bytes('{"agent":"a","interactions":[]}'.encode("utf-16"))
    [problem] = read_files([tmp_path]).problems
    assert (problem.place.file.name, problem.message) == ("b.json", "is not UTF-8 text")


def test_everything_that_is_passed_over_is_named(tmp_path: Path) -> None:
    folder = tmp_path / "tests"
    (folder / "elsewhere").mkdir(parents=True)
    written(folder, whole(), "a.hocon")
    written(folder, "tools: [1]", "network.hocon")
    written(folder, '{"told": "of interactions"}', "data.json")
    written(folder, '["interactions"]', "list.json")
    written(folder, "// a comment that JSON does not have\n{}", "settings.JSON")
    written(folder, "test: {agent: a, interactions: []}", "nested.yml")
    written(tmp_path, whole(), "other.hocon")
    (folder / "linked").symlink_to(tmp_path)
    reading = read_files([folder])
    assert [one.path.name for one in reading.files] == ["a.hocon"]
    assert reading.problems == []
    names = ["data.json", "list.json", "nested.yml", "network.hocon", "settings.JSON"]
    none = [f"{folder / name}: has no `interactions`, skipped" for name in names]
    link = f"{folder / 'linked'}: is a link to a folder, skipped"
    assert [str(one) for one in reading.skipped] == [*none, link]
    assert json.loads(lint_files([folder]).report("json"))["skipped"] == [*none, link]


def test_what_cannot_be_read_is_a_problem_and_a_pipe_is_left_alone(tmp_path: Path) -> None:
    written(tmp_path, whole(), "a.hocon")
    (tmp_path / "gone.json").symlink_to(tmp_path / "nowhere")
    os.mkfifo(tmp_path / "pipe.json")
    [problem] = read_files([tmp_path]).problems
    assert problem.place.file.name == "gone.json"


def test_globs_and_repetitions(tmp_path: Path) -> None:
    for name in ("a.hocon", "b.hocon"):
        written(tmp_path, whole(), name)
    reading = read_files([f"{tmp_path}/*.hocon", tmp_path / "a.hocon", tmp_path])
    assert [file.path.name for file in reading.files] == ["a.hocon", "b.hocon"]


@pytest.mark.parametrize("given", ["none.hocon", "*.hocon", "."])
def test_nothing_found_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: str
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError):
        read_files([given])


def test_a_folder_without_any_test_is_an_error(tmp_path: Path) -> None:
    written(tmp_path, "tools: [1]", "network.hocon")
    with pytest.raises(InputError, match="none has `interactions`"):
        read_files([tmp_path])


def test_all_public_test_files_are_read_without_a_problem() -> None:
    if not PUBLIC.is_dir():
        pytest.skip("the public test files are not on this machine")
    reading = read_files([PUBLIC])
    assert (reading.problems, reading.skipped) == ([], [])
    names = [path for path in PUBLIC.rglob("*") if path.name.endswith(".hocon")]
    assert len(reading.files) == len(names)
    assert all(any(one.checks for one in file.interactions) for file in reading.files)
