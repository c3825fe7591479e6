"""config.yaml: everything merged, both styles of checkpoints, every mistake with its line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from assay.errors import InputError
from assay.submissions.config import ApiAdapter, ProblemConfig
from assay.submissions.problems import examine_problem, find_problem, read_problem
from tests.submissions.support import write_files

SMALL = """
entry_file: main
checkpoints:
  one:
    groups: {core: {type: Core}}
"""


@pytest.fixture
def small(tmp_path: Path) -> Path:
    return write_files(tmp_path / "small", {"config.yaml": SMALL, "one/spec.md": ""})


M = "entry_file: m\n"
GROUPS = M + "checkpoints:\n  one:\n    groups:\n    - a\n"


def complaint(folder: Path, text: str, **files: str) -> str:
    write_files(folder, {"config.yaml": text, "one/spec.md": "", **files})
    with pytest.raises(InputError) as caught:
        read_problem(folder)
    return str(caught.value).replace(str(folder), "…")


def test_the_least_a_problem_says(small: Path) -> None:
    found = read_problem(small)
    assert (found.name, found.entry_file, found.adapter.type) == ("small", "main", "cli")
    assert found.checkpoints["one"].path == (small / "one").resolve()
    assert found.checkpoints["one"].groups["core"].type == "Core"
    assert not found.is_programmed


def test_the_nearest_limit_and_variable_win(tmp_path: Path) -> None:
    text = """
    name: limits
    entry_file: main
    env: {A: problem, B: problem, PORT: 0080, FLAG: yes}
    timeout: 30
    adapter: {type: api, port: 9000, tracked_files: ["*.log"]}
    checkpoints:
      one:
        groups:
          plain:
          own: {timeout: 2, env: {B: group}}
      two:
        timeout: 5
        env: {A: checkpoint}
        groups: [third]
    """
    found = read_problem(write_files(tmp_path, {"config.yaml": text, "one/x": "", "two/x": ""}))
    one, two = found.checkpoints.values()
    assert isinstance(found.adapter, ApiAdapter)
    assert (one.timeout, one.groups["plain"].timeout, one.groups["own"].timeout) == (30, 30, 2)
    assert one.groups["own"].env == {"A": "problem", "B": "group", "PORT": "0080", "FLAG": "yes"}
    assert (two.timeout, two.groups["third"].timeout) == (5, 5)
    assert two.groups["third"].env["A"] == two.env["A"] == "checkpoint"
    assert (one.order, two.order) == (1, 2)


def test_checkpoints_of_a_list_have_a_config_each(tmp_path: Path) -> None:
    files = {
        "config.yaml": "entry_file: m\nversion: 1.10\ncheckpoints: [late, early]\n",
        "late/config.yaml": "order: 2\ngroups: {b: {}}\ntimeout: 3\n",
        "early/config.yaml": "order: 1\nversion: 4\ngroups: {a: {type: Error}}\n",
    }
    found = read_problem(write_files(tmp_path, files))
    assert list(found.checkpoints) == ["early", "late"]
    assert found.version == "1.10"
    assert found.checkpoints["early"].version == 4
    assert found.checkpoints["late"].groups["b"].timeout == 3


RULES = """
entry_file: main
checkpoints:
  one:
    timeout: 90
    env: {MODE: old}
    groups:
      core: {type: Core, isolated: false, case_order: [b, a], case_defaults: {timeout: 1}}
      errors: {type: Error, timeout: 4}
  two:
    timeout: 7
    env: {MODE: new, EXTRA: x}
    groups: {more: {}}
    regressions: RULE
  three:
    groups: {last: {}}
    regressions: "*"
"""


def with_rule(folder: Path, rule: str) -> ProblemConfig:
    files = dict.fromkeys(("one/x", "two/x", "three/x"), "")
    return read_problem(write_files(folder, {"config.yaml": RULES.replace("RULE", rule), **files}))


def test_everything_is_run_again_as_it_was(tmp_path: Path) -> None:
    found = with_rule(tmp_path, '"*"')
    two, three = found.checkpoints["two"], found.checkpoints["three"]
    assert list(two.groups) == ["more", "one_core", "one_errors"]
    core, errors = two.groups["one_core"], two.groups["one_errors"]
    assert (core.type, core.original_type) == ("Regression", "Core")
    assert (core.original_checkpoint, core.original_group) == ("one", "core")
    assert (core.isolated, core.case_order, core.case_defaults) == (
        False,
        ["b", "a"],
        {"timeout": 1},
    )
    assert (core.timeout, errors.timeout) == (90, 4)
    assert core.env == {"MODE": "old", "EXTRA": "x"}
    assert errors.original_type == "Error"
    # Not through the second: each group comes from where it was new.
    assert list(three.groups) == ["last", "one_core", "one_errors", "two_more"]


@pytest.mark.parametrize(
    ("rule", "names"),
    [
        ("{checkpoint: one, groups: [core]}", ["one_core"]),
        ("{checkpoint: one, type_filter: Error}", ["one_errors"]),
        ("{checkpoints: [one], type_filter: [Core, Error]}", ["one_core", "one_errors"]),
        ('{checkpoints: "*", exclude: [core]}', ["one_errors"]),
        ('{checkpoints: "*", exclude: [one/errors]}', ["one_core"]),
        (
            '[{checkpoint: one, name_template: "r{idx}-{group}-{checkpoint}", groups: [core]}]',
            ["r0-core-one"],
        ),
        ("[{checkpoint: one, groups: [core]}, {checkpoint: one}]", ["one_core", "one_errors"]),
        ("[one]", ["one_core", "one_errors"]),
        ("[]", []),
    ],
)
def test_rules_choose_and_name_groups(tmp_path: Path, rule: str, names: list[str]) -> None:
    assert list(with_rule(tmp_path, rule).checkpoints["two"].groups)[1:] == names


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ("{checkpoint: three}", "no earlier checkpoint `three`"),
        ("{checkpoint: on}", "did you mean 'one'?"),
        ("{checkpoint: one, groups: [cor]}", "did you mean 'core'?"),
        ("{groups: [core]}", "give either `checkpoint` or `checkpoints`"),
        ('{checkpoint: one, name_template: "{what}"}', "{checkpoint}, {group} and {idx}"),
        ('{checkpoint: one, name_template: "same"}', "share a name"),
        ("{checkpoint: one, type_filter: Cor}", "did you mean 'Core'?"),
        ("{checkpoint: one, type_filter: Regression}", "selects no group, so nothing is run again"),
        ('{checkpoints: "*", exclude: ["*"]}', "selects no group, so nothing is run again"),
    ],
)
def test_wrong_rules_are_told_with_their_line(tmp_path: Path, rule: str, said: str) -> None:
    with pytest.raises(InputError) as caught:
        with_rule(tmp_path, rule)
    assert said in str(caught.value)
    assert caught.value.where == f"{tmp_path / 'config.yaml'}:13"


def test_a_regression_written_by_hand_takes_the_rest_from_its_original(tmp_path: Path) -> None:
    text = """
    entry_file: main
    checkpoints:
      one: {groups: {core: {type: Core, isolated: false, timeout: 3}}}
      two:
        groups:
          again: {type: Regression, original_checkpoint: one, original_group: core, timeout: 8}
    """
    found = read_problem(write_files(tmp_path, {"config.yaml": text, "one/x": "", "two/x": ""}))
    again = found.checkpoints["two"].groups["again"]
    assert (again.isolated, again.timeout, again.original_type) == (False, 8, "Core")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (M + "chekpoints: {one: }\n", "config.yaml:2: there is no key `chekpoints`"),
        ("checkpoints:\n  one: {}\n", "config.yaml:1: `entry_file` is missing"),
        (M + "checkpoints:\n  one: {groups: {a: {typ: Core}}}\n", "did you mean 'type'?"),
        (M + "checkpoints:\n  one:\n    timeout: -1\n", "config.yaml:4: `timeout`"),
        (M + "checkpoints:\n  one:\n    timeout: soon\n", "`timeout` must be a number"),
        (M + "adapter: {type: cly}\ncheckpoints: {one: {}}\n", "did you mean 'cli'?"),
        (M + "adapter:\n  type: api\n  prt: 3\ncheckpoints: {one: {}}\n", "config.yaml:4"),
        (M + "checkpoints: []\n", "config.yaml:2: `checkpoints` must be"),
        (M + "checkpoints: [two]\n", "neither keys here nor a config.yaml"),
        (M + "checkpoints:\n  two: {}\n", "config.yaml:3: there is no folder"),
        (M + "static_assets:\n  d: x\ncheckpoints: {one: {}}\n", "config.yaml:3: the static"),
        (M + "entry_file: n\ncheckpoints: {one: {}}\n", "config.yaml:2: the key `entry_file`"),
        (M + "checkpoints:\n  one:\n    groups: {}\n", "config.yaml:4: the checkpoint `one` has"),
        (M + "checkpoints:\n  one:\n    groups: []\n", "config.yaml:4: the checkpoint `one` has"),
        (M + "checkpoints:\n  one:\n    timeout: 1\n", "config.yaml:4: the checkpoint `one` has"),
        (GROUPS + "    - {type: Error}\n", "config.yaml:6: this is neither a name nor a mapping"),
        (GROUPS + "    - [errors]\n", "config.yaml:6: this is neither a name nor a mapping"),
        (GROUPS + "    -\n", "config.yaml:6: this is neither a name nor a mapping"),
        (GROUPS + "    - ''\n", "config.yaml:6: this is neither a name nor a mapping"),
        (GROUPS + "    - {name: a, type: Error}\n", "config.yaml:6: `a` is named already, in li"),
        (M + "checkpoints:\n- one\n- one\n", "config.yaml:4: `one` is named already, in line 3"),
        ("- a\n", "config.yaml:1: must be a mapping"),
        ("a: [\n", "is not valid YAML"),
    ],
)  # fmt: skip
def test_mistakes_are_told_with_file_line_and_the_nearest_key(
    tmp_path: Path, text: str, said: str
) -> None:
    assert said in complaint(tmp_path, text)


def test_folders_with_code_of_their_own_may_have_any_keys(tmp_path: Path) -> None:
    text = """
    name: theirs
    entry_file: main
    loader: {type: legacy}
    checkpoints:
      one: {groups: {a: {weird: 1}}, tolerance: 0.5}
    """
    folder = write_files(tmp_path, {"config.yaml": text, "loader.py": "", "elsewhere/x": ""})
    found = read_problem(folder)
    assert found.is_programmed
    assert found.get("loader") == {"type": "legacy"}
    assert found.checkpoints["one"].get("tolerance") == 0.5
    assert found.checkpoints["one"].groups["a"].get("weird") == 1


def test_all_mistakes_are_found_at_once(tmp_path: Path) -> None:
    text = "entry_file: m\nfoo: 1\ncheckpoints:\n  one: {bar: 2, timeout: x}\n"
    _, findings = examine_problem(write_files(tmp_path, {"config.yaml": text, "one/x": ""}))
    assert [(finding.code, finding.place.line) for finding in findings] == [
        ("unknown-key", 2), ("unknown-key", 4), ("wrong-value", 4),
    ]  # fmt: skip
    with pytest.raises(InputError, match="and 2 more"):
        read_problem(tmp_path)


def test_a_problem_is_found_by_folder_or_name(small: Path, monkeypatch: Any) -> None:
    assert find_problem(small) == small
    assert find_problem("small", small.parent) == small
    with pytest.raises(InputError, match="did you mean 'small'"):
        find_problem("smal", small.parent)
    with pytest.raises(InputError, match=r"has no config\.yaml"):
        find_problem(small / "one")
