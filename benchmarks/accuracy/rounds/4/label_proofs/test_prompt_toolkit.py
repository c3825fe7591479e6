import importlib
import importlib.metadata
import inspect
import sys
from pathlib import Path

import prompt_toolkit
import pytest
from prompt_toolkit import PromptSession
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput

sys.path.insert(0, str(Path(__file__).parent.parent / "suites"))


def test_version():
    assert importlib.metadata.version("prompt_toolkit") == "3.0.53"


def test_import_html():
    from prompt_toolkit import HTML as a
    from prompt_toolkit.formatted_text import HTML as b

    assert a is b
    with pytest.raises(ImportError):
        from prompt_toolkit.html import HTML
    with pytest.raises(ImportError):
        from prompt_toolkit.styles import HTML


def test_purpose_patch_stdout():
    from prompt_toolkit.patch_stdout import StdoutProxy, patch_stdout

    assert "appears above the" in patch_stdout.__doc__
    before = sys.stdout
    with patch_stdout():
        assert isinstance(sys.stdout, StdoutProxy)
    assert sys.stdout is before


def test_password_input():
    params = inspect.signature(prompt_toolkit.prompt).parameters
    assert "is_password" in params
    assert not {"hide_input", "password", "mask"} & set(params)
    assert "asterisks" in PromptSession.__doc__


def test_prompt_in_asyncio():
    import asyncio

    assert "async_" not in inspect.signature(PromptSession.prompt).parameters
    assert inspect.iscoroutinefunction(PromptSession.prompt_async)
    assert not hasattr(PromptSession, "run_async") and not hasattr(PromptSession, "read_line")

    async def main():
        with create_pipe_input() as inp:
            inp.send_text("hello\n")
            session = PromptSession(input=inp, output=DummyOutput())
            with pytest.raises(TypeError):
                await session.prompt("> ", async_=True)
            return await session.prompt_async("> ")

    assert asyncio.run(main()) == "hello"


def test_menu_space():
    assert inspect.signature(PromptSession).parameters["reserve_space_for_menu"].default == 8


def test_word_completions(capsys):
    import prompt_toolkit_snippets

    prompt_toolkit_snippets.suggestions()
    assert capsys.readouterr().out == "['apple']\n"


def test_filter_in_if(capsys):
    import prompt_toolkit_snippets

    with pytest.raises(ValueError):
        prompt_toolkit_snippets.show_status()
    assert capsys.readouterr().out == ""


def test_not_a_complete_style():
    from prompt_toolkit.shortcuts import CompleteStyle

    assert {m.name for m in CompleteStyle} == {"COLUMN", "MULTI_COLUMN", "READLINE_LIKE"}


def test_hsplit_vsplit():
    from prompt_toolkit.layout import HSplit, VSplit, Window

    def height(cls):
        return cls([Window(height=1), Window(height=2)]).preferred_height(80, 24).preferred

    assert height(HSplit) == 3 and height(VSplit) == 2
    assert HSplit is not VSplit
    assert "above" in HSplit.__doc__ and "left/right" in VSplit.__doc__


def test_formatted_text_kinds():
    from prompt_toolkit import HTML

    for message in ("> ", HTML("<b>&gt;</b> "), [("class:a", "> ")]):
        with create_pipe_input() as inp:
            inp.send_text("x\n")
            assert PromptSession(message, input=inp, output=DummyOutput()).prompt() == "x"


def test_api_hierarchical_completion():
    from prompt_toolkit.completion import CompleteEvent, NestedCompleter
    from prompt_toolkit.completion.nested import NestedCompleter as n
    from prompt_toolkit.document import Document

    assert n is NestedCompleter
    c = n.from_nested_dict({"show": {"ip": {"interface": None}}})
    assert [x.text for x in c.get_completions(Document("show ip "), CompleteEvent())] == ["interface"]


def test_api_stop_application():
    from prompt_toolkit.application import Application
    from prompt_toolkit.key_binding import KeyBindings

    assert Application is prompt_toolkit.Application
    kb = KeyBindings()
    kb.add("q")(lambda event: event.app.exit(result=42))
    with create_pipe_input() as inp:
        inp.send_text("q")
        assert Application(key_bindings=kb, input=inp, output=DummyOutput()).run() == 42
