"""Tests of programs that speak JSON lines: what they get and leave, and who may name them."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from assay.agents.connections import Settings
from assay.agents.plan import ConnectionOptions, Sampling, plan_tests
from assay.agents.sampling.conversation import Conversation, ConversationEnd
from assay.agents.testfile import read_file
from assay.errors import InputError
from tests.agents.holding import Says, held, texts
from tests.agents.running_support import write


def talk(folder: Path, program: str, *says: Says, **more: Any) -> Conversation:
    path = folder / "program.py"
    path.write_text(program)
    settings = Settings("shop", command=(sys.executable, str(path)), **more)
    return held("command", settings, *says)


def test_a_program_gets_all_of_an_interaction_and_gives_all_parts(tmp_path: Path) -> None:
    program = """
import json, sys
for line in sys.stdin:
    got = json.loads(line)
    count = (got["chat_context"] or 0) + 1
    print(json.dumps({"text": json.dumps(got), "structure": {"n": count},
                      "sly_data": {"seen": count}, "chat_context": count}), flush=True)
"""
    says = Says("one", {"x": 1}, timeout=30), Says("two", chat_filter="MAXIMAL", timeout=30)
    conversation = talk(tmp_path, program, *says, metadata={"user": "ada"})
    first, second = (json.loads(str(text)) for text in texts(conversation))
    assert first == {
        "agent": "shop", "text": "one", "sly_data": {"x": 1}, "chat_context": None,
        "chat_filter": "MINIMAL", "metadata": {"user": "ada"},
    }  # fmt: skip
    assert second["chat_context"] == 1
    assert second["sly_data"] == {"x": 1, "seen": 1}
    assert [reply.answer.structure for reply in conversation.replies] == [{"n": 1}, {"n": 2}]


def test_what_a_program_started_ends_with_it(tmp_path: Path) -> None:
    program = """
import os, subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
open("pid", "w").write(str(child.pid))
os.rename("pid", "child.pid")
time.sleep(600)
"""
    here = Path.cwd()
    os.chdir(tmp_path)
    try:
        conversation = talk(tmp_path, program, Says("one", timeout=5))
    finally:
        os.chdir(here)
    assert conversation.ending is ConversationEnd.TOO_SLOW
    child = int((tmp_path / "child.pid").read_text())
    end = time.monotonic() + 20
    while time.monotonic() < end and _is_running(child):
        time.sleep(0.05)
    assert not _is_running(child)


def _is_running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def test_what_a_program_says_beside_its_answers_does_not_stop_it(tmp_path: Path) -> None:
    program = """
import sys
for line in sys.stdin:
    sys.stderr.write("noise\\n" * 200_000)
    print('{"text": "ok"}', flush=True)
"""
    conversation = talk(tmp_path, program, Says("one", timeout=60), Says("two", timeout=60))
    assert texts(conversation) == ["ok", "ok"], conversation.reason


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ("[1]", "the agent returned a list"),
        ('{"txt": "x"}', "unknown key 'txt'"),
        ('{"structure": 5}', "int as its structure"),
        ("{}", "neither text nor structure"),
    ],
)
def test_an_answer_of_the_wrong_shape_is_no_answer(tmp_path: Path, line: str, word: str) -> None:
    conversation = talk(tmp_path, f"input(); print({line!r})", Says("one", timeout=30))
    assert conversation.ending is not ConversationEnd.COMPLETE
    assert word in str(conversation.reason)


def test_a_program_that_is_not_there_is_the_users_mistake() -> None:
    with pytest.raises(InputError, match="cannot be started: No such file"):
        held("command", Settings("a", command=("/no/such/program",)), Says("one"))


def test_a_test_file_cannot_name_a_program(tmp_path: Path) -> None:
    path = write(tmp_path, connections="command", agent="touch hacked")
    with pytest.raises(InputError, match="needs a program"):
        plan_tests([read_file(path)], ConnectionOptions(), Sampling())
    found = read_file(write(tmp_path, connections="command", command="touch hacked"))
    assert "there is no key `command`" in found.problems[0].message
    with pytest.raises(InputError, match="needs a program"):
        held("command", Settings("touch hacked"), Says("one"))


def test_a_command_with_a_credential_in_it_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOP_API_KEY", "sk-CANARY-0123456789")
    with pytest.raises(InputError) as caught:
        ConnectionOptions(command="shop --key=sk-CANARY-0123456789")
    assert "CANARY" not in str(caught.value)
    assert "SHOP_API_KEY" in str(caught.value)
    with pytest.raises(InputError, match="cannot be read"):
        ConnectionOptions(command="shop 'open")
