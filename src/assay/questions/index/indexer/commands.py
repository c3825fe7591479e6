"""The command lines of console scripts: click, typer, argparse, optparse, found by starting them.

A script is called with its parser replaced by one that stops everything and hands itself over.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import optparse
import sys
from collections.abc import Iterator
from typing import Any

from . import text

_DEEPEST = 6


class _Found(BaseException):
    """Carries the parser or command out of the script."""

    def __init__(self, parser: Any) -> None:
        super().__init__()
        self.parser = parser


def command_facts(name: str, value: str) -> Iterator[dict[str, Any]]:
    """Yield the commands and options of one script; none if it has no parser that is known here."""
    try:
        parser = _find_parser(name, value)
        if isinstance(parser, argparse.ArgumentParser):
            yield from _argparse(name, parser, 0)
        elif isinstance(parser, optparse.OptionParser):
            yield from _optparse(name, parser)
        elif parser is not None:
            yield from _click(name, parser, None, 0)
    except Exception:
        return


def _find_parser(name: str, value: str) -> Any:
    module, _, attribute = value.partition(":")
    thing: Any = importlib.import_module(module.strip())
    for part in filter(None, attribute.split("[")[0].strip().split(".")):
        thing = getattr(thing, part)
    thing = _from_typer(thing)
    if _is_click(thing):
        return thing
    return _catch_parser(name, thing)


def _is_click(thing: Any) -> bool:
    return hasattr(thing, "params") and hasattr(thing, "make_context")


def _from_typer(thing: Any) -> Any:
    if type(thing).__name__ == "Typer" and "typer.main" in sys.modules:
        return sys.modules["typer.main"].get_command(thing)
    return thing


def _catch_parser(name: str, function: Any) -> Any:
    sys.argv[:] = [name]
    with contextlib.ExitStack() as undo:
        _replace(undo, argparse.ArgumentParser, "parse_known_args")
        _replace(undo, optparse.OptionParser, "parse_args")
        for module, owner, method in (
            ("click", "BaseCommand", "main"), ("click", "Command", "main"),
            ("typer", "Typer", "__call__"),
        ):  # fmt: skip
            if module in sys.modules:
                kind = vars(sys.modules[module]).get(owner)
                if kind is not None:
                    _replace(undo, kind, method)
        try:
            function()
        except _Found as found:
            return _from_typer(found.parser)
        except BaseException:
            return None
    return None


def _replace(undo: contextlib.ExitStack, kind: Any, method: str) -> None:
    def hand_over(self: Any, *_: Any, **__: Any) -> None:
        raise _Found(self)

    undo.callback(setattr, kind, method, getattr(kind, method))
    setattr(kind, method, hand_over)


def _click(path: str, command: Any, parent: Any, depth: int) -> Iterator[dict[str, Any]]:
    context = command.context_class(command, info_name=path.split()[-1], parent=parent)
    yield {
        "path": path, "kind": "command", "owner": path.rpartition(" ")[0],
        "doc": text.clean_doc(getattr(command, "help", "")),
        "deprecated": "deprecated" if getattr(command, "deprecated", False) else "",
    }  # fmt: skip
    for parameter in command.get_params(context):
        is_option = parameter.param_type_name == "option"
        names = [*parameter.opts, *parameter.secondary_opts] if is_option else [parameter.name]
        longest = max(names, key=len)
        default = parameter.default
        yield {
            "path": f"{path} {longest}", "kind": "option", "owner": path,
            "aliases": [one for one in dict.fromkeys([*names, parameter.name]) if one != longest],
            "doc": text.clean_doc(getattr(parameter, "help", "")), "required": parameter.required,
            "annotation": str(getattr(getattr(parameter, "type", None), "name", "")),
            "default": None if default is None or callable(default) else text.format_value(default),
        }  # fmt: skip
    if depth < _DEEPEST and hasattr(command, "list_commands"):
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            if inner is not None:
                yield from _click(f"{path} {name}", inner, context, depth + 1)


def _argparse(path: str, parser: Any, depth: int) -> Iterator[dict[str, Any]]:
    yield {
        "path": path, "kind": "command", "owner": path.rpartition(" ")[0],
        "doc": text.clean_doc(parser.description),
    }  # fmt: skip
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            if depth < _DEEPEST:
                for name, inner in action.choices.items():
                    yield from _argparse(f"{path} {name}", inner, depth + 1)
            continue
        names = action.option_strings or [action.dest]
        longest = max(names, key=len)
        yield {
            "path": f"{path} {longest}", "kind": "option", "owner": path,
            "aliases": [one for one in dict.fromkeys([*names, action.dest]) if one != longest],
            "doc": text.clean_doc(action.help), "required": bool(action.required),
            "default": None if action.default is None else text.format_value(action.default),
        }  # fmt: skip


def _optparse(path: str, parser: Any) -> Iterator[dict[str, Any]]:
    yield {"path": path, "kind": "command", "doc": text.clean_doc(parser.description)}
    groups = (parser, *parser.option_groups)
    for option in (one for group in groups for one in group.option_list):
        names = [*option._long_opts, *option._short_opts]
        yield {
            "path": f"{path} {names[0]}", "kind": "option", "owner": path,
            "aliases": names[1:], "doc": text.clean_doc(option.help),
        }  # fmt: skip
