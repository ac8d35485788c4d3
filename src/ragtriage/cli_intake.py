"""`inspect` and `convert`: other people's files, looked at and brought into our form."""

from __future__ import annotations

from typing import Any

import click

from ragtriage.cli_options import input_options
from ragtriage.cli_output import print_report, progress, say, say_mapping
from ragtriage.errors import EXIT_PASSED, EXIT_REFUSED, UsageError
from ragtriage.options import options_from


@click.command()
@input_options
@click.option("--out", metavar="FILE", help="The file to write: JSON lines.")
@click.option("--force", is_flag=True, help="Replace it where it is there already.")
def convert(**flags: Any) -> int:
    """Write cases as our own JSON lines, whatever they are read from.

    INPUT, --cases and --trace: as for evaluate, by preset or mapping.
    Exit code 0: written; 2: arguments or input, and nothing is written; 3: internal error.
    """
    from ragtriage.converting import convert_request
    from ragtriage.request import build_request

    out, force = flags.pop("out"), flags.pop("force")
    if not out:
        raise UsageError("--out: name the file to write, for example --out cases.jsonl")
    request = build_request(options_from(flags) | {"write": False})
    lines = convert_request(request, out, force=force, progress=progress(), tell=say_mapping)
    print_report(
        f"{lines.read:,} lines read: {lines.accepted:,} written, {lines.set_aside:,} set aside, "
        f"{lines.blank:,} blank\n"
    )
    say(f"cases: {out}")
    return EXIT_PASSED


@click.command()
@click.argument("file", metavar="FILE")
@click.option("--text-ids", multiple=True, metavar="CORPUS", help="To try texts against.")
@click.option("--format", "format_", default="text", metavar="text|json", help="What stdout shows.")
def inspect(file: str, text_ids: tuple[str, ...], format_: str) -> int:
    """Say what a file is, what it would give, and the command that evaluates it.

    FILE: anything. The first records are looked at, by every preset; nothing is written.
    Exit code 0: something fits; 2: nothing does, or the file cannot be read.
    """
    from ragtriage.inspecting import inspected, told
    from ragtriage.publish.folder import to_json

    if format_ not in ("text", "json"):
        raise UsageError(f"--format: {format_!r} is not one of text, json")
    found = inspected(file, text_ids)
    if format_ == "json":
        print_report(to_json(found.document()))
    else:
        print_report(told(found))
    return EXIT_PASSED if found.command else EXIT_REFUSED
