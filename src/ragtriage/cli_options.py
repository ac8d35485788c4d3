"""The flags of each command, as lists of click options. No command is defined here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import click

from ragtriage.options import FORMATS

Command = Callable[..., Any]
Decorator = Callable[[Command], Command]


def _all(options: Sequence[Decorator]) -> Decorator:
    """Several options as one decorator, shown in this order by --help."""

    def decorate(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


_READING: list[Decorator] = [
    click.option("--corpus", multiple=True, metavar="FILE", help="The passages there are."),
    click.option("--reviews", multiple=True, metavar="FILE", help="Labels by people and judges."),
    click.option(
        "--contract",
        metavar="NAME",
        help="auto (default), diagnosis, citation, ranking, claims, answer.",
    ),
    click.option(
        "--map",
        "mapping",
        multiple=True,
        metavar="THEIRS=OURS",
        help="A field's name in your file.",
    ),
    click.option("--extra", metavar="fail|ignore", help="Unknown fields: an error, or set aside."),
    click.option("--unknown-trace", metavar="fail|ignore", help="Traces without a case."),
    click.option("--missing-trace", metavar="fail|empty|not-run", help="Cases without a trace."),
    click.option(
        "--unknown-review", metavar="fail|ignore", help="Reviews without a case or claim."
    ),
    click.option(
        "--judge", metavar="NAME", help="Whose labels fill claims that no person labelled."
    ),
    click.option(
        "--min-validated",
        metavar="N",
        help="Labels a judge must share with people to be believed [30].",
    ),
    click.option("--on-invalid", metavar="fail|quarantine", help="Rows that break a rule."),
    click.option("--config", metavar="FILE.toml", help="Any of these options in a file."),
]
_SCORING: list[Decorator] = [
    click.option(
        "--k", multiple=True, metavar="N", help="Cutoffs; the first is the ledger's [10]."
    ),
    click.option("--normalizer", metavar="NAME", help="lower-whitespace, exact, casefold, squad."),
    click.option("--abstain-text", multiple=True, metavar="TEXT", help="An answer that declines."),
    click.option(
        "--slice",
        "slice_",
        multiple=True,
        metavar="FIELD",
        help="A further field of ours to slice by.",
    ),
    click.option(
        "--about", metavar="FILE.toml", help="What was run: shown at the head of reports."
    ),
]
_MINIMA: list[Decorator] = [
    click.option("--min-recall", metavar="X", help="Least recall at the first cutoff, 0 to 1."),
    click.option(
        "--min-context-precision", metavar="X", help="Least context precision, same cutoff."
    ),
    click.option("--min-mrr", metavar="X", help="Least mean reciprocal rank, uncut."),
    click.option("--min-citation-coverage", metavar="X", help="Least citation coverage."),
    click.option("--min-citation-validity", metavar="X", help="Least citation validity."),
]
_TWO_RUNS: list[Decorator] = [
    click.option(
        "--allow",
        multiple=True,
        metavar="NAME",
        help="A difference that may be: cases, labels, corpus, cutoffs, normalizer.",
    ),
    click.option(
        "--max-regressions", metavar="N", help="Cases that may go from pass to anything else."
    ),
    click.option("--test", is_flag=True, help="Exact paired sign-flip tests, Holm-corrected."),
    click.option(
        "--intervals",
        is_flag=True,
        help="Cluster bootstrap intervals of means, or of their differences.",
    ),
    click.option(
        "--test-metric",
        multiple=True,
        metavar="METRIC[@K]",
        help="The family of --test and --intervals: these metrics alone.",
    ),
    click.option("--seed", metavar="N", help="Of what --test and --intervals draw [0]."),
]
_PLACE: list[Decorator] = [
    click.option("--out", metavar="DIR", help="Where runs are written [reports/]."),
    click.option("--no-write", is_flag=True, help="Print only."),
    click.option("--all-cases", is_flag=True, help="Every case in the reports, not the first 500."),
    click.option("--format", "format_", metavar="|".join(FORMATS), help="What stdout shows."),
    click.option("--prefect", is_flag=True, help="As a flow on the server at PREFECT_API_URL."),
]
_INPUT: list[Decorator] = [
    click.argument("inputs", nargs=-1, metavar="[INPUT]..."),
    click.option("--cases", multiple=True, metavar="FILE", help="Cases, apart from their traces."),
    click.option("--trace", multiple=True, metavar="FILE", help="Traces, joined by case ID."),
    *_READING,
]
_RUN_ID = click.option("--run-id", metavar="ID", help="Name of the run's folder.")
_BASELINE = click.option(
    "--baseline", metavar="RUN", help="Then compare with this finished run, as compare does."
)
_SIDES: list[Decorator] = [
    click.argument("base", metavar="BASE"),
    click.argument("candidate", metavar="CANDIDATE"),
    click.option(
        "--cases", multiple=True, metavar="FILE", help="Cases; BASE and CANDIDATE are traces then."
    ),
]


def _gate(example: str) -> Decorator:
    return click.option("--gate", multiple=True, metavar="EXPR", help=f"For example '{example}'.")


input_options = _all(_INPUT)
evaluate_options = _all(
    [
        *_INPUT,
        *_SCORING,
        _gate("recall@5 >= 0.8"),
        *_MINIMA,
        _RUN_ID,
        _BASELINE,
        *_TWO_RUNS,
        *_PLACE,
    ]
)
compare_options = _all(
    [*_SIDES, *_TWO_RUNS, _gate("delta.recall@5 >= -0.01"), *_READING, *_SCORING, *_PLACE]
)
agreement_options = _all(
    [
        click.argument("reviews", nargs=-1, metavar="REVIEWS..."),
        click.option(
            "--extra", metavar="fail|ignore", help="Unknown fields: an error, or set aside."
        ),
        click.option("--on-invalid", metavar="fail|quarantine", help="Rows that break a rule."),
        click.option(
            "--min-validated", type=int, metavar="N", help="Common labels a judge must have [30]."
        ),
        click.option("--out", metavar="DIR", help="Where the folder is written [reports/]."),
        click.option("--run-id", metavar="ID", help="The folder is agreement-ID."),
        click.option("--no-write", is_flag=True, help="Print only."),
        click.option("--format", "format_", metavar="|".join(FORMATS), help="What stdout shows."),
    ]
)
