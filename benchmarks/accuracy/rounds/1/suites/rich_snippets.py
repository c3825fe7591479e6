"""Snippets used by rich.yaml."""
import time

from rich.console import Console
from rich.live import Live
from rich.table import Table


# --8<-- [start:nested-live]
def dashboard():
    console = Console()
    with Live("downloads", console=console) as outer:
        with Live("uploads", console=console) as inner:
            time.sleep(0.5)
            inner.update("uploads: done")
        outer.update("downloads: done")
# --8<-- [end:nested-live]


# --8<-- [start:capture]
def summary():
    console = Console(width=40, color_system=None)
    with console.capture() as capture:
        console.print("[bold]Total:[/bold] 3")
    return capture.get()
# --8<-- [end:capture]
