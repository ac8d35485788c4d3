"""The command `explain`: one case of a finished run, from source to answer."""

from __future__ import annotations

import click

from ragtriage.cli_output import print_report
from ragtriage.errors import EXIT_PASSED


@click.command()
@click.argument("case_id", metavar="CASE_ID")
@click.option("--run", "run", required=True, metavar="DIR", help="A finished run's folder.")
@click.option(
    "--format", "format_", type=click.Choice(("text", "json")), default="text", help="[text]"
)
def explain(case_id: str, run: str, format_: str) -> int:
    """Say of one case where its evidence went and why it has its stage.

    CASE_ID: as the run has it. Reads the run's Parquet tables, and nothing else is needed.
    Exit code 0: explained; 2: no such run, or no such case (the nearest IDs are named).
    """
    from ragtriage.publish import explanation
    from ragtriage.publish.folder import to_json
    from ragtriage.read.one_case import stored_case

    told = explanation.build(stored_case(run, case_id))
    print_report(to_json(told) if format_ == "json" else explanation.as_text(told))
    return EXIT_PASSED
