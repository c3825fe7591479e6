"""`assay questions drift`: the same questions on several releases."""

from __future__ import annotations

from pathlib import Path

import click

from assay.cli.common import in_colour
from assay.cli.questions.options import CASE, ISOLATION, PROOFS, TARGET, be_silent, say
from assay.config import load_config


@click.command()
@click.argument("suites", metavar="SUITE…", nargs=-1, required=True)
@click.option(
    "--versions", required=True, metavar="V,V,…", help="The versions to compare, with commas."
)
@click.option("--package", help="The package they are versions of; else the one the suite pins.")
@TARGET
@PROOFS
@CASE
@ISOLATION
@click.option("--jobs", "-j", type=click.IntRange(min=1), help="How many questions at a time.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--quiet", "-q", is_flag=True, help="Show no progress.")
@click.pass_context
def drift(
    ctx: click.Context,
    /,
    suites: tuple[str, ...],
    versions: str,
    package: str | None,
    targets: tuple[str, ...],
    proofs: Path | None,
    cases: tuple[str, ...],
    isolation: str,
    jobs: int | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Replay the stored proofs on several versions and name the release that changed a finding.

    Exit code 1 if any verdict differs between the versions.
    """
    from assay.questions import Selection, compare_versions, drift_lines
    from assay.reports import Paint

    selection = Selection(
        suites=suites,
        folder=str(Path.cwd()),
        targets=targets,
        proofs=str(proofs) if proofs else None,
        cases=cases,
    )
    found = compare_versions(
        selection,
        [one.strip() for one in versions.split(",") if one.strip()],
        package,
        jobs=jobs or load_config().jobs_or_default(),
        isolation=isolation,
        say=be_silent if quiet else say,
    )
    if as_json:
        click.echo(found.report("json"), nl=False)
    else:
        click.echo("\n".join(drift_lines(found, found.package, Paint(in_colour()))))
    ctx.exit(found.exit_code)
