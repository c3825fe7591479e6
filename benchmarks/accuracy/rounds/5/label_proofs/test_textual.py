import asyncio
import importlib.metadata
import inspect
import runpy

import pytest
import textual.widgets
import textual_snippets as snippets
from textual import on, work
from textual.app import App
from textual.binding import Binding
from textual.containers import Horizontal, HorizontalGroup, HorizontalScroll, Middle
from textual.css.query import NoMatches, TooManyMatches
from textual.reactive import reactive, var
from textual.screen import ModalScreen, Screen
from textual.validation import Integer, Number, Validator
from textual.widget import Widget
from textual.widgets import Button, Input, Label, Select
from textual._work_decorator import WorkerDeclarationError


def run(app, action, **kw):
    async def go():
        async with app.run_test(**kw) as pilot:
            await pilot.pause()
            result = action(pilot)
            if inspect.isawaitable(result):
                result = await result
            return result
    return asyncio.run(go())


def test_version():
    assert importlib.metadata.version("textual") == "8.2.8"


def test_select_without_choice():
    class A(App):
        def compose(self):
            yield Select([("one", 1), ("two", 2)])
    value = run(A(), lambda p: p.app.query_one(Select).value)
    assert value is Select.NULL
    assert Select.BLANK is False and value is not Select.BLANK and value != Select.BLANK     # Widget.BLANK, another thing
    assert value is not None and value != ""


def test_query_one_of_two():
    found = run(snippets.Confirm(), lambda p: p.app.find_button())
    assert isinstance(found, Button) and found.id == "yes"
    def exactly(p):
        with pytest.raises(TooManyMatches):
            p.app.query_exactly_one(Button)
    run(snippets.Confirm(), exactly)


def test_press_handler():
    called = []
    class A(App):
        def compose(self):
            yield Button("b")
        def on_button_pressed(self, event: Button.Pressed) -> None: called.append("A")
        def handle_button(self, event: Button.Pressed) -> None: called.append("B")
        def on_button_clicked(self, event: Button.Pressed) -> None: called.append("C")
        @on(Button.Pressed)
        def save(self) -> None: called.append("D")
    async def press(p):
        await p.click(Button)
        await p.pause()
    run(A(), press)
    assert sorted(called) == ["A", "D"]


@pytest.mark.parametrize("container,row,bars", [(Horizontal, True, False), (HorizontalGroup, True, False), (HorizontalScroll, True, True), (Middle, False, False)])
def test_row_container(container, row, bars):
    class A(App):
        def compose(self):
            with container():
                for _ in range(30):
                    yield Label("x" * 20)
    def look(p):
        c = p.app.query_one(container)
        first, second = list(p.app.query(Label))[:2]
        return first.region.y == second.region.y and first.region.x < second.region.x, c.show_horizontal_scrollbar or c.show_vertical_scrollbar
    assert run(A(), look) == (row, bars)


def test_var_or_reactive():
    refreshed, seen = [], []
    class W(Widget):
        v = var(0)
        r = reactive(0)
        def validate_v(self, value): return min(value, 10)
        def watch_v(self, value): seen.append(value)
        def refresh(self, *a, **k):
            refreshed.append(1)
            return super().refresh(*a, **k)
    class A(App):
        def compose(self):
            yield W(id="one")
            yield W(id="two")
    def act(p):
        one, two = p.app.query_one("#one"), p.app.query_one("#two")
        refreshed.clear(); seen.clear()
        one.v = 99
        assert one.v == 10 and seen == [10] and two.v == 0      # A, C, D wrong
        assert not refreshed
        one.r = 1
        assert refreshed
    run(A(), act)


def test_exclusive_worker():
    started, cancelled = [], []
    class A(App):
        @work(exclusive=True)
        async def job(self, n):
            import threading
            started.append((n, threading.current_thread() is threading.main_thread()))
            try:
                await asyncio.sleep(30)
            except asyncio.CancelledError:
                cancelled.append(n)
                raise
        def compose(self):
            yield Input()
    async def act(p):
        p.app.job(1); await p.pause(0.05)
        p.app.job(2); await p.pause(0.05)
        assert started == [(1, True), (2, True)] and cancelled == [1]      # A, B wrong; D right
        p.app.query_one(Input).focus()
        await p.press("a")
        assert p.app.query_one(Input).value == "a"                          # C wrong: input is still handled
    run(A(), act)


def test_binding_first():
    names = set(inspect.signature(Binding).parameters)
    assert "priority" in names and not names & {"override", "capture", "first", "urgent"}
    hits = []
    def app(priority):
        class A(App):
            BINDINGS = [Binding("home", "hit", priority=priority)]       # Input binds "home" too
            def compose(self): yield Input()
            def action_hit(self): hits.append(priority)
        return A()
    async def act(p):
        p.app.query_one(Input).focus()
        await p.press("home")
    run(app(False), act); run(app(True), act)
    assert hits == [True]


def test_integer_validator_base():
    assert Integer.__bases__ == (Number,) and Number.__bases__ == (Validator,)


def test_sync_work():
    with pytest.raises(Exception) as e:
        snippets.build()
    assert type(e.value) is WorkerDeclarationError


def test_exit_values(capsys):
    asyncio.run(snippets.main())
    assert capsys.readouterr().out == "blue 3\n"


def test_python_m_textual(monkeypatch):
    ran = []
    monkeypatch.setattr(App, "run", lambda self, *a, **k: ran.append(type(self).__name__))
    runpy.run_module("textual", run_name="__main__")
    assert ran == ["DemoApp"]


# api_understanding
def test_rich_output_log():
    assert not hasattr(textual.widgets, "TextLog")
    with pytest.raises(ImportError):
        exec("from textual.widgets import TextLog")
    assert hasattr(textual.widgets.RichLog, "write")


def test_screen_result():
    got = []
    class M(ModalScreen[int]):
        def on_mount(self): self.dismiss(7)
    class A(App):
        def on_mount(self): self.push_screen(M(), got.append)
    async def act(p):
        await p.pause(0.1)
        assert not isinstance(p.app.screen, M)
    run(A(), act)
    assert got == [7]
    assert "dismiss" in vars(Screen) and ModalScreen.dismiss is Screen.dismiss
