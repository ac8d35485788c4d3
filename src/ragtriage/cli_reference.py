"""The command `reference`: what every metric and every stage means."""

from __future__ import annotations

import click

from ragtriage.cli_output import print_report
from ragtriage.errors import EXIT_PASSED


@click.command()
@click.argument("page", metavar="metrics|stages", type=click.Choice(("metrics", "stages")))
def reference(page: str) -> int:
    """Print the reference of metrics or of stages, as Markdown.

    Metrics: formula, range, empty case, needs, source, name in trec_eval. Stages: the precedence
    table, each break point with what to look at first, and where a requirement counts as lost.
    """
    from ragtriage.publish.reference import PAGES

    print_report(PAGES[page]())
    return EXIT_PASSED
