"""Programs that plant something for the next program, or for the interpreter that runs it."""

from __future__ import annotations

from tests.sandbox.hostile.support import SECRET, Sandbox, reachable_python

PLANT = b"import os; os.write(1, b'planted code ran')\n"


def test_customize_files_in_the_work_folder(sandbox: Sandbox) -> None:
    files = dict.fromkeys(
        ("sitecustomize.py", "usercustomize.py", "encodings.py", "site.py", "os.py"), PLANT
    )
    outcome = sandbox.run([str(reachable_python()), "-I", "-c", "print('own')"], files=files)
    assert outcome.lines == ["own"], outcome


def test_path_files_in_the_home_folder(sandbox: Sandbox) -> None:
    # HOME is the work folder; what a program plants there must not meet the next one.
    plant = """
import site
folder = site.getusersitepackages()
os.makedirs(folder, exist_ok=True)
open(folder + "/planted.pth", "w").write("import os; os.write(1, b'planted code ran')")
open(folder + "/usercustomize.py", "w").write("import os; os.write(1, b'planted code ran')")
print("planted")
"""
    assert sandbox.python(plant).lines == ["planted"]
    outcome = sandbox.run([str(reachable_python()), "-c", "print('own')"])
    assert outcome.lines == ["own"], outcome


def test_programs_that_shadow_others(sandbox: Sandbox) -> None:
    shim = b"#!/bin/sh\necho planted code ran\n"
    first = sandbox.run(
        ["sh", "-c", "cp sh cat true /tmp 2>/dev/null; echo done"],
        files=dict.fromkeys(("sh", "cat", "true", "python3"), shim),
    )
    assert first.lines == ["done"], first
    assert sandbox.run(["sh", "-c", "echo own"]).lines == ["own"]
    assert sandbox.run(["cat"], stdin=b"own").lines == ["own"]


def test_loader_variables_reach_only_the_program(sandbox: Sandbox) -> None:
    variables = {"LD_PRELOAD": "./evil.so", "PYTHONPATH": ".", "PATH": ".:/usr/bin:/bin"}
    sandbox.run(["true"], environment=variables, files={"evil.so": b"not a library"})
    outcome = sandbox.run(["env"])
    assert sorted(line.partition("=")[0] for line in outcome.lines) == [
        "HOME",
        "LANG",
        "PATH",
        "TMPDIR",
    ]
    assert SECRET.encode() not in outcome.stdout


def test_code_in_the_environment_is_not_a_shell_line(sandbox: Sandbox) -> None:
    outcome = sandbox.run(["echo", "$(id)", "`id`", "; id", "a\nb", "*"])
    assert outcome.stdout == b"$(id) `id` ; id a\nb *\n", outcome


def test_command_that_is_not_there(sandbox: Sandbox) -> None:
    outcome = sandbox.run(["no-such-program"])
    assert outcome.exit_status == 127, outcome
    assert outcome.stderr == b"no-such-program: No such file or directory\n"


def test_loop_of_scripts(sandbox: Sandbox) -> None:
    outcome = sandbox.run(["./a"], files={"a": b"#!./b\n", "b": b"#!./a\n"})
    assert outcome.exit_status == 127, outcome
