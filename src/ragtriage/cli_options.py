"""The flags of each command, as lists of click options. No command is defined here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import click

from ragtriage.cli_formats import FORMAT_OPTIONS
from ragtriage.option_words import WORDS
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


_NO_TEXT = click.option("--no-text", is_flag=True, help=WORDS["no_text"])
_READING: list[Decorator] = [
    click.option("--corpus", multiple=True, metavar="FILE", help=WORDS["corpus"]),
    click.option("--reviews", multiple=True, metavar="FILE", help=WORDS["reviews"]),
    click.option(
        "--contract",
        metavar="NAME",
        help=WORDS["contract"],
    ),
    click.option(
        "--map",
        "mapping",
        multiple=True,
        metavar="THEIRS=OURS",
        help=WORDS["map"],
    ),
    *FORMAT_OPTIONS,
    click.option("--extra", metavar="fail|ignore", help=WORDS["extra"]),
    click.option("--unknown-trace", metavar="fail|ignore", help=WORDS["unknown_trace"]),
    click.option("--missing-trace", metavar="fail|empty|not-run", help=WORDS["missing_trace"]),
    click.option("--unknown-review", metavar="fail|ignore", help=WORDS["unknown_review"]),
    click.option("--judge", metavar="NAME", help=WORDS["judge"]),
    click.option(
        "--min-validated",
        metavar="N",
        help=WORDS["min_validated"],
    ),
    click.option("--on-invalid", metavar="fail|quarantine", help=WORDS["on_invalid"]),
    _NO_TEXT,
    click.option("--config", metavar="FILE.toml", help="Any of these options in a file."),
]
_SCORING: list[Decorator] = [
    click.option("--k", multiple=True, metavar="N", help=WORDS["k"]),
    click.option("--normalizer", metavar="NAME", help=WORDS["normalizer"]),
    click.option("--abstain-text", multiple=True, metavar="TEXT", help=WORDS["abstain_text"]),
    click.option(
        "--slice",
        "slice_",
        multiple=True,
        metavar="FIELD",
        help=WORDS["slice"],
    ),
    click.option("--about", metavar="FILE.toml", help=WORDS["about"]),
]
_MINIMA: list[Decorator] = [
    click.option("--min-recall", metavar="X", help=WORDS["min_recall"]),
    click.option("--min-context-precision", metavar="X", help=WORDS["min_context_precision"]),
    click.option("--min-mrr", metavar="X", help=WORDS["min_mrr"]),
    click.option("--min-citation-coverage", metavar="X", help=WORDS["min_citation_coverage"]),
    click.option("--min-citation-validity", metavar="X", help=WORDS["min_citation_validity"]),
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
        help=WORDS["intervals"],
    ),
    click.option(
        "--test-metric",
        multiple=True,
        metavar="METRIC[@K]",
        help="The family of --test and --intervals: these metrics alone.",
    ),
    click.option("--seed", metavar="N", help=WORDS["seed"]),
]
_PLACE: list[Decorator] = [
    click.option("--out", metavar="DIR", help=WORDS["out"]),
    click.option("--no-write", is_flag=True, help="Print only."),
    click.option("--all-cases", is_flag=True, help=WORDS["all_cases"]),
    click.option("--format", "format_", metavar="|".join(FORMATS), help="What stdout shows."),
    click.option("--prefect", is_flag=True, help="As a flow on the server at PREFECT_API_URL."),
]
_TOLD: list[Decorator] = [
    click.option("--junit", metavar="FILE", help="JUnit XML: a test a gate and failing case."),
    click.option("--quiet", is_flag=True, help="The verdict and failed gates alone."),
    click.option("--verbose", is_flag=True, help="The table with slices, timings and all cases."),
]
_RUNNER: list[Decorator] = [
    click.option(
        "--runner",
        metavar="direct|dask",
        help="Here [direct], or shard by shard on Dask's workers.",
    ),
    click.option(
        "--workers",
        metavar="N",
        help="Processes that share the work here [2 for large files on Linux].",
    ),
    click.option(
        "--dask-address", metavar="tcp://…", help="The scheduler [a cluster on this machine]."
    ),
    click.option(
        "--shards", metavar="N", help="About how many parts the input is cut into [one a 256 MiB]."
    ),
]
_INPUT: list[Decorator] = [
    click.argument("inputs", nargs=-1, metavar="[INPUT]..."),
    click.option("--cases", multiple=True, metavar="FILE", help=WORDS["cases"]),
    click.option("--trace", multiple=True, metavar="FILE", help=WORDS["trace"]),
    *_READING,
]
_RUN_ID = click.option("--run-id", metavar="ID", help=WORDS["run_id"])
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
        *_TOLD,
        *_RUNNER,
    ]
)
compare_options = _all(
    [*_SIDES, *_TWO_RUNS, _gate("delta.recall@5 >= -0.01"), *_READING, *_SCORING, *_PLACE, *_TOLD]
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
        _NO_TEXT,
        click.option("--format", "format_", metavar="|".join(FORMATS), help="What stdout shows."),
    ]
)
leakage_flags = _all(
    [
        click.argument("cases", nargs=-1, metavar="CASES..."),
        click.option(
            "--against",
            multiple=True,
            metavar="FILE...",
            help="Prompts and examples: files, folders, globs.",
        ),
        click.option(
            "--held-out",
            multiple=True,
            metavar="SPLIT",
            help="What must stand in no prompt [all but development, dev, train, training].",
        ),
        click.option(
            "--threshold", type=float, metavar="X", help="Jaccard of near duplicates [0.6]."
        ),
        click.option("--max", type=int, metavar="N", help="Findings allowed [0]."),
        click.option(
            "--min-answer-length",
            type=int,
            metavar="N",
            help="Characters of answers looked for [4].",
        ),
        click.option("--assign", is_flag=True, help="Propose splits that keep families together."),
        click.option(
            "--reassign", is_flag=True, help="With --assign: forget the splits that cases have."
        ),
        click.option("--shares", metavar="SPLIT=X,…", help="[development=0.8,test=0.2]"),
        click.option("--seed", type=int, metavar="N", help="Which of the possible proposals [0]."),
        click.option("--strata", metavar="tag", help="Keep the shares within each tag."),
        click.option(
            "--map", "mapping", multiple=True, metavar="THEIRS=OURS", help="A field's name."
        ),
        click.option(
            "--extra", metavar="fail|ignore", help="Unknown fields: an error, or set aside."
        ),
        click.option("--on-invalid", metavar="fail|quarantine", help="Rows that break a rule."),
        click.option("--config", metavar="FILE.toml", help="Any of these options in a file."),
        click.option("--out", metavar="DIR", help="Where the folder is written [reports/]."),
        click.option("--run-id", metavar="ID", help="The folder is leakage-ID."),
        click.option("--no-write", is_flag=True, help="Print only."),
        _NO_TEXT,
        click.option("--format", "format_", metavar="|".join(FORMATS), help="What stdout shows."),
    ]
)
