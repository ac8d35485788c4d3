"""Flags → request → pipeline → exit code. Nothing is computed here."""

from __future__ import annotations

import gc
import os
import sys
from typing import Any, NoReturn

import click

from ragtriage.allocators import keep_freed_pages
from ragtriage.cli_explain import explain
from ragtriage.cli_failing import told
from ragtriage.cli_intake import convert, inspect
from ragtriage.cli_many import ManyAgainst
from ragtriage.cli_options import (
    agreement_options,
    compare_options,
    evaluate_options,
    input_options,
    leakage_flags,
)
from ragtriage.cli_output import (
    print_report,
    progress,
    say,
    say_mapping,
    say_where,
    shows_color,
)
from ragtriage.cli_reference import reference
from ragtriage.cli_telling import TOLD, telling
from ragtriage.errors import (
    EXIT_GATE_FAILED,
    EXIT_INTERNAL,
    EXIT_PASSED,
)
from ragtriage.options import comparison_apart, format_shown, leakage_options, options_from
from ragtriage.runner import runner_apart
from ragtriage.version import __version__

_OBJECTS = 250_000
# Threads that hand work to polars wait less for the one that looks lines through.
_SWITCH_SECONDS = 1e-4


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run the command line and exit with its code; a user's mistake shows no traceback."""
    command = (sys.argv[1:] if arguments is None else arguments)[:1]
    keep_freed_pages("".join(command))
    # Nothing here multiplies matrices; a process with a thread for it cannot be forked.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # Libraries make hundreds of thousands of objects that stay: to look them through takes time.
    gc.set_threshold(_OBJECTS)
    sys.setswitchinterval(_SWITCH_SECONDS)
    code = run(arguments)
    # Nor are they looked through once more when the process ends anyway.
    gc.freeze()
    sys.exit(code)


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
        say("interrupted")
        return EXIT_INTERNAL
    except BrokenPipeError:
        # Whoever read our output has gone; the run itself is complete.
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - kept until exit
        return EXIT_INTERNAL
    except BaseException as error:  # noqa: BLE001 - the last resort: exit code 3 and all we know
        return told(error)
    return EXIT_PASSED if code is None else int(code)


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, message="%(prog)s %(version)s")
def cli() -> None:
    """Says, case by case, which part of a retrieval-augmented assistant broke.

    Reads recorded cases, holds them against their schema, computes metrics, finds the stage at
    which each case broke, and writes Parquet, HTML, Markdown and JSON. No model call, no network.
    """


@cli.command()
@evaluate_options
def evaluate(**flags: Any) -> int:
    """Evaluate recorded cases and say where each one broke.

    INPUT: JSON lines, JSON, CSV, TSV or Parquet; files, folders, globs, or - for standard input.
    Exit code 0: all gates hold; 1: one failed; 2: arguments or input; 3: internal error.
    """
    from ragtriage.cli_runs import evaluated
    from ragtriage.request import build_request

    under_prefect = flags.pop("prefect")
    with telling(flags) as told:
        options = options_from(flags)
        told.settle(options)
        runner = runner_apart(options, prefect=under_prefect)
        options, against = comparison_apart(options)
        return evaluated(told, build_request(options), against, runner)


@cli.command()
@compare_options
def compare(**flags: Any) -> int:
    """Compare two runs: which cases regressed, then what moved in the means.

    BASE and CANDIDATE: folders of finished runs, or inputs, which are evaluated first.
    Exit code 0: all gates hold and nothing measured was lost; 1: not so; 2: arguments, input, or
    runs that cannot be compared; 3: internal error.
    """
    from ragtriage.comparing import compare_request
    from ragtriage.comparison.request import build_compare_request

    under_prefect = flags.pop("prefect")
    with telling(flags) as told:
        options = options_from(flags)
        told.settle(options)
        request = build_compare_request(options)
        if under_prefect:
            from ragtriage.flows.server import compare_under_prefect

            return told.comparison(*compare_under_prefect(request))
        done = compare_request(request, progress=progress())
        return told.comparison(done.report, done.path)


@cli.command()
@input_options
def validate(**flags: Any) -> int:
    """Check an input and write nothing: exit code 0 or 2."""
    from ragtriage.pipeline import check_request, system_requests
    from ragtriage.publish.escape import visible
    from ragtriage.request import build_request

    options = options_from(flags) | {"write": False}
    for name in TOLD:
        options.pop(name, None)
    for each in system_requests(build_request(options)):
        lines = check_request(each, progress=progress())
        whose = "" if each.system is None else f"{visible(each.system)}: "
        print_report(
            f"{whose}{lines.read:,} lines read: {lines.accepted:,} accepted, "
            f"{lines.set_aside:,} set aside, {lines.blank:,} blank\n"
        )
    return EXIT_PASSED


@cli.command()
@agreement_options
def agreement(**flags: Any) -> int:
    """Say how far reviewers agree, and judges with what reviewers settled.

    REVIEWS: one label a row (case, claim, passage, reviewer, kind, label, note); JSON lines, JSON,
    CSV, TSV or Parquet; files, folders, globs, or - for standard input.
    Exit code 0: measured; 2: arguments or input; 3: internal error.
    """
    from ragtriage.agreement_request import build_agreement_request
    from ragtriage.agreement_run import run_agreement
    from ragtriage.publish.agreement.formats import render

    shown = format_shown(flags.pop("format_"))
    options = {name: value for name, value in flags.items() if value is not None}
    options["write"] = not options.pop("no_write")
    found = run_agreement(build_agreement_request(options))
    print_report(render(found.report, shown, color=shows_color(sys.stdout)))
    say_where(found.path)
    return EXIT_PASSED


@cli.command()
@click.argument("directory", metavar="DIR")
def history(directory: str) -> int:
    """Write DIR/index.html: all runs of DIR over time, on one page.

    DIR: the folder that runs are written to. Metrics by slice, stages, gates, the newest
    regressions, a link to each report; folders that are no finished run are listed with the reason.
    Exit code 0: written; 2: DIR has no run, or its index.html is not ours; 3: internal error.
    """
    from ragtriage.history_run import build_history
    from ragtriage.publish.history import words

    built = build_history(directory)
    print_report(words.told(built.document))
    say(f"history: {built.path}")
    return EXIT_PASSED


@cli.command()
@click.argument("directory", metavar="DIR", default="reports")
@click.option(
    "--port", type=click.IntRange(1, 65535), default=8501, metavar="N", help="On 127.0.0.1 [8501]."
)
def dashboard(directory: str, port: int) -> None:
    """Browse the runs of DIR: slice, stage, case, and each case's evidence path.

    DIR: the folder that runs are written to [reports/]. Needs the extra: ragtriage[dashboard].
    Serves on this machine alone until it is interrupted. Exit code 2: Streamlit is not installed,
    no such folder, the port is taken.
    """
    from ragtriage.dashboard import launch

    launch.check(directory, port)
    say(f"dashboard: http://{launch.ADDRESS}:{port} (Ctrl-C ends it)")
    launch.start(directory, port)


@cli.command()
@click.argument("run", metavar="RUN")
@click.option(
    "--out", default="reports", metavar="DIR", help="Where an ID is looked for [reports/]."
)
@click.option("--force", is_flag=True, help="Also a run whose gates failed.")
def accept(run: str, out: str, *, force: bool) -> int:
    """Mark a run as the accepted one, in accepted.json beside its folder.

    RUN: a finished run's folder, or its ID in --out. Nothing in the run's folder is changed.
    Exit code 0: accepted; 2: no finished run, or its gates failed and --force is not given.
    """
    from ragtriage.accepting import accept_run

    accepted = accept_run(run, out=out, force=force)
    before = f", before it {accepted.previous}" if accepted.previous else ""
    failed = "" if accepted.passed else ", although its gates failed"
    print_report(f"accepted: {accepted.run_id}{failed}{before}\n")
    return EXIT_PASSED


@cli.command(cls=ManyAgainst)
@leakage_flags
def leakage(**flags: Any) -> int:
    """Say what the splits of a set share with each other and with prompts.

    CASES: labelled cases with `split`; JSON lines, JSON, CSV, TSV or Parquet; files, folders,
    globs, or - for standard input.
    Exit code 0: at most --max findings; 1: more; 2: arguments or input; 3: internal error.
    """
    from ragtriage.leakage_request import build_leakage_request
    from ragtriage.leakage_run import run_leakage
    from ragtriage.publish.leakage import wording
    from ragtriage.publish.leakage.formats import render

    options = leakage_options(flags)
    shown = format_shown(options.pop("format", None))
    found = run_leakage(build_leakage_request(options))
    print_report(render(found.report, shown, color=shows_color(sys.stdout)))
    say_mapping({**found.report["run"], "notes": []})
    say_where(found.path)
    failure = wording.failure(found.report)
    if failure is not None:
        say(failure)
    return EXIT_PASSED if failure is None else EXIT_GATE_FAILED


@cli.command()
@click.option("--example", metavar="CONTRACT", help="Print a starter file for a contract.")
@click.option(
    "--format",
    "format_",
    default="text",
    metavar="text|json|markdown|sql|formats",
    help="How, or which.",
)
def schema(example: str | None, format_: str) -> int:
    """Print what may be read and what is written, from the models themselves.

    As text or JSON: inputs, contracts, rules, tables and metrics. As markdown: the written tables,
    for those who build dashboards on them. As sql: DuckDB views over reports/*/.
    As formats: the presets that read other tools' files.
    """
    from ragtriage.publish import contract

    if format_ not in contract.FORMATS:
        raise click.UsageError(f"--format: {format_!r} is not one of {', '.join(contract.FORMATS)}")
    print_report(contract.printed(format_) if example is None else contract.example(example))
    return EXIT_PASSED


for command in (explain, reference, inspect, convert):
    cli.add_command(command)


if __name__ == "__main__":
    main()
