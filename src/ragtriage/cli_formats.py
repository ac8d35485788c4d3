"""Flags that say how other people's files are laid out. No command is defined here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from ragtriage.option_words import WORDS

FORMAT_OPTIONS: list[Callable[..., Any]] = [
    click.option("--from", "from_", metavar="PRESET", help=WORDS["from"]),
    click.option("--cases-from", metavar="PRESET", help=WORDS["cases_from"]),
    click.option("--trace-from", metavar="PRESET", help=WORDS["trace_from"]),
    click.option("--corpus-from", metavar="PRESET", help=WORDS["corpus_from"]),
    click.option("--system", metavar="NAME", help=WORDS["system"]),
    click.option("--map-file", metavar="FILE.toml", help=WORDS["map_file"]),
    click.option("--list-separator", metavar="TEXT", help=WORDS["list_separator"]),
    click.option("--id-from", metavar="id|question", help=WORDS["id_from"]),
    click.option("--text-ids", multiple=True, metavar="CORPUS", help=WORDS["text_ids"]),
    click.option("--trec-order", metavar="score|rank", help=WORDS["trec_order"]),
    click.option("--qrels-split", metavar="NAME", help=WORDS["qrels_split"]),
]
