"""Small files that come to much are refused with little memory and in little time."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.waiting import PATIENCE

_BASE = 'agent: a\nconnections: http\ninteractions: [{text: "x", response.text.keywords: "y"}]\n'
_MEMORY = 500
_SECONDS = PATIENCE
_READ = """
import json, re, resource, sys
from pathlib import Path
from assay.agents.testfile.reading import read_file
resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
found = read_file(Path(sys.argv[1]))
text = found.file.interactions[0].text if found.file else None
status = Path("/proc/self/status").read_text()
print(json.dumps({
    "problems": [one.message for one in found.problems][:1],
    "length": len(text or ""),
    # Not ru_maxrss: that begins with the size of the process that started this one.
    "megabytes": int(re.search("VmHWM: *([0-9]+)", status.expandtabs())[1]) // 1024,
}))
"""


def _read(path: Path) -> tuple[list[str], int]:
    done = subprocess.run(
        [sys.executable, "-c", _READ, str(path)],
        capture_output=True,
        text=True,
        timeout=_SECONDS,
        check=True,
    )
    said = json.loads(done.stdout)
    assert said["megabytes"] < _MEMORY
    return said["problems"], said["length"]


def _doubling(first: str, pattern: str, times: int) -> str:
    lines = [pattern.format(new=f"a{n + 1}", old=f"${{a{n}}}") for n in range(times)]
    return "\n".join([_BASE, f"a0: {first}", *lines])


_GROWING = {
    "texts": _doubling('"xxxxxxxxxx"', "{new}: {old}{old}", 40),
    "lists": _doubling("[1, 2]", "{new}: {old} {old}", 40),
    "objects": _doubling("{b: 1}", "{new}: {{x: {old}, y: {old}}}", 40),
    "itself": _BASE + 'p: "xxxxxxxxxx"\n' + "p: ${p}${p}\n" * 40,
    "its own member": _BASE
    + 'p {a0: "xxxxxxxxxx"\n'
    + "".join(f"a{n + 1}: ${{p.a{n}}}${{p.a{n}}}\n" for n in range(40))
    + "}",
}


@pytest.mark.parametrize("what", ["texts", "lists", "its own member"])
def test_substitutions_that_double_are_refused(tmp_path: Path, what: str) -> None:
    test = tmp_path / "test.hocon"
    test.write_text(_GROWING[what])
    (problem,), _ = _read(test)
    assert "come to more than 16,000,000 characters" in problem


@pytest.mark.parametrize("what", ["objects", "itself"])
def test_substitutions_that_take_too_long_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    from assay.agents.testfile.reading import read_file
    from assay.documents import hocon_limits as expansion

    monkeypatch.setattr(expansion, "_SECONDS", 1)
    test = tmp_path / "test.hocon"
    test.write_text(_GROWING[what])
    (problem, *_) = read_file(test).problems
    assert "or take too long" in problem.message


def test_a_long_text_that_is_substituted_often_is_refused(tmp_path: Path) -> None:
    test = tmp_path / "test.hocon"
    test.write_text(f'{_BASE}long: "{"x" * 1_000_000}"\nmany: [{"${long}, " * 100}]\n')
    (problem,), _ = _read(test)
    assert problem == "it comes to more than 16,000,000 characters"


@pytest.mark.parametrize("quotes", ['"', '"""'])
def test_a_text_of_a_million_characters_is_read_in_linear_time(tmp_path: Path, quotes: str) -> None:
    test = tmp_path / "test.hocon"
    text = quotes + "x" * 1_000_000 + quotes
    test.write_text(_BASE.replace('"x"', text))
    assert _read(test) == ([], 1_000_000)


def test_a_long_text_keeps_its_escapes_and_joins_others(tmp_path: Path) -> None:
    from assay.agents.testfile.reading import read_file

    test = tmp_path / "test.hocon"
    escaped = r"\n\"\u00e4\ud83d\ude00" + "x" * 5_000
    test.write_text(
        _BASE.replace('"x"', f'"before "${{it}}" after"\nit: "{escaped}"'.split("\n")[0])
        + f'it: "{escaped}"\n'
    )
    file = read_file(test).file
    assert file is not None
    text = file.interactions[0].text
    assert text == 'before \n"ä😀' + "x" * 5_000 + " after"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('m: "' + "a" * 1_000_000, "unterminated string"),
        (" " * 900_000, "more than 100,000 blanks in a row"),
        ("m: [" + "1," * 600_000 + "]", "is larger than 1,000,000 characters"),
        ("m: " + "[" * 100_000, "nested too deeply"),
    ],
)
def test_a_text_that_the_parser_is_slow_with_is_refused(
    tmp_path: Path, text: str, told: str
) -> None:
    test = tmp_path / "test.hocon"
    test.write_text(_BASE + text)
    (problem,), _ = _read(test)
    assert told in problem


def test_includes_that_double_are_refused(tmp_path: Path) -> None:
    for number in range(20):
        include = f'include "f{number + 1}.conf"\n'
        (tmp_path / f"f{number}.conf").write_text(f"a {{ {include} }}\nb {{ {include} }}\n")
    (tmp_path / "f20.conf").write_text("x: 1\n")
    test = tmp_path / "test.hocon"
    test.write_text(_BASE + 'include "f0.conf"\n')
    (problem,), _ = _read(test)
    assert problem == "includes more than 100 files"


@pytest.mark.parametrize("name", ["test.json", "test.yaml"])
def test_a_document_of_millions_of_parts_is_refused(tmp_path: Path, name: str) -> None:
    test = tmp_path / name
    test.write_text('{"interactions": [' + "[]," * 5_000_000 + "[]]}")
    (problem,), _ = _read(test)
    assert "parts" in problem


def test_a_thousand_unknown_keys_are_refused_without_advice_for_each(tmp_path: Path) -> None:
    test = tmp_path / "test.hocon"
    test.write_text(_BASE + "".join(f"key{number}: 1\n" for number in range(20_000)))
    (problem,), _ = _read(test)
    assert "there is no key" in problem
