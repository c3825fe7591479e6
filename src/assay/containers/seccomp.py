"""The filter of system calls for podman: its own, without what makes namespaces and mounts.

Podman lets programs make user namespaces, and with them reach most of the kernel; docker does not.
"""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

_PROFILES = (Path("/etc/containers/seccomp.json"), Path("/usr/share/containers/seccomp.json"))
_REFUSED = frozenset(
    {
        "add_key", "chroot", "fsconfig", "fsmount", "fsopen", "fspick", "io_uring_enter",
        "io_uring_register", "io_uring_setup", "keyctl", "mount", "mount_setattr", "move_mount",
        "open_tree", "pivot_root", "process_vm_readv", "process_vm_writev", "ptrace", "request_key",
        "setns", "umount", "umount2", "unshare",
    }
)  # fmt: skip
_NEW_NAMESPACES = 0x7E020080
_EPERM, _ENOSYS = 1, 38


@functools.cache
def make_profile() -> str | None:
    """Return podman's filter without these calls; None where its file is not found."""
    for path in _PROFILES:
        try:
            return json.dumps(restrict(json.loads(path.read_text(encoding="utf-8"))))
        except (OSError, ValueError, KeyError):
            continue
    return None


def restrict(profile: dict[str, Any]) -> dict[str, Any]:
    """Return a filter that refuses to make namespaces and mounts, and is otherwise the same."""
    taken = _REFUSED | {"clone", "clone3"}
    rules = []
    for rule in profile["syscalls"]:
        names = [name for name in rule["names"] if name not in taken]
        if names:
            rules.append({**rule, "names": names})
    rules += [
        {"names": sorted(_REFUSED), "action": "SCMP_ACT_ERRNO", "errnoRet": _EPERM},
        # Its flags are in memory, where no filter sees them: libraries fall back to `clone`.
        {"names": ["clone3"], "action": "SCMP_ACT_ERRNO", "errnoRet": _ENOSYS},
        {
            "names": ["clone"],
            "action": "SCMP_ACT_ALLOW",
            "args": [
                {"index": 0, "value": _NEW_NAMESPACES, "valueTwo": 0, "op": "SCMP_CMP_MASKED_EQ"}
            ],
        },
    ]
    return {**profile, "syscalls": rules}
