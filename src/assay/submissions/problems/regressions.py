"""Regression groups: cases of earlier checkpoints that are run again, selected by rules.

A regression group keeps everything its cases depend on: isolation, order of cases, defaults, time
limit, variables and original type.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from assay.documents import PlaceMap
from assay.errors import nearest
from assay.findings import Finding
from assay.model import GroupType
from assay.submissions.config import CheckpointConfig, GroupConfig
from assay.submissions.problems.fields import (
    NO_CASES,
    UNKNOWN_NAME,
    WRONG_VALUE,
)
from assay.submissions.problems.written import RegressionRule

Earlier = Mapping[str, CheckpointConfig]
_KEPT = ("isolated", "reuse", "case_order", "case_defaults", "group_files", "timeout", "env")


def add_regressions(
    checkpoint: CheckpointConfig,
    rules: Sequence[RegressionRule],
    earlier: Earlier,
    spots: PlaceMap,
    findings: list[Finding],
) -> None:
    """Add the groups that the rules name, and complete those written out by hand."""
    _complete_groups(checkpoint, earlier, spots, findings)
    for index, rule in enumerate(rules):
        path = f"regressions.{index}"
        unknown = list(_find_unknown(rule, earlier, path, spots))
        findings += unknown
        selected = list(_select(rule, earlier))
        if not selected and not unknown:
            what = "this rule selects no group, so nothing is run again"
            advice = "look at the types and groups of the checkpoints before this one"
            findings.append(Finding(NO_CASES, what, spots.nearest(path), advice))
        for source, group in selected:
            try:
                name = rule.name_template.format(
                    checkpoint=source.name, group=group.name, idx=index
                )
            except (KeyError, IndexError, ValueError):
                what = f"{rule.name_template!r} is not a valid template of names"
                advice = "it may contain {checkpoint}, {group} and {idx}"
                findings.append(
                    Finding(WRONG_VALUE, what, spots.nearest(f"{path}.name_template"), advice)
                )
                break
            _add(
                checkpoint, make_regression(group, source, checkpoint, name), path, spots, findings
            )


def make_regression(
    group: GroupConfig, source: CheckpointConfig, checkpoint: CheckpointConfig, name: str
) -> GroupConfig:
    """Return a group as it is run again at a later checkpoint."""
    return group.model_copy(
        update={
            "name": name,
            "type": GroupType.REGRESSION.value,
            "original_checkpoint": source.name,
            "original_group": group.name,
            "original_type": group.type,
            "timeout": group.timeout or checkpoint.timeout,
            "env": {**checkpoint.env, **group.env},
        }
    )


def _select(
    rule: RegressionRule, earlier: Earlier
) -> Iterator[tuple[CheckpointConfig, GroupConfig]]:
    kinds = rule.type_filter if isinstance(rule.type_filter, list) else [rule.type_filter]
    for name in _sources(rule, earlier):
        for group in earlier[name].groups.values():
            # What is run again already comes from its own checkpoint, not through this one.
            is_own = group.original_checkpoint is None
            is_named = not rule.groups or _names(rule.groups, name, group.name)
            is_kind = rule.type_filter is None or group.type in kinds
            if is_own and is_named and is_kind and not _names(rule.exclude, name, group.name):
                yield earlier[name], group


def _names(given: Sequence[str], checkpoint: str, group: str) -> bool:
    return bool({"*", group, f"{checkpoint}/{group}"}.intersection(given))


def _sources(rule: RegressionRule, earlier: Earlier) -> list[str]:
    if rule.checkpoints == "*":
        return list(earlier)
    named = [rule.checkpoint] if rule.checkpoint is not None else rule.checkpoints or []
    return [name for name in named if name in earlier]


def _find_unknown(
    rule: RegressionRule, earlier: Earlier, path: str, spots: PlaceMap
) -> Iterator[Finding]:
    key = "checkpoint" if rule.checkpoint is not None else "checkpoints"
    named = [rule.checkpoint] if rule.checkpoint is not None else rule.checkpoints or []
    for name in named if named != "*" else []:
        if name not in earlier:
            what = f"there is no earlier checkpoint `{name}` to run again"
            yield Finding(
                UNKNOWN_NAME, what, spots.nearest(f"{path}.{key}"), nearest(name or "", earlier)
            )
    groups = {group for source in _sources(rule, earlier) for group in earlier[source].groups}
    for key, wanted in (("groups", rule.groups), ("exclude", rule.exclude)):
        for name in wanted:
            if groups and name != "*" and name.rpartition("/")[2] not in groups:
                what = f"no checkpoint named here has a group `{name}`"
                yield Finding(
                    UNKNOWN_NAME, what, spots.nearest(f"{path}.{key}"), nearest(name, groups)
                )


def _add(
    checkpoint: CheckpointConfig,
    group: GroupConfig,
    path: str,
    spots: PlaceMap,
    findings: list[Finding],
) -> None:
    known = checkpoint.groups.get(group.name)
    if known is None:
        checkpoint.groups[group.name] = group
        return
    origin = (group.original_checkpoint, group.original_group)
    if (known.original_checkpoint, known.original_group) != origin:
        what = f"the group `{group.name}` of this checkpoint and one that is run again share a name"
        advice = "give the rule a name_template, for example {checkpoint}_{group}_again"
        findings.append(Finding(WRONG_VALUE, what, spots.nearest(path), advice))


def _complete_groups(
    checkpoint: CheckpointConfig,
    earlier: Earlier,
    spots: PlaceMap,
    findings: list[Finding],
) -> None:
    """Groups written out by hand take from their original what they do not say themselves."""
    for name, group in checkpoint.groups.items():
        if group.original_checkpoint is None:
            continue
        place = spots.nearest(f"groups.{name}.original_checkpoint")
        source = earlier.get(group.original_checkpoint)
        if source is None:
            what = f"there is no earlier checkpoint `{group.original_checkpoint}`"
            findings.append(
                Finding(UNKNOWN_NAME, what, place, nearest(group.original_checkpoint, earlier))
            )
            continue
        original = source.groups.get(group.original_group or name)
        if original is None:
            what = f"`{source.name}` has no group `{group.original_group or name}`"
            advice = nearest(group.original_group or name, source.groups)
            findings.append(Finding(UNKNOWN_NAME, what, place, advice))
            continue
        again = make_regression(original, source, checkpoint, name)
        said = {key for key in _KEPT if f"groups.{name}.{key}" in spots}
        kept = {key: getattr(again, key) for key in _KEPT if key not in said}
        kept |= {"original_group": original.name, "original_type": original.type}
        checkpoint.groups[name] = group.model_copy(update=kept)
