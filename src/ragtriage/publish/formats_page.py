"""The presets as a page of documentation: `ragtriage schema --format formats`."""

from __future__ import annotations

from ragtriage.read.presets import PRESETS, Preset, preset

_HEAD = """\
# Formats of other tools

What `--from PRESET` reads, and how. Made from the presets themselves; do not edit it, but run
`ragtriage schema --format formats > docs/formats.md`.

- **Which one?** `ragtriage inspect FILE` tries them all on the first records, says what would be
  observed, and prints the command.
- **Roles.** A positional input holds everything; `--cases` and `--trace` are joined by case ID.
  `--from` holds for both, `--cases-from`, `--trace-from` and `--corpus-from` for one of them.
- **Mapping.** `--map their.path=our_field`, or `--map-file FILE.toml` with lines
  `"their.path" = "our_field"`, goes over what a preset takes. `a.b` leads into objects, `a[0]` to
  an item, `a[].b` gathers over a list. In a JSON document whose paths all begin with the same
  `list[].`, each item of that list is a record. A path without `--from` reads as `records`.
- **IDs** become text exactly as they are written: integers of any size, `1.50`, `007`.
- **Lists** in one text are JSON, a Python literal (parsed, never evaluated), or items between
  `--list-separator`. What only looks like a list is rejected: `[0x10]`, or `['a' 'b']` as numpy
  prints arrays.
- **No case ID?** It is made from the question, the same in every file; `--id-from question` makes
  it so also where there is one, to join traces that know no case ID. Without a question the row's
  number is the ID, and joins nothing: as `--cases` or `--trace` such a row is rejected.
- **Texts instead of IDs.** `--text-ids CORPUS` gives each exact text the ID it has there. A text
  that is not there, or stands there under two IDs, is rejected.
- **Several systems** in one file: a run each, in `RUN-ID-SYSTEM/`, the worst exit code of all; or
  `--system NAME`. Repeated trials of one case are refused: keep one of them.
- **Memory.** Records stream through as in our own formats; `llamaindex`, `openinference`, `trec`
  and `beir` hold a file's records at once, since a data set is one object, and spans of a trace or
  rows of a topic may lie anywhere.
- **Rejected** (`unmapped`) is every record that cannot be mapped, or that has no key its preset
  knows, with its line and reason. The manifest has the presets under `presets`, and counts under
  `dropped` what nobody asked for; `convert` says the same on stderr.
- **Ours in the end.** `ragtriage convert IN --from PRESET --out cases.jsonl` writes our records.
"""


def page() -> str:
    """The whole page."""
    found = [preset(name) for name in PRESETS]
    rows = [f"| [`{each.name}`](#{each.name}) | {each.about} | {_roles(each)} |" for each in found]
    table = ["| preset | what it is | given as |", "| --- | --- | --- |", *rows]
    return "\n".join([_HEAD, *table, "", *(_section(each) for each in found)])


def _section(each: Preset) -> str:
    lines = [
        f"## {each.name}",
        "",
        f"{each.about[:1].upper()}{each.about[1:]}.",
        "",
        f"- **Layout**: {each.layout}",
        f"- **Gives**: {each.maps_to}",
    ]
    lines += [f"- {quirk[:1].upper()}{quirk[1:]}." for quirk in each.quirks]
    if each.missing_trace is not None:
        lines.append(f"- A case without a trace: `--missing-trace {each.missing_trace}`.")
    return "\n".join([*lines, ""])


def _roles(each: Preset) -> str:
    names = {"records": "input", "cases": "`--cases`", "trace": "`--trace`", "corpus": "`--corpus`"}
    return ", ".join(names[role] for role in each.roles)
