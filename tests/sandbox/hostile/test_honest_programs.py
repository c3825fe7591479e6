"""Programs that mean no harm: what they need works at every level, under the same filters."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.sandbox.hostile.support import Sandbox, reachable_python


@pytest.fixture(scope="module")
def roomy(sandbox: Sandbox) -> Iterator[Sandbox]:
    """A sandbox of their own: without namespaces workers of other limits count as its processes."""
    with tempfile.TemporaryDirectory(prefix="assay-tests-") as folder:
        box = Sandbox(sandbox.level, sandbox.user, Path(folder))
        yield box
        box.close()


ROOMY = {"memory": 2 << 30, "processes": 128, "open_files": 512, "work_size": 256 << 20,
         "file_size": 128 << 20, "wall_time": 120.0, "cpu_time": 60}  # fmt: skip

PYTHON = {
    "asyncio": """
import asyncio
async def main():
    child = await asyncio.create_subprocess_exec(
        "cat", stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE)
    answer, _ = await child.communicate(bytes(1 << 20))
    assert len(answer) == 1 << 20 and child.returncode == 0
    loop = asyncio.get_running_loop()
    assert await loop.run_in_executor(None, lambda: 7) == 7
    async with asyncio.timeout(60) if hasattr(asyncio, "timeout") else asyncio.Lock():
        await asyncio.sleep(0.01)
asyncio.run(main())
""",
    "streams over a pair of sockets": """
import asyncio, socket
async def main():
    left, right = socket.socketpair()
    reader, writer = await asyncio.open_connection(sock=left)
    other, sender = await asyncio.open_connection(sock=right)
    sender.writelines([bytes(1 << 16)] * 64)
    assert len(await reader.readexactly(1 << 22)) == 1 << 22
    writer.close(), sender.close()
asyncio.run(main())
""",
    "subprocess": """
import subprocess
assert subprocess.run(["sh", "-c", "echo a | tr a b"], capture_output=True).stdout == b"b\\n"
assert subprocess.run(["sleep", "0"], timeout=60, close_fds=False).returncode == 0
assert subprocess.run(["sh", "-c", "exit 3"], start_new_session=True).returncode == 3
""",
    "threads": """
import concurrent.futures, queue, threading
with concurrent.futures.ThreadPoolExecutor(8) as pool:
    assert sum(pool.map(lambda x: x * x, range(1000))) == 332833500
event = threading.Event()
threading.Timer(0.01, event.set).start()
assert event.wait(60)
""",
    "processes with pipes": """
import multiprocessing
def work(pipe): pipe.send(sum(pipe.recv())); pipe.close()
context = multiprocessing.get_context("fork")
ours, theirs = context.Pipe()
process = context.Process(target=work, args=(theirs,))
process.start()
ours.send(list(range(100)))
assert ours.recv() == 4950
process.join()
assert process.exitcode == 0
area = multiprocessing.heap.Arena(1 << 16) if hasattr(multiprocessing, "heap") else None
""",
    "sqlite": """
import sqlite3
for mode in ("wal", "delete", "memory"):
    base = sqlite3.connect("file.db")
    base.execute(f"pragma journal_mode={mode}")
    base.execute("create table if not exists t (x)")
    base.executemany("insert into t values (?)", [(n,) for n in range(500)])
    base.commit()
    base.close()
assert sqlite3.connect("file.db").execute("select count(*) from t").fetchone() == (1500,)
""",
    "temporary files": """
import tempfile
for kind in (tempfile.TemporaryFile, tempfile.NamedTemporaryFile, tempfile.SpooledTemporaryFile):
    with kind() as file:
        file.write(bytes(100_000))
        file.seek(0)
        assert len(file.read()) == 100_000
with tempfile.TemporaryDirectory() as folder:
    os.makedirs(folder + "/a/b/c")
""",
    "mapped files": """
import mmap
with open("file", "w+b") as file:
    file.write(bytes(1 << 16))
    file.flush()
    with mmap.mmap(file.fileno(), 0) as area:
        area[:4] = b"abcd"
        area.flush()
    file.seek(0)
    assert file.read(4) == b"abcd"
shared = mmap.mmap(-1, 4096)
if os.fork() == 0:
    shared[:1] = b"x"
    os._exit(0)
os.wait()
assert shared[:1] == b"x"
""",
    "archives and folders": """
import shutil, tarfile, zipfile
with zipfile.ZipFile("a.zip", "w", zipfile.ZIP_DEFLATED) as archive:
    archive.writestr("inner/file", "text")
with zipfile.ZipFile("a.zip") as archive:
    archive.extractall("out")
with tarfile.open("a.tgz", "w:gz") as archive:
    archive.add("out")
shutil.copyfile("out/inner/file", "copy")
os.rename("copy", "moved"); os.link("moved", "link"); os.symlink("moved", "symlink")
assert sorted(os.listdir()) and open("symlink").read() == "text"
assert os.statvfs(".").f_bsize and os.stat("moved").st_nlink == 2
shutil.rmtree("out")
""",
    "time, signals and selectors": """
import selectors, signal, time
signal.signal(signal.SIGALRM, lambda *_: None)
signal.setitimer(signal.ITIMER_REAL, 0.01)
signal.pause()
read, write = os.pipe()
for kind in (selectors.EpollSelector, selectors.PollSelector, selectors.SelectSelector):
    with kind() as selector:
        selector.register(read, selectors.EVENT_READ)
        os.write(write, b"x")
        assert selector.select(60)
        os.read(read, 1)
time.sleep(0.001); time.thread_time(); os.getloadavg(); os.cpu_count(); os.urandom(8)
os.nice(1); os.sched_getaffinity(0); os.sched_setaffinity(0, os.sched_getaffinity(0))
""",
    "memory and files of all kinds": """
import resource
resource.setrlimit(resource.RLIMIT_NOFILE, (64, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
os.mkfifo("pipe"); os.truncate("file", 0) if os.path.exists("file") else None
file = os.open("large", os.O_CREAT | os.O_RDWR)
os.posix_fallocate(file, 0, 1 << 16); os.fsync(file); os.sendfile(1, file, 0, 0)
os.preadv(file, [bytearray(10)], 0); os.pwritev(file, [b"x"], 0)
if hasattr(os, "copy_file_range"): os.copy_file_range(file, os.open("c", 66, 0o600), 100)
import fcntl
fcntl.flock(file, fcntl.LOCK_EX); fcntl.lockf(file, fcntl.LOCK_UN)
held = [bytearray(1 << 20) for _ in range(100)]
""",
}


@pytest.mark.parametrize("name", PYTHON)
def test_what_python_programs_do(roomy: Sandbox, name: str) -> None:
    outcome = roomy.python(PYTHON[name] + "\nprint('done')\n", limits=ROOMY)
    assert outcome.stderr == b"", outcome
    assert outcome.lines[-1:] == ["done"], outcome
    assert outcome.limit is None


def test_pools_of_processes_work_where_there_is_shared_memory(roomy: Sandbox) -> None:
    outcome = roomy.python(
        """
import multiprocessing
context = multiprocessing.get_context("fork")
try:
    with context.Pool(2) as pool:
        print(sum(pool.map(abs, range(100))))
except OSError as error:
    print(type(error).__name__)
""",
        limits=ROOMY,
    )
    expected = "4950" if roomy.level == "namespaces" else "PermissionError"
    assert outcome.lines == [expected], outcome


def test_a_server_and_its_client(roomy: Sandbox) -> None:
    if roomy.level == "landlock":
        pytest.skip("a server needs a port there, which tests/sandbox/test_servers.py gives it")
    outcome = roomy.python(
        """
import http.server, threading, urllib.request
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), http.server.SimpleHTTPRequestHandler)
threading.Thread(target=server.serve_forever, daemon=True).start()
open("file", "w").write("text")
sys.stderr = open(os.devnull, "w")
print(urllib.request.urlopen(f"http://127.0.0.1:{server.server_port}/file").read())
""",
        limits=ROOMY,
    )
    assert outcome.lines == ["b'text'"], outcome


def test_numpy_computes(roomy: Sandbox) -> None:
    found = subprocess.run(
        [reachable_python(), "-I", "-c", "import numpy"], capture_output=True, check=False
    )
    if found.returncode:
        pytest.skip("no numpy for an interpreter that every user can start")
    outcome = roomy.python(
        "import numpy; x = numpy.ones((300, 300)); print(int((x @ x).sum()))", limits=ROOMY
    )
    assert outcome.lines == ["27000000"], outcome


NODE = """
const fs = require("fs"), child = require("child_process"), zlib = require("zlib");
const { Worker } = require("worker_threads");
fs.writeFileSync("file", "text");
const told = child.execFileSync("cat", ["file"]).toString();
const packed = zlib.gunzipSync(zlib.gzipSync(Buffer.alloc(100000))).length;
const worker = new Worker('require("worker_threads").parentPort.postMessage(7)', { eval: true });
worker.on("message", async (seven) => {
  const read = await fs.promises.readFile("file", "utf8");
  setTimeout(() => console.log(told, read, packed, seven, require("os").cpus().length > 0), 5);
});
"""
C = b"""
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static void *work(void *given) { *(int *)given += 1; return given; }
int main(void) {
    int number = 6;
    pthread_t thread;
    if (pthread_create(&thread, NULL, work, &number) || pthread_join(thread, NULL)) return 1;
    FILE *file = tmpfile();
    if (file) fputs("text", file);
    printf("%d\\n", number);
    return system("true");
}
"""
JAVA = b"""
import java.nio.file.*;
import java.util.stream.*;
public class Main {
    public static void main(String[] given) throws Exception {
        Path path = Files.writeString(Path.of("out"), "text");
        int sum = IntStream.range(0, 1000).parallel().sum();
        Process child = new ProcessBuilder("cat", "out").start();
        String told = new String(child.getInputStream().readAllBytes());
        System.out.println(sum + " " + told + " " + child.waitFor() + " " + Files.size(path));
    }
}
"""


def _need(*names: str) -> None:
    for name in names:
        found = shutil.which(name, path="/usr/local/bin:/usr/bin:/bin")
        if found is None or not Path(os.path.realpath(found)).is_relative_to("/usr"):
            pytest.skip(f"this machine has no {name} that every user can start")


def test_node_runs_programs_and_threads(roomy: Sandbox) -> None:
    _need("node")
    outcome = roomy.run(["node", "-e", NODE, roomy.marker], limits=ROOMY | {"memory": 8 << 30})
    assert outcome.lines == ["text text 100000 7 true"], outcome


def test_a_compiler_and_what_it_made(roomy: Sandbox) -> None:
    _need("gcc")
    command = "gcc -O1 -pthread -o program program.c && exec ./program"
    outcome = roomy.run(["sh", "-c", command], files={"program.c": C}, limits=ROOMY)
    if roomy.level == "landlock" and roomy.user == "user":
        # A linker makes its file executable with chmod, which is refused there (docs/security.md).
        assert outcome.exit_status == 126, outcome
    else:
        assert outcome.lines == ["7"], outcome
        assert outcome.exit_status == 0


def test_java_compiles_and_runs(roomy: Sandbox) -> None:
    _need("java", "javac")
    limits = ROOMY | {"memory": 6 << 30, "processes": 200}
    command = "exec java -Xmx256m -Xshare:auto Main.java"
    settings = tuple(str(path) for path in Path("/etc").glob("java*"))
    outcome = roomy.run(
        ["sh", "-c", command], files={"Main.java": JAVA}, limits=limits, readable=settings
    )
    assert outcome.lines[-1:] == ["499500 text 0 4"], outcome


def test_git_commits(roomy: Sandbox) -> None:
    _need("git")
    command = """
export GIT_CONFIG_NOSYSTEM=1
git init -q . && git config user.email a@b && git config user.name a && echo text > file &&
git add file && git commit -qm first && git log --format=%s
"""
    outcome = roomy.run(["sh", "-c", command], limits=ROOMY)
    if roomy.level == "landlock" and roomy.user == "user":
        assert b"chmod" in outcome.stderr, outcome  # as above
    else:
        assert outcome.lines == ["first"], outcome


def test_commands_of_the_shell(roomy: Sandbox) -> None:
    command = """
set -e
mkdir a; echo 3 > a/x; printf '2\\n1\\n' > a/y; cat a/x a/y | sort | head -1
tar cf all.tar a; grep -r 3 a; find . -name x; du -s . > used; ls -l > list; wc -l < a/y
timeout 5 true; nice true; nohup true 2> ignored; dd if=/dev/zero of=z bs=1024 count=4 2> ignored
date > now; id -u > own; uname > system; df . > free; ln -s a/x link; readlink link; rm -r a
"""
    outcome = roomy.run(["sh", "-c", command], limits=ROOMY)
    assert outcome.lines == ["1", "a/x:3", "./a/x", "2", "a/x"], outcome
