import importlib, importlib.metadata, importlib.util, inspect, io, pathlib, sys
import pytest, rich
from rich.console import Console
from rich.table import Column, Table
from rich.panel import Panel

SUITES = pathlib.Path(__file__).parent.parent / "suites"
spec = importlib.util.spec_from_file_location("rich_snippets", SUITES / "rich_snippets.py")
snip = importlib.util.module_from_spec(spec); spec.loader.exec_module(snip)


def imports(stmt):
    try:
        exec(stmt, {})
        return True
    except ImportError:
        return False


def test_version():
    assert importlib.metadata.version("rich") == "15.0.0"


def test_import_column():
    assert imports("from rich.table import Column")
    for bad in ("from rich.columns import Column", "from rich.column import Column", "from rich import Column"):
        assert not imports(bad)


def test_live_refresh_rate():  # Incorrect: B
    from rich.live import Live
    assert inspect.signature(Live).parameters["refresh_per_second"].default == 4
    assert Live("x").refresh_per_second == 4


def test_live_in_live(capsys):  # Incorrect: B
    snip.dashboard()            # raises nothing
    out = capsys.readouterr().out
    assert "uploads: done" in out and "downloads: done" in out


def test_live_in_live_terminal(monkeypatch):
    buf = io.StringIO()
    monkeypatch.setattr(snip, "Console", lambda: Console(file=buf, force_terminal=True, width=60))
    snip.dashboard()
    assert "uploads" in buf.getvalue() and "downloads" in buf.getvalue()


def price_line(table):
    table.add_row("1"); table.add_row("1000000")
    buf = io.StringIO()
    Console(file=buf, width=40).print(table)
    return next(l for l in buf.getvalue().splitlines() if " 1 " in l)


def test_right_align_prices():  # Ambiguous: A, C
    a = Table(); a.add_column("Price", justify="right")
    c = Table(Column("Price", justify="right"))
    plain = Table("Price")
    assert price_line(a) == price_line(c) != price_line(plain)
    assert "      1 " in price_line(Table(Column("Price", justify="right")))
    with pytest.raises(TypeError):
        Table().add_column("Price", align="right")
    with pytest.raises(TypeError):
        Table("Price", justify="right")


def test_stray_closing_tag():
    from rich import errors
    with pytest.raises(errors.MarkupError) as e:
        Console().print("Hello [/bold]")
    assert not isinstance(e.value, (errors.StyleSyntaxError, errors.MissingStyle))


def test_literal_brackets():
    from rich import markup, text, console
    c = Console(width=60, color_system=None)
    with c.capture() as cap:
        c.print("user " + markup.escape("[red]bob"))
    assert cap.get() == "user [red]bob\n"
    with c.capture() as cap:
        c.print("user [red]bob")
    assert cap.get() == "user bob\n"
    assert not hasattr(markup, "quote") and not hasattr(text, "literal") and not hasattr(console, "sanitize")


def test_plain_count_column():
    from rich import progress as p
    pr = p.Progress(); pr.add_task("x", total=10, completed=7); task = pr.tasks[0]
    assert str(p.MofNCompleteColumn().render(task)).strip() == "7/10"
    assert str(p.TaskProgressColumn().render(task)).strip() == "70%"
    assert str(p.DownloadColumn().render(task)) == "7/10 bytes"
    assert not hasattr(p, "CountColumn")


def test_why_record(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    c = Console(record=True, file=io.StringIO(), width=40)
    c.print("hello")
    assert c.export_text(clear=False) == "hello\n" and "hello" in c.export_html()
    assert list(tmp_path.iterdir()) == []           # not B
    plain = Console(file=io.StringIO()); plain.print("x")
    with pytest.raises(AssertionError):
        plain.export_text()
    monkeypatch.setattr(sys, "stdin", io.StringIO("typed\n"))
    c = Console(record=True, file=io.StringIO(), width=40)
    c.input("? ")
    assert "typed" not in c.export_text()           # not C
    assert not any("replay" in n for n in dir(c))   # not D


def test_panel_or_fit():
    def lines(r):
        buf = io.StringIO(); Console(file=buf, width=40).print(r)
        return buf.getvalue().splitlines()
    fit, full = lines(Panel.fit("hi")), lines(Panel("hi"))
    assert len(fit[0]) == 6 and len(full[0]) == 40
    assert fit[0].startswith("╭")                                    # not A
    assert "much longer than title" in lines(Panel.fit("much longer than title", title="t"))[1]   # not B


def test_captured_output():
    assert snip.summary() == "Total: 3\n"


def test_not_a_prompt():
    import rich.prompt as p
    assert not hasattr(p, "DatePrompt")
    for n in ("Confirm", "IntPrompt", "FloatPrompt", "Prompt"):
        assert isinstance(getattr(p, n), type)


def test_api_own_progress_column():
    from rich.progress import ProgressColumn, BarColumn
    assert inspect.isabstract(ProgressColumn) and issubclass(BarColumn, ProgressColumn)
    assert ProgressColumn.__abstractmethods__ == {"render"}


def test_api_combine_renderables():  # Incorrect
    import rich.console
    assert not hasattr(rich.console, "RenderGroup")
    assert hasattr(rich.console, "Group")
