"""`assay submissions test` and `alias`: the tests of a problem's own loader and verifier."""

from __future__ import annotations

from pathlib import Path

import click


@click.command(
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
    options_metavar="-p PROBLEM [OPTIONS]",
)
@click.option("--problem", "-p", required=True, metavar="PROBLEM", help="A folder, or a name.")
@click.option(
    "--problem-path",
    type=click.Path(path_type=Path),
    default=Path("problems"),
    show_default=True,
    help="Where problems with a name are.",
)
@click.argument("arguments", metavar="[PYTEST…]", nargs=-1, type=click.UNPROCESSED)
@click.pass_context
def test(
    ctx: click.Context, /, problem: str, problem_path: Path, arguments: tuple[str, ...]
) -> None:
    """Run a problem's own test_*.py by pytest, with the reference's names.

    What follows is given to pytest; write `--` before an option that Assay has too.
    """
    from assay.submissions import find_problem, run_own_tests

    folder = find_problem(problem, problem_path).resolve()
    ctx.exit(run_own_tests(folder, arguments))


@click.command()
@click.option(
    "--to",
    "folder",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="FOLDER",
    help="Write it there, for PYTHONPATH, instead of beside Assay's own packages.",
)
@click.option("--remove", is_flag=True, help="Remove it again.")
def alias(folder: Path | None, remove: bool) -> None:
    """Make `import slop_code` work in this Python, for a problem's tests.

    Then `python test_verifier.py` and pytest alone run them. One file is written, slop_code.py; a
    real slop_code that is installed is never hidden.
    """
    from assay.submissions import remove_shim, write_shim

    if remove:
        click.echo(f"removed  {remove_shim(folder)}")
        return
    file = write_shim(folder)
    click.echo(f"wrote  {file}")
    if folder is not None:
        click.echo(f"\nnext: PYTHONPATH={folder} python test_verifier.py")
