"""Programs whose files are traps for whoever collects them."""

from __future__ import annotations

from tests.sandbox.hostile.support import SECRET, SMALL, Sandbox


def test_links_are_not_followed(sandbox: Sandbox) -> None:
    outcome = sandbox.python(
        """
os.symlink("/etc/passwd", "out.txt")
os.symlink(sys.argv[1] + "/secret.txt", "secret.txt")
os.symlink("/", "root")
os.symlink(sys.argv[1], "home")
os.symlink("../../../../../etc", "up")
os.symlink("loop", "loop")
os.symlink("real.txt", "inner.txt")
open("real.txt", "w").write("real")
""",
        str(sandbox.home),
        collect=("**",),
    )
    assert outcome.files == {"real.txt": b"real"}, outcome
    assert set(outcome.left.values()) == {"a symbolic link"}
    assert len(outcome.left) == 7
    assert SECRET not in repr(outcome)


def test_folder_swapped_for_a_link(sandbox: Sandbox) -> None:
    outcome = sandbox.python(
        """
os.mkdir("out")
open("out/secret.txt", "w").close()
os.unlink("out/secret.txt")
os.rmdir("out")
os.symlink(sys.argv[1], "out")
""",
        str(sandbox.home),
        collect=("out/*", "out/secret.txt"),
    )
    assert outcome.files == {}, outcome


def test_hard_links_to_the_outside(sandbox: Sandbox) -> None:
    outcome = sandbox.python(
        """
for source in ("/etc/passwd", sys.argv[1] + "/module.py", sys.executable):
    attempt("link", lambda: os.link(source, "linked"))
    attempt("link a descriptor", lambda: os.link(
        f"/proc/self/fd/{os.open(source, os.O_RDONLY)}", "linked", follow_symlinks=True))
""",
        str(sandbox.target),
        collect=("linked",),
    )
    outcome.refused()
    assert outcome.files == {}


def test_hard_links_inside_come_back(sandbox: Sandbox) -> None:
    outcome = sandbox.python("open('a', 'w').write('same'); os.link('a', 'b')", collect=("*",))
    assert outcome.files == {"a": b"same", "b": b"same"}, outcome


def test_what_would_block_or_never_end(sandbox: Sandbox) -> None:
    outcome = sandbox.python(
        """
os.mkfifo("pipe.txt")
os.mkdir("folder.txt")
try:
    import socket
    socket.socket(socket.AF_UNIX).bind("socket.txt")
except OSError:
    pass
open("plain.txt", "w").write("plain")
""",
        collect=("*.txt",),
    )
    assert outcome.files == {"plain.txt": b"plain"}, outcome
    assert outcome.left.pop("pipe.txt") == "not a plain file"
    assert set(outcome.left.values()) <= {"not a plain file"}


def test_odd_names(sandbox: Sandbox) -> None:
    outcome = sandbox.python(
        """
names = [b"new\\nline", b"-rf", b"--help", b"quote\\"'", b"\\xff\\xfe", b"*", b"[x]", b" ", b"...",
         "ü€😀".encode(), b"x" * 255, b"$(touch planted)", b"\\x1b[31m", b"..x", b"a\\\\b"]
for name in names:
    with open(name, "wb") as file:
        file.write(name)
print(len(names))
""",
        collect=("*",),
    )
    assert len(outcome.files) == 15 == int(outcome.lines[0]), outcome
    for name, content in outcome.files.items():
        assert name.encode("utf-8", "surrogateescape") == content


def test_null_bytes_and_binary_come_back_unchanged(sandbox: Sandbox) -> None:
    outcome = sandbox.python(
        "open('binary', 'wb').write(bytes(range(256)) * 10); sys.stdout.buffer.write(b'\\0\\xff')",
        collect=("binary",),
    )
    assert outcome.files == {"binary": bytes(range(256)) * 10}, outcome
    assert outcome.stdout == b"\0\xff"


def test_files_it_closed_to_everybody(sandbox: Sandbox) -> None:
    outcome = sandbox.python(
        """
os.close(os.open("closed", os.O_CREAT | os.O_WRONLY, 0o600))
open("closed", "w").write("content")
os.umask(0o777)
os.mkdir("dark", 0)
try:
    os.chmod("closed", 0)
except PermissionError:
    pass
""",
        collect=("**",),
    )
    assert outcome.files == {"closed": b"content"}, outcome


def test_more_than_may_be_brought_back(sandbox: Sandbox) -> None:
    outcome = sandbox.python(
        "for name in 'abc': open(name, 'wb').write(name.encode() * 500_000)", collect=("*",)
    )
    assert sorted(outcome.files) == ["a", "b"], outcome
    assert sum(map(len, outcome.files.values())) <= SMALL["collected"]
    assert "more than may be brought back" in outcome.left["c"]


def test_only_what_was_asked_for(sandbox: Sandbox) -> None:
    outcome = sandbox.python(
        """
os.makedirs("deep/er")
for name in ("a.txt", "a.log", "deep/b.txt", "deep/er/c.txt", ".hidden.txt"):
    open(name, "w").write(name)
""",
        collect=("*.txt", "deep/**/c.*"),
    )
    assert sorted(outcome.files) == [".hidden.txt", "a.txt", "deep/er/c.txt"], outcome


def test_names_that_go_up_are_refused_on_the_way_in(sandbox: Sandbox) -> None:
    for name in ("../planted", "/planted", "a/../../planted", "", "nu\0ll"):
        outcome = sandbox.run(["true"], files={name: b""})
        assert outcome.error == "InputError", (name, outcome)


def test_null_bytes_in_arguments_are_refused(sandbox: Sandbox) -> None:
    assert sandbox.run(["echo", "a\0b"]).error == "InputError"
    assert sandbox.run(["true"], environment={"A": "b\0c"}).error == "InputError"
    assert sandbox.run(["true"], environment={"A=B": "c"}).error == "InputError"
