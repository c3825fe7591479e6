"""Programs that want more rights than they were given."""

from __future__ import annotations

from tests.sandbox.hostile.support import Sandbox


def test_no_rights_are_left(sandbox: Sandbox) -> None:
    outcome = sandbox.python("""
wanted = ("CapInh", "CapPrm", "CapEff", "CapAmb", "NoNewPrivs", "Seccomp")
for line in open("/proc/self/status"):
    name, _, value = line.partition(":")
    if name in wanted:
        print(name, int(value, 16))
""")
    assert outcome.lines == [
        "CapInh 0",
        "CapPrm 0",
        "CapEff 0",
        "CapAmb 0",
        "NoNewPrivs 1",
        "Seccomp 2",
    ]


def test_mounting(sandbox: Sandbox) -> None:
    outcome = sandbox.python("""
import platform
x86 = platform.machine() == "x86_64"
text = ctypes.c_char_p
none, mount = text(None), 165 if x86 else 40
attempt("tmpfs", lambda: call(mount, text(b"none"), text(b"."), text(b"tmpfs"), 0, none))
attempt("bind", lambda: call(mount, text(b"/"), text(b"."), none, 4096, none))
attempt("remount", lambda: call(mount, none, text(b"/usr"), none, 32 | 4096, none))
attempt("unmount", lambda: call(166 if x86 else 39, text(b"/proc"), 2))
attempt("pivot", lambda: call(155 if x86 else 41, text(b"."), text(b".")))
attempt("chroot", lambda: os.chroot("."))
attempt("open tree", lambda: call(428, -100, text(b"/"), 1))
attempt("move mount", lambda: call(429, -100, text(b"/tmp"), -100, text(b"."), 0))
attempt("fs open", lambda: call(430, text(b"tmpfs"), 0))
attempt("attributes", lambda: call(442, -100, text(b"/"), 0, none, 0))
""")
    outcome.refused()


def test_namespaces_of_its_own(sandbox: Sandbox) -> None:
    outcome = sandbox.python("""
import platform
x86 = platform.machine() == "x86_64"
for flag in (0x10000000, 0x20000, 0x40000000, 0x20000000, 0x8000000, 0x4000000, 0x2000000, 0x80):
    attempt("unshare", lambda: call(272 if x86 else 97, flag))
    attempt("clone", lambda: call(56 if x86 else 220, flag | 17, 0, 0, 0, 0))
attempt("clone3", lambda: call(435, ctypes.create_string_buffer(88), 88))
for name in os.listdir("/proc/self/ns"):
    attempt("join", lambda: call(308 if x86 else 268, os.open("/proc/self/ns/" + name, 0), 0))
""")
    outcome.refused()


def test_becoming_somebody_else(sandbox: Sandbox) -> None:
    outcome = sandbox.python("""
attempt("root", lambda: os.setuid(0))
attempt("effective", lambda: os.setresuid(0, 0, 0))
attempt("group", lambda: os.setgid(0))
attempt("groups", lambda: os.setgroups([0]))
attempt("other", lambda: os.setuid(os.getuid() + 1))
""")
    outcome.refused("EINVAL")  # which is what a user namespace says of a user it does not have


def test_set_user_id_programs_gain_nothing(sandbox: Sandbox) -> None:
    outcome = sandbox.python("""
import glob, stat, subprocess
found = [path for path in glob.glob("/usr/bin/*") + glob.glob("/usr/sbin/*")
         if os.path.isfile(path) and os.stat(path).st_mode & stat.S_ISUID]
copy = os.open("id-copy", os.O_CREAT | os.O_WRONLY, 0o6755)
with open("/usr/bin/id", "rb") as source:
    os.write(copy, source.read())
os.close(copy)
try:
    os.chmod("id-copy", 0o6755)
except PermissionError:
    pass
said = subprocess.run(["./id-copy", "-u"], capture_output=True, text=True).stdout.strip()
print(said == str(os.getuid()))
for path in found[:3]:
    child = subprocess.Popen([path], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL)
    try:
        effective = open(f"/proc/{child.pid}/status").read().split("Uid:")[1].split()[1]
    except OSError:
        effective = str(os.getuid())
    print(effective == str(os.getuid()))
    try:
        child.kill()
    except PermissionError:
        pass
""")
    assert outcome.exit_status == 0, outcome
    assert set(outcome.lines) == {"True"}, outcome


def test_calls_that_have_been_ways_out(sandbox: Sandbox) -> None:
    # The arguments are senseless on purpose: the filter must answer before the kernel looks.
    outcome = sandbox.python("""
import platform
calls = {
    "io_uring_setup": (425, 425), "io_uring_enter": (426, 426), "io_uring_register": (427, 427),
    "bpf": (321, 280), "perf_event_open": (298, 241), "userfaultfd": (323, 282),
    "kexec_load": (246, 104), "init_module": (175, 105), "finit_module": (313, 273),
    "delete_module": (176, 106), "reboot": (169, 142), "swapon": (167, 224), "acct": (163, 89),
    "quotactl": (179, 60), "syslog": (103, 116), "personality": (135, 92), "kcmp": (312, 272),
    "fanotify_init": (300, 262), "settimeofday": (164, 170), "clock_settime": (227, 112),
    "adjtimex": (159, 171), "sethostname": (170, 161), "setdomainname": (171, 162),
    "process_madvise": (440, 440), "move_pages": (279, 239),
}
place = 0 if platform.machine() == "x86_64" else 1
for name, numbers in calls.items():
    attempt(name, lambda: call(numbers[place], -1, -1, -1, -1, -1, -1))
""")
    outcome.refused()
    assert {line.split()[-1] for line in outcome.lines} == {"EPERM"}, outcome


def test_calls_nobody_has_thought_about(sandbox: Sandbox) -> None:
    outcome = sandbox.python("""
attempt("too new", lambda: call(471))
attempt("far too new", lambda: call(4000))
attempt("other convention", lambda: call(0x40000000 + 39))
""")
    assert {line.split()[-1] for line in outcome.lines} == {"ENOSYS"}, outcome


def test_terminal_injection(sandbox: Sandbox) -> None:
    outcome = sandbox.python("""
import fcntl
for request in (0x5412, 0x541C):
    for number in (0, 1, 2):
        attempt("inject", lambda: fcntl.ioctl(number, request, b"x"))
""")
    assert {line.split()[-1] for line in outcome.lines} == {"EPERM"}, outcome


def test_name_and_user_tell_nothing(sandbox: Sandbox) -> None:
    outcome = sandbox.python("print(os.uname().nodename, os.getuid() != 0)")
    name, ordinary = outcome.lines[0].split()
    assert ordinary == "True", outcome
    if sandbox.level == "namespaces":
        assert name == "assay"
