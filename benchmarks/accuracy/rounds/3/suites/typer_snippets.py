from typing import Annotated

import typer

# --8<-- [start:two_commands]
app = typer.Typer()


@app.command()
def create_user(name: str):
    print(f"created {name}")


@app.command()
def delete_user(name: str):
    print(f"deleted {name}")
# --8<-- [end:two_commands]


# --8<-- [start:clamped]
def main(level: Annotated[int, typer.Option(min=0, max=10, clamp=True)] = 5):
    print(level)
# --8<-- [end:clamped]
