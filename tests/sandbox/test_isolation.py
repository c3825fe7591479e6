"""Which level is chosen, and what is said when there is none."""

from __future__ import annotations

import pytest

from assay.errors import InfrastructureError, InputError
from assay.sandbox import isolation
from assay.sandbox.isolation import Layer, available_levels, choose, layers, probe

REFUSED = (False, "unshare: Operation not permitted")
NOTHING = {
    "user namespaces": REFUSED,
    "Landlock": (False, "this kernel has no Landlock, or it is switched off"),
    "seccomp": (True, "158 instructions"),
    "control groups": (False, "no control group for memory can be made here"),
    "level namespaces": REFUSED,
    "level landlock": (False, "no Landlock"),
}


def test_the_probe_says_something_about_every_layer() -> None:
    found = probe()
    assert {layer.name for layer in found} >= {"kernel", *NOTHING}
    assert all(layer.seen for layer in found)
    assert all(layer.available or layer.advice for layer in found)


@pytest.mark.parametrize(
    ("settings", "line"),
    [
        (
            {"kernel.apparmor_restrict_unprivileged_userns": "1"},
            "sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0",
        ),
        (
            {"kernel.unprivileged_userns_clone": "0"},
            "sudo sysctl -w kernel.unprivileged_userns_clone=1",
        ),
        ({"user.max_user_namespaces": "0"}, "sudo sysctl -w user.max_user_namespaces=15000"),
        ({"container": "yes"}, "docker run --security-opt seccomp=unconfined"),
        ({"user.max_user_namespaces": "9"}, "run as root"),
    ],
)
def test_the_advice_is_the_line_that_unlocks(settings: dict[str, str], line: str) -> None:
    found = {layer.name: layer for layer in layers(NOTHING, settings)}
    assert line in str(found["level namespaces"].advice)
    assert found["seccomp"].advice is None


def test_the_stronger_level_comes_first() -> None:
    both = layers({**NOTHING, "level namespaces": (True, ""), "level landlock": (True, "")}, {})
    assert available_levels(both) == ["namespaces", "landlock"]
    assert available_levels(layers(NOTHING, {})) == []


def _machine(monkeypatch: pytest.MonkeyPatch, facts: dict[str, tuple[bool, str]]) -> None:
    found: tuple[Layer, ...] = layers(facts, {"user.max_user_namespaces": "0"})
    monkeypatch.setattr(isolation, "probe", lambda: found)


def test_auto_falls_back_but_a_named_level_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    _machine(monkeypatch, {**NOTHING, "level landlock": (True, "")})
    assert choose("auto") == "landlock"
    assert choose("landlock") == "landlock"
    with pytest.raises(InfrastructureError, match="cannot give the isolation level namespaces"):
        choose("namespaces")


def test_without_any_level_the_error_says_what_would_help(monkeypatch: pytest.MonkeyPatch) -> None:
    _machine(monkeypatch, NOTHING)
    with pytest.raises(InfrastructureError) as caught:
        choose("auto")
    text = str(caught.value)
    assert "nothing on this machine can isolate programs" in text
    assert "unshare: Operation not permitted" in text
    assert "sudo sysctl -w user.max_user_namespaces=15000" in text
    assert "lsm=" in text
    assert "--isolation none" in text


def test_none_must_be_asked_for() -> None:
    assert choose("none") == "none"


def test_unknown_level() -> None:
    with pytest.raises(InputError, match="did you mean 'namespaces'"):
        choose("namespace")
