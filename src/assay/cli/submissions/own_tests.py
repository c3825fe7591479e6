"""`assay submissions test`: the tests a problem has for its own loader and verifier."""

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
    from assay.submissions.problems import find_problem
    from assay.submissions.programmed.own_tests import run_own_tests

    folder = find_problem(problem, problem_path).resolve()
    ctx.exit(run_own_tests(folder, arguments))
