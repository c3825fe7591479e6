"""A bundle: bounded, complete in itself, and nothing of this machine in it."""

from __future__ import annotations

import html
import json
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import unquote

import pytest

from assay.errors import InputError
from assay.view import bundle, write_bundle
from assay.view.search_index import make_key
from tests.conftest import Command
from tests.runs.making import make_record, write_run

DAY = datetime(2026, 3, 1, 9, tzinfo=UTC)


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    folder = tmp_path / "runs"
    for number, ending in enumerate(["PPF", "PFP", "FPP"]):
        records = [
            make_record(f"case {at}", letter, reason=f"because of {at}", detail={"type": f"t{at}"})
            for at, letter in enumerate(ending)
        ]
        write_run(folder / f"run {number}", records, title="t.py", started=DAY + timedelta(number))
    return folder


def read(out: Path) -> dict[str, str]:
    return {
        str(path.relative_to(out)): path.read_text() for path in out.rglob("*") if path.is_file()
    }


def test_every_link_leads_to_a_file_of_the_bundle(runs: Path, tmp_path: Path) -> None:
    said = write_bundle(runs, tmp_path / "out")
    files = read(tmp_path / "out")
    assert str(said) == f"3 runs in {len(files)} files: {tmp_path / 'out' / 'index.html'}"
    links = 0
    for name, text in files.items():
        if not name.endswith(".html"):
            continue
        policy = "default-src 'none'; script-src 'self' file:; style-src 'self' file:"
        assert policy in html.unescape(text)
        for link in re.findall(r'(?:href|src)="([^"#]+)', text):
            target = (tmp_path / "out" / name).parent / unquote(link.partition("?")[0])
            assert target.resolve().is_file(), f"{name}: {link}"
            links += 1
    assert links > 100


def test_nothing_tells_of_this_machine(runs: Path, tmp_path: Path) -> None:
    write_bundle(runs, tmp_path / "out")
    assert not any(str(tmp_path) in text for text in read(tmp_path / "out").values())


def test_a_bundle_is_bounded_and_says_what_it_lacks(
    runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bundle, "CASES", 2)
    monkeypatch.setattr(bundle, "RUNS", 2)
    monkeypatch.setattr(bundle, "TEXT", 10)
    said = str(write_bundle(runs, tmp_path / "out"))
    assert "; 1 older run left out" in said
    files = read(tmp_path / "out")
    pages = [name for name in files if re.fullmatch(r"runs/[^/]+\.html", name)]
    assert len(pages) == 2
    for name in pages:
        assert "These pages have 2 of 3 cases" in files[name]
        assert files[name].count("data-row") == 2
        # The one that failed is there, and the first that passed.
        assert "✕" in files[name]
    assert 'data-text="case 0 bec' in "".join(files.values())
    # A case that is not in the bundle is named and no link.
    assert f"{make_key('case 2')}.html" not in {name.rpartition("/")[2] for name in files}


def test_a_bundle_is_written_again_but_not_over_other_things(runs: Path, tmp_path: Path) -> None:
    write_bundle(runs, tmp_path / "out")
    write_bundle(runs, tmp_path / "out")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/thesis.txt").touch()
    with pytest.raises(InputError, match="is not empty and holds no bundle"):
        write_bundle(runs, tmp_path / "mine")
    with pytest.raises(InputError, match="is not a folder"):
        write_bundle(runs, tmp_path / "mine/thesis.txt")


def test_the_command(runs: Path, tmp_path: Path, assay: Command) -> None:
    done = assay("view", runs / "run 1", "--bundle", tmp_path / "out", check=True)
    assert done.stdout.startswith("1 run in ")
    (runs / "broken").mkdir()
    (runs / "broken/run.json").touch()
    done = assay("view", runs, "--bundle", tmp_path / "out", "--json", check=True)
    values = json.loads(done.stdout)
    assert (values["runs"], values["left_out"], values["unreadable"]) == (3, 0, 1)
    assert Path(values["page"]).is_file()
    missing = assay("view", tmp_path / "nowhere")
    assert missing.returncode == 2
    assert "nowhere: is not a folder" in missing.stderr
