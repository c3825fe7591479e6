"""Command line cases: arguments, input, files, limits and isolation, at every level."""

from __future__ import annotations

import asyncio
import json
import secrets
import time
from pathlib import Path
from typing import Any

import pytest

from assay.errors import InputError
from assay.model import CaseResult
from assay.submissions.cases import CLICase, CLIResult
from assay.submissions.environments import EnvironmentFile
from tests.sandbox.hostile.support import command_lines
from tests.submissions.adapters.support import LEVELS, Bench, finish
from tests.waiting import PATIENCE

ECHO = """
import json, os, sys
said = {"arguments": sys.argv[1:], "stdin": sys.stdin.read(), "here": sorted(os.listdir())}
print(json.dumps(said))
"""


@pytest.fixture(params=LEVELS)
def level(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def case(name: str = "one", **fields: Any) -> CLICase:
    return CLICase.model_validate({"id": name, "group": "core", **fields})


def output(result: CaseResult) -> Any:
    assert result.status_code == 0, result.stderr
    return json.loads(str(result.output))


def test_arguments_and_input_arrive_as_they_are(tmp_path: Path, level: str) -> None:
    bench = Bench(tmp_path, {"main.py": ECHO})
    arguments = ["two words", "quote's", "$HOME", "*", "", "ü\n"]
    files = [{"path": "in/put.json", "content": {"a": 1}, "file_type": "json"}]
    (result,) = bench.run(case(arguments=arguments, stdin="given", input_files=files), level=level)
    assert output(result) == {
        "arguments": arguments,
        "stdin": "given",
        "here": ["in", "main.py"],
    }
    assert isinstance(result, CLIResult)
    assert result.command is not None
    assert result.command.startswith("python main.py 'two words'")
    assert (result.id, result.group, result.timed_out) == ("one", "core", False)
    assert result.elapsed > 0


def test_the_arguments_of_a_loader_are_split_again(tmp_path: Path) -> None:
    bench = Bench(tmp_path, {"main.py": ECHO})
    (bench.problem.path / "loader.py").touch()
    (result,) = bench.run(case(arguments=["--name 'two words'", "a\\ b"]))
    assert output(result)["arguments"] == ["--name", "two words", "a b"]
    with pytest.raises(InputError, match="No closing quotation"):
        bench.run(case(arguments=["it's"]))


def test_a_list_of_input_is_lines(tmp_path: Path) -> None:
    bench = Bench(tmp_path, {"main.py": ECHO})
    first, second = bench.run(case(stdin=["a", "b\n"]), case(stdin=b"\xc3\xa4"))
    assert (output(first)["stdin"], output(second)["stdin"]) == ("a\nb\n", "ä")


def test_tracked_files_of_adapter_group_and_case_come_back(tmp_path: Path, level: str) -> None:
    script = (
        "import os; os.makedirs('out/deep'); open('out/deep/a.txt', 'w').write('text')\n"
        "open('b.bin', 'wb').write(bytes([255, 0])); open('c.json', 'w').write('{\"n\": 42}')\n"
        "open('d.log', 'w').write('x'); open('e.txt', 'w').write('not asked for')"
    )
    adapter = {"type": "cli", "tracked_files": ["./out/"]}
    bench = Bench(tmp_path, {"main.py": script}, adapter=adapter)
    tracked = case(tracked_files=["*.bin", "missing.txt"])
    (result,) = bench.run(tracked, level=level, tracked_files=["c.json", "*.log"])
    assert result.files == {
        "out/deep/a.txt": "text",
        "b.bin": b"\xff\x00",
        "c.json": '{"n": 42}',
        "d.log": "x",
    }


def test_isolated_cases_see_nothing_of_each_other(tmp_path: Path, level: str) -> None:
    script = "import os; print(os.path.exists('seen')); open('seen', 'w'); os.remove('main.py')"
    results = Bench(tmp_path, {"main.py": script}).run(case(), case("two"), level=level)
    assert [result.output for result in results] == ["False\n", "False\n"]


def test_other_groups_keep_their_work_folder_until_a_reset(tmp_path: Path, level: str) -> None:
    script = "open('seen', 'a').write('x'); print(len(open('seen').read()))"
    cases = [case("a"), case("b"), case("c", reset=True), case("d")]
    results = Bench(tmp_path, {"main.py": script}).run(*cases, level=level, isolated=False)
    assert [result.output for result in results] == ["1\n", "2\n", "1\n", "2\n"]


def test_much_output_arrives_whole(tmp_path: Path, level: str) -> None:
    script = "import sys; sys.stdout.write('o' * 3_000_000); sys.stderr.write('e' * 200_000)"
    (result,) = Bench(tmp_path, {"main.py": script}).run(case(), level=level)
    assert (result.output, result.stderr) == ("o" * 3_000_000, "e" * 200_000)
    assert not hasattr(result, "cut")


def test_more_output_than_is_kept_says_so(tmp_path: Path) -> None:
    script = "import sys; sys.stdout.write('o' * 20_000_000)"
    (result,) = Bench(tmp_path, {"main.py": script}).run(case())
    assert result.status_code == 0
    assert result.cut == {"stdout": 20_000_000 - 16 * 1024 * 1024}  # type: ignore[attr-defined]
    assert "bytes cut" in str(result.output)


def test_a_grandchild_does_not_outlive_a_time_out(tmp_path: Path, level: str) -> None:
    mark = f"600.{secrets.randbelow(10**12):012}"
    script = (
        "import subprocess, sys, time\n"
        f"subprocess.Popen(['sh', '-c', 'setsid sleep {mark} & sleep {mark}'],"
        " stdout=subprocess.DEVNULL)\n"
        "print('partial', flush=True); time.sleep(600)"
    )
    started = time.monotonic()
    (result,) = Bench(tmp_path, {"main.py": script}).run(case(timeout_s=3.0), level=level)
    assert (result.status_code, result.timed_out, result.output) == (-1, True, "partial\n")
    assert time.monotonic() - started < PATIENCE
    assert not command_lines(mark)


def test_a_crash_is_a_result_and_a_missing_command_a_mistake_in_the_environment(
    tmp_path: Path, level: str
) -> None:
    bench = Bench(tmp_path, {"main.py": "import os, sys; sys.exit('no'); "})
    (result,) = bench.run(case(), level=level)
    assert (result.status_code, result.stderr, result.timed_out) == (1, "no\n", False)
    environment = EnvironmentFile.model_validate({"commands": {"command": "not-there"}})
    with pytest.raises(InputError, match="'not-there' of the environment"):
        bench.run(case(), environment=environment, level=level)


def test_a_thousand_files_go_in_and_come_back(tmp_path: Path, level: str) -> None:
    script = (
        "import os\nfor name in os.listdir('in'):\n"
        "    open(f'out/{name}', 'w').write(open(f'in/{name}').read().upper())"
    )
    bench = Bench(tmp_path, {"main.py": script, "out/.keep": ""})
    files = [{"path": f"in/{n}.txt", "content": f"file {n}"} for n in range(1000)]
    (result,) = bench.run(case(input_files=files, tracked_files=["out/*.txt"]), level=level)
    assert result.files == {f"out/{n}.txt": f"FILE {n}" for n in range(1000)}


def test_isolated_cases_run_side_by_side(tmp_path: Path) -> None:
    bench = Bench(tmp_path, {"main.py": "import sys, time; time.sleep(2); print(sys.argv[1])"})

    async def work() -> tuple[float, list[CaseResult]]:
        async with bench.runner() as runner:
            await runner.run(case(arguments=["first"]))
            started = time.monotonic()
            cases = [case(str(n), arguments=[str(n)]) for n in range(4)]
            results = await asyncio.gather(*(runner.run(one) for one in cases))
            return time.monotonic() - started, results

    elapsed, results = finish(work())
    assert [result.output for result in results] == [f"{n}\n" for n in range(4)]
    assert elapsed < 4 * 2


def test_the_nearest_limit_wins(tmp_path: Path) -> None:
    bench = Bench(tmp_path, {"main.py": "import time; time.sleep(1)"})
    (slow,) = bench.run(case(), timeout=0.2)
    (enough,) = bench.run(case(timeout_s=20), timeout=0.2)
    assert (slow.timed_out, enough.timed_out) == (True, False)


def test_static_assets_are_seen_under_the_name_given(tmp_path: Path, level: str) -> None:
    script = (
        "import json, sys; path = sys.argv[1]; print(open(path + '/words.txt').read(), end='')\n"
        "print(json.load(open('map.json')) == {path: [path]})\n"
        "try:\n    open(path + '/new', 'w')\nexcept OSError: print('read-only')"
    )
    bench = Bench(
        tmp_path, {"main.py": script}, static_assets={"lists": {"path": "data", "save_path": "d"}}
    )
    (bench.problem.path / "data").mkdir()
    (bench.problem.path / "data" / "words.txt").write_text("word\n")
    name = "{{static:lists}}"
    files = [{"path": "map.json", "content": {name: [name]}, "file_type": "json"}]
    (result,) = bench.run(case(arguments=[name], input_files=files), level=level)
    expected = "word\nTrue\n" + ("" if level == "none" else "read-only\n")
    assert (result.output, result.stderr) == (expected, "")
    with pytest.raises(InputError, match="no static asset 'list'"):
        bench.run(case(arguments=["{{static:list}}"]))


TRAPS = """
import os
open('large.bin', 'wb').truncate(70 << 20)
os.symlink('/etc/passwd', 'link.json')
os.mkdir('folder.json'); os.mkdir('full'); open('full/x', 'w').close()
os.mkfifo('pipe.json')
open('.hidden', 'w').close(); open('a[1].txt', 'w').close()
for number in range(10_050): open(f'many{number}.txt', 'w').close()
"""


def test_what_is_there_and_cannot_be_brought_back_is_named(tmp_path: Path, level: str) -> None:
    names = ["large.bin", "link.json", "folder.json", "pipe.json", "full", "missing", "link.json/x"]
    plain = [".hidden", "a[[]1].txt"]
    (result,) = Bench(tmp_path, {"main.py": TRAPS}).run(
        case(tracked_files=["*.txt", *names, *plain]), level=level
    )
    assert result.status_code == 0, result.stderr
    left = dict(result.left)  # type: ignore[attr-defined]
    assert left.pop("...") == "more than 10000 files"
    assert left.pop("large.bin").endswith("more than may be brought back")
    assert left == {
        "link.json": "a symbolic link",
        "folder.json": "a folder",
        "pipe.json": "not a plain file",
    }
    assert {".hidden", "a[1].txt", "full/x"} <= set(result.files)
    assert "missing" not in result.files
