"""The keys of `config.yaml` as authors write them, including short forms."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from assay.documents import ListNode, MappingNode, Node, Pair, ScalarNode, is_nothing
from assay.model import GroupType
from assay.submissions.config import Adapter, CliAdapter, StaticAsset

_FUNCTIONALITY: Any = GroupType.FUNCTIONALITY.value


class _Written(BaseModel):
    # Keys of others are kept: existing problems have their own, and their code may ask for them.
    model_config = ConfigDict(extra="allow", use_enum_values=True)


class RegressionRule(_Written):
    """Which groups of earlier checkpoints are run again, and under which names."""

    checkpoint: str | None = None
    checkpoints: list[str] | Literal["*"] | None = None
    groups: list[str] = Field(default_factory=list)
    type_filter: GroupType | list[GroupType] | None = None
    exclude: list[str] = Field(default_factory=list)
    name_template: str = "{checkpoint}_{group}"

    @model_validator(mode="after")
    def _names_checkpoints_once(self) -> RegressionRule:
        if (self.checkpoint is None) == (self.checkpoints is None):
            raise ValueError('give either `checkpoint` or `checkpoints` (a list, or "*" for all)')
        return self


class WrittenGroup(_Written):
    """A group of cases."""

    name: str | None = None
    type: GroupType = _FUNCTIONALITY
    group_files: list[str] = Field(default_factory=list)
    original_checkpoint: str | None = None
    original_group: str | None = None
    case_order: list[str] = Field(default_factory=list)
    timeout: float | None = Field(default=None, gt=0)
    case_defaults: dict[str, Any] = Field(default_factory=dict)
    isolated: bool = True
    reuse: bool = True
    env: dict[str, str] = Field(default_factory=dict)


class WrittenCheckpoint(_Written):
    """A stage of a problem: under its name in the problem's config, or in a config of its own."""

    name: str | None = None
    version: int | str = 1
    order: int | None = None
    path: str | None = None
    groups: dict[str, WrittenGroup] = Field(default_factory=dict)
    constant_files: list[str] = Field(default_factory=list)
    specification: str = "spec.md"
    state: str | None = None
    regressions: list[RegressionRule] = Field(default_factory=list)
    env: dict[str, str] = Field(default_factory=dict)
    timeout: float | None = Field(default=None, gt=0)


class WrittenProblem(_Written):
    """The config of a problem, but for its checkpoints, which are read one by one."""

    name: str | None = None
    version: int | str = 1
    description: str = ""
    tags: list[str] = Field(default_factory=list)
    entry_file: str = Field(min_length=1)
    adapter: Adapter = Field(default_factory=CliAdapter)
    checkpoints: Any
    author: str | None = None
    category: str | None = None
    difficulty: str | None = None
    static_assets: dict[str, StaticAsset] = Field(default_factory=dict)
    environments: list[str] = Field(default_factory=list)
    loader_script: str = "loader.py"
    loader_entrypoint: str = "Loader"
    env: dict[str, str] = Field(default_factory=dict)
    timeout: float | None = Field(default=None, gt=0)


def replace_key(node: MappingNode, key: str, value: Node) -> MappingNode:
    """Return the mapping with another value under a key."""
    pairs = tuple(Pair(key, pair.line, value) if pair.key == key else pair for pair in node.pairs)
    return replace(node, pairs=pairs)


def expand_problem(node: MappingNode) -> MappingNode:
    """`adapter: cli` is a type, `static_assets: {data: files/data}` are paths."""
    adapter, assets = node.get("adapter"), node.get("static_assets")
    if isinstance(adapter, ScalarNode) and adapter.text is not None:
        node = replace_key(node, "adapter", _wrap(adapter, "type"))
    elif isinstance(adapter, MappingNode) and adapter.get("type") is None:
        kind = Pair("type", adapter.line, ScalarNode(adapter.line, "cli"))
        node = replace_key(node, "adapter", replace(adapter, pairs=(kind, *adapter.pairs)))
    if isinstance(assets, MappingNode):
        long = (replace(pair, value=_wrap(pair.value, "path")) for pair in assets.pairs)
        node = replace_key(node, "static_assets", replace(assets, pairs=tuple(long)))
    return node


def expand_checkpoint(node: Node) -> Node:
    """Groups may be a list of names; regressions one rule, or the names of checkpoints."""
    if is_nothing(node):
        return MappingNode(node.line, ())
    if not isinstance(node, MappingNode):
        return node
    groups, rules = node.get("groups"), node.get("regressions")
    if groups is not None:
        node = replace_key(node, "groups", name_items(groups))
    if rules is not None:
        node = replace_key(node, "regressions", _expand_rules(rules))
    return node


def name_items(node: Node) -> Node:
    """Return a list of names, or of mappings with a name, as a mapping; of nothing an empty one."""
    if isinstance(node, ListNode):
        pairs = [_find_name(item) for item in node.items]
        return MappingNode(node.line, tuple(pair for pair in pairs if pair is not None))
    if isinstance(node, MappingNode):
        filled = (
            replace(pair, value=MappingNode(pair.line, ())) if is_nothing(pair.value) else pair
            for pair in node.pairs
        )
        return replace(node, pairs=tuple(filled))
    return MappingNode(node.line, ()) if is_nothing(node) else node


def find_misnamed(node: Node) -> Iterator[tuple[int, str]]:
    """Yield line and complaint for items of such a list without a name, or with one used before."""
    known: dict[str, int] = {}
    for item in node.items if isinstance(node, ListNode) else ():
        pair = _find_name(item)
        if pair is None:
            yield item.line, "this is neither a name nor a mapping with a `name`"
        elif pair.key in known:
            yield item.line, f"`{pair.key}` is named already, in line {known[pair.key]}"
        else:
            known[pair.key] = item.line


def _find_name(item: Node) -> Pair | None:
    name = item.get("name") if isinstance(item, MappingNode) else item
    if not isinstance(name, ScalarNode) or not name.text:
        return None
    value = item if isinstance(item, MappingNode) else MappingNode(item.line, ())
    return Pair(name.text, item.line, value)


def _expand_rules(node: Node) -> Node:
    if is_nothing(node):
        return ListNode(node.line, ())
    items = node.items if isinstance(node, ListNode) else (node,)
    return ListNode(node.line, tuple(_expand_rule(item) for item in items))


def _expand_rule(node: Node) -> Node:
    is_all = isinstance(node, ScalarNode) and node.text == "*"
    return _wrap(node, "checkpoints" if is_all else "checkpoint")


def _wrap(node: Node, key: str) -> Node:
    """Return a text as a mapping that holds it under a key."""
    if isinstance(node, ScalarNode) and node.text is not None:
        return MappingNode(node.line, (Pair(key, node.line, node),))
    return node
