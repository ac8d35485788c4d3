"""Flags → request → pipeline → exit code. Nothing is computed here."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NoReturn

import click

from ragtriage.errors import (
    EXIT_GATE_FAILED,
    EXIT_INTERNAL,
    EXIT_PASSED,
    EXIT_REFUSED,
    RagtriageError,
    UsageError,
)
from ragtriage.options import FORMATS, format_shown, leakage_options, options_from
from ragtriage.version import __version__

# Polars' allocator keeps freed pages unless told otherwise: up to half of what a run needs. It
# reads this when polars is first imported.
_ALLOCATOR = "dirty_decay_ms:200,muzzy_decay_ms:0"


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run the command line and exit with its code; a user's mistake shows no traceback."""
    os.environ.setdefault("_RJEM_MALLOC_CONF", _ALLOCATOR)
    sys.exit(run(arguments))


def run(arguments: list[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            # A schedule may start us without one; the run matters all the same.
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115 - for good
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            # Reports hold any text; a terminal that cannot show a character shows an escape.
            stream.reconfigure(errors="backslashreplace")
    try:
        code = cli.main(arguments, prog_name="ragtriage", standalone_mode=False)
    except click.exceptions.Exit as stop:
        return int(stop.exit_code)
    except click.Abort:
        _say("interrupted")
        return EXIT_INTERNAL
    except BrokenPipeError:
        # Whoever read our output has gone; the run itself is complete.
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - kept until exit
        return EXIT_INTERNAL
    except Exception as error:  # noqa: BLE001 - the last resort: exit code 3 and all we know
        return _told(error)
    return EXIT_PASSED if code is None else int(code)


def _told(error: Exception) -> int:
    """Say what went wrong and give the exit code that says so too."""
    if isinstance(error, click.ClickException):
        _say(error.format_message())
        return EXIT_REFUSED
    if isinstance(error, RagtriageError):
        _say(str(error))
        return error.exit_code
    _say("ragtriage: internal error; please report it with what follows")
    _say(traceback.format_exc())
    return EXIT_INTERNAL


def _say(text: str) -> None:
    """One message on stderr; where nobody can be told, the exit code still speaks."""
    with suppress(OSError):
        click.echo(text, err=True)


def _print(text: str) -> None:
    """The report, on stdout."""
    try:
        click.echo(text, nl=False)
    except BrokenPipeError:
        raise
    except OSError as error:
        reason = error.strerror or error
        raise UsageError(f"standard output: cannot be written: {reason}") from None


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, message="%(prog)s %(version)s")
def cli() -> None:
    """Says, case by case, which part of a retrieval-augmented assistant broke.

    Reads recorded cases, holds them against their schema, computes metrics, finds the stage at
    which each case broke, and writes Parquet, HTML, Markdown and JSON. No model call, no network.
    """


def _input_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """What both `evaluate` and `validate` take."""
    options = [
        click.argument("inputs", nargs=-1, metavar="[INPUT]..."),
        click.option(
            "--cases", multiple=True, metavar="FILE", help="Cases, apart from their traces."
        ),
        click.option("--trace", multiple=True, metavar="FILE", help="Traces, joined by case ID."),
        click.option("--corpus", multiple=True, metavar="FILE", help="The passages there are."),
        click.option(
            "--reviews", multiple=True, metavar="FILE", help="Labels by people and judges."
        ),
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
        click.option(
            "--extra", metavar="fail|ignore", help="Unknown fields: an error, or set aside."
        ),
        click.option("--unknown-trace", metavar="fail|ignore", help="Traces without a case."),
        click.option(
            "--missing-trace", metavar="fail|empty|not-run", help="Cases without a trace."
        ),
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
    for option in reversed(options):
        command = option(command)
    return command


@cli.command()
@_input_options
@click.option("--k", multiple=True, metavar="N", help="Cutoffs; the first is the ledger's [10].")
@click.option("--normalizer", metavar="NAME", help="lower-whitespace, exact, casefold, squad.")
@click.option("--abstain-text", multiple=True, metavar="TEXT", help="An answer that declines.")
@click.option(
    "--slice", "slice_", multiple=True, metavar="FIELD", help="A further field of ours to slice by."
)
@click.option("--about", metavar="FILE.toml", help="What was run: shown at the head of reports.")
@click.option("--gate", multiple=True, metavar="EXPR", help="For example 'recall@5 >= 0.8'.")
@click.option("--min-recall", metavar="X", help="Least recall at the first cutoff, 0 to 1.")
@click.option("--min-context-precision", metavar="X", help="Least context precision, same cutoff.")
@click.option("--min-mrr", metavar="X", help="Least mean reciprocal rank, uncut.")
@click.option("--min-citation-coverage", metavar="X", help="Least citation coverage.")
@click.option("--min-citation-validity", metavar="X", help="Least citation validity.")
@click.option("--out", metavar="DIR", help="Where runs are written [reports/].")
@click.option("--run-id", metavar="ID", help="Name of the run's folder.")
@click.option("--no-write", is_flag=True, help="Print only.")
@click.option("--all-cases", is_flag=True, help="Every case in the reports, not the first 500.")
@click.option("--format", "format_", metavar="|".join(FORMATS), help="What stdout shows.")
@click.option("--prefect", is_flag=True, help="As a flow on the server at PREFECT_API_URL.")
def evaluate(**flags: Any) -> int:
    """Evaluate recorded cases and say where each one broke.

    INPUT: JSON lines, JSON, CSV, TSV or Parquet; files, folders, globs, or - for standard input.
    Exit code 0: all gates hold; 1: one failed; 2: arguments or input; 3: internal error.
    """
    from ragtriage.pipeline import run_request  # noqa: PLC0415 - polars loads only for real work
    from ragtriage.request import build_request  # noqa: PLC0415 - the same

    under_prefect = flags.pop("prefect")
    path: Any
    options = options_from(flags)
    shown = format_shown(options.pop("format", None))
    request = build_request(options)
    if under_prefect:
        from ragtriage.flows.server import run_under_prefect  # noqa: PLC0415 - only with --prefect

        report, path = run_under_prefect(request)
    else:
        run = run_request(request, progress=_progress())
        report, path = run.report, run.path
    _print(_rendered(report, shown))
    _say_mapping(report["run"])
    _say_where(path)
    return _verdict(report)


@cli.command()
@_input_options
def validate(**flags: Any) -> int:
    """Check an input and write nothing: exit code 0 or 2."""
    from ragtriage.pipeline import check_request  # noqa: PLC0415 - as above
    from ragtriage.request import build_request  # noqa: PLC0415 - the same

    options = options_from(flags) | {"write": False}
    options.pop("format", None)
    request = build_request(options)
    lines = check_request(request, progress=_progress())
    _print(
        f"{lines.read:,} lines read: {lines.accepted:,} accepted, "
        f"{lines.set_aside:,} set aside, {lines.blank:,} blank\n"
    )
    return EXIT_PASSED


@cli.command()
@click.argument("reviews", nargs=-1, metavar="REVIEWS...")
@click.option("--extra", metavar="fail|ignore", help="Unknown fields: an error, or set aside.")
@click.option("--on-invalid", metavar="fail|quarantine", help="Rows that break a rule.")
@click.option(
    "--min-validated", type=int, metavar="N", help="Common labels a judge must have [30]."
)
@click.option("--out", metavar="DIR", help="Where the folder is written [reports/].")
@click.option("--run-id", metavar="ID", help="The folder is agreement-ID.")
@click.option("--no-write", is_flag=True, help="Print only.")
@click.option("--format", "format_", metavar="|".join(FORMATS), help="What stdout shows.")
def agreement(**flags: Any) -> int:
    """Say how far reviewers agree, and judges with what reviewers settled.

    REVIEWS: one label a row (case, claim, passage, reviewer, kind, label, note); JSON lines, JSON,
    CSV, TSV or Parquet; files, folders, globs, or - for standard input.
    Exit code 0: measured; 2: arguments or input; 3: internal error.
    """
    from ragtriage.agreement_request import build_agreement_request  # noqa: PLC0415 - as above
    from ragtriage.agreement_run import run_agreement  # noqa: PLC0415 - as above
    from ragtriage.publish.agreement.formats import render  # noqa: PLC0415 - as above

    shown = format_shown(flags.pop("format_"))
    options = {name: value for name, value in flags.items() if value is not None}
    options["write"] = not options.pop("no_write")
    found = run_agreement(build_agreement_request(options))
    _print(render(found.report, shown, color=sys.stdout.isatty()))
    _say_where(found.path)
    return EXIT_PASSED


@cli.command()
@click.argument("cases", nargs=-1, metavar="CASES...")
@click.option(
    "--against", multiple=True, metavar="FILE", help="Prompts and examples: files, folders, globs."
)
@click.option(
    "--held-out",
    multiple=True,
    metavar="SPLIT",
    help="What must stand in no prompt [all but development, dev, train, training].",
)
@click.option("--threshold", type=float, metavar="X", help="Jaccard of near duplicates [0.6].")
@click.option("--max", type=int, metavar="N", help="Findings allowed [0].")
@click.option(
    "--min-answer-length", type=int, metavar="N", help="Characters of answers looked for [10]."
)
@click.option("--assign", is_flag=True, help="Propose splits that keep families together.")
@click.option("--reassign", is_flag=True, help="With --assign: move cases that have a split, too.")
@click.option("--shares", metavar="SPLIT=X,…", help="[development=0.8,test=0.2]")
@click.option("--seed", type=int, metavar="N", help="Which of the possible proposals [0].")
@click.option("--strata", metavar="tag", help="Keep the shares within each tag.")
@click.option("--map", "mapping", multiple=True, metavar="THEIRS=OURS", help="A field's name.")
@click.option("--extra", metavar="fail|ignore", help="Unknown fields: an error, or set aside.")
@click.option("--on-invalid", metavar="fail|quarantine", help="Rows that break a rule.")
@click.option("--config", metavar="FILE.toml", help="Any of these options in a file.")
@click.option("--out", metavar="DIR", help="Where the folder is written [reports/].")
@click.option("--run-id", metavar="ID", help="The folder is leakage-ID.")
@click.option("--no-write", is_flag=True, help="Print only.")
@click.option("--format", "format_", metavar="|".join(FORMATS), help="What stdout shows.")
def leakage(**flags: Any) -> int:
    """Say what the splits of a set share with each other and with prompts.

    CASES: labelled cases with `split`; JSON lines, JSON, CSV, TSV or Parquet; files, folders,
    globs, or - for standard input.
    Exit code 0: at most --max findings; 1: more; 2: arguments or input; 3: internal error.
    """
    from ragtriage.leakage_request import build_leakage_request  # noqa: PLC0415 - as above
    from ragtriage.leakage_run import run_leakage  # noqa: PLC0415 - as above
    from ragtriage.publish.leakage import wording  # noqa: PLC0415 - as above
    from ragtriage.publish.leakage.formats import render  # noqa: PLC0415 - as above

    options = leakage_options(flags)
    shown = format_shown(options.pop("format", None))
    found = run_leakage(build_leakage_request(options))
    _print(render(found.report, shown, color=sys.stdout.isatty()))
    _say_mapping({**found.report["run"], "notes": []})
    _say_where(found.path)
    failure = wording.failure(found.report)
    if failure is not None:
        _say(failure)
    return EXIT_PASSED if failure is None else EXIT_GATE_FAILED


@cli.command()
@click.option("--example", metavar="CONTRACT", help="Print a starter file for a contract.")
@click.option("--format", "format_", default="text", metavar="text|json", help="How it is printed.")
def schema(example: str | None, format_: str) -> int:
    """Print what may be read and what is written, from the models themselves."""
    from ragtriage.publish import contract  # noqa: PLC0415 - as above

    if format_ not in ("text", "json"):
        raise click.UsageError(f"--format: {format_!r} is not one of text, json")
    if example is not None:
        _print(contract.example(example))
    else:
        _print(contract.as_json() if format_ == "json" else contract.as_text())
    return EXIT_PASSED


def _rendered(report: Any, shown: str) -> str:
    from ragtriage.publish.formats import render  # noqa: PLC0415 - as above

    return render(report, shown, color=sys.stdout.isatty())


def _say_mapping(run: Any) -> None:
    if run["mapping"]:
        pairs = ", ".join(f"{theirs} = {ours}" for theirs, ours in run["mapping"].items())
        _say(f"fields as read: {pairs}")
    for note in run["notes"]:
        _say(note)


def _say_where(path: Any) -> None:
    if path is not None:
        _say(f"report: {path / 'report.html'}")


def _verdict(report: Any) -> int:
    from ragtriage.publish import wording  # noqa: PLC0415 - as above

    failures = wording.failures(report)
    for line in failures:
        _say(line)
    return EXIT_GATE_FAILED if failures else EXIT_PASSED


def _progress() -> Callable[[str, int], None] | None:
    """A line on stderr that keeps itself up to date, on a terminal only."""
    if not sys.stderr.isatty():
        return None
    from ragtriage.publish.progress import Progress  # noqa: PLC0415 - as above

    return Progress(sys.stderr)


if __name__ == "__main__":
    main()
