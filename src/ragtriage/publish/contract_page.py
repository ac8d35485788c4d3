"""The written tables as a page of documentation: `ragtriage schema --format markdown`."""

from __future__ import annotations

import inspect
from collections.abc import Iterable

import pandera.polars as pa

from ragtriage.metrics import REGISTRY
from ragtriage.metrics.registry import Column, Metric
from ragtriage.publish.contract import TABLES, null_meaning, type_name
from ragtriage.publish.tables import case_schema
from ragtriage.schemas.inputs import CASE_FIELDS, dtypes, infos
from ragtriage.schemas.results import SCHEMA_VERSION
from ragtriage.schemas.texts import WITHOUT_TEXT

_HEAD = f"""\
# The output contract

What every table holds that ragtriage writes: **schema version {SCHEMA_VERSION}**. Made from the
models that each table is checked against; do not edit it, but run
`ragtriage schema --format markdown > docs/output-contract.md`.

- **Versions.** A change of a column's name, type or meaning raises the schema version, which
  stands in every `manifest.json` as `schema_version`. A further table, column or metric does not:
  read columns by name, never by place, and let unknown ones be. Runs of several versions may stand
  in one folder; take those whose version you know, as the views in `sql/views.sql` do.
- **Folders.** `DIR/<run_id>/` is a run. `DIR/compare-…/`, `DIR/agreement-…/` and `DIR/leakage-…/`
  are reports on runs, reviews and splits: their manifest has a `kind`, a run's has none, and of
  their tables only `rejects/` has the name of a run's, and its columns. A folder appears whole or
  not at all, so `DIR/*/summary.parquet` may be read at any moment. What is being written is deeper,
  in `DIR/.unfinished/`. `DIR/accepted.json` names the accepted run, `DIR/index.html` is the
  history.
- **Run.** Every table begins with `run_id`, the name of its folder.
- **Null** is undefined, not observed or not given, and never 0. Divide by the counts that stand
  beside a number. Counts are of cases unless said otherwise; rates are 0 to 1.
- **Texts.** With `--no-text` the columns that say so hold none: questions, answers, claims, notes
  and raw records are in no file of the folder, in its reports, or in a message. IDs, labels, names
  (of fields, splits, tags, groups, reviewers, files), numbers and what `--about` says stay.
"""

_METRICS = """\
## Metrics

Rows of `summary.parquet` (`metric`, `k`), and columns of `cases/part-*.parquet` between
`query_rewrite` and `stage`: `name`, or `name_at_k` for each cutoff of the run. A ratio has
`…_numerator` and `…_denominator` beside it. A metric that the input does not allow has no rows in
the summary and is null in every case, as is any metric of a case that failed or is ambiguous, but
for the `unauthorized_…` counts.
"""


def page() -> str:
    """The whole page, as Markdown."""
    parts = [_HEAD]
    parts += [_table(name, model) for name, model in TABLES.items()]
    parts.append(_METRICS)
    heads = ("Metric", "Type", "Cutoff", "Better", "Value", "Formula, range, empty case")
    parts.append(_rows(heads, map(_metric, REGISTRY.values())))
    return "\n".join(parts)


def _table(name: str, model: type[pa.DataFrameModel]) -> str:
    about = inspect.cleandoc(model.__doc__ or "")
    types, meanings = dtypes(model), infos(model)
    nullable = {column: found.nullable for column, found in model.to_schema().columns.items()}
    rows = (
        (
            f"`{column}`",
            f"`{type_name(dtype)}`",
            meanings[column].about,
            _null(name, column, null_meaning(meanings[column], nullable=nullable[column])),
        )
        for column, dtype in (case_schema([]) if name == "cases" else types).items()
    )
    heads = ("Column", "Type", "Meaning", "Null")
    return f"## {name}\n\n{about}\n\n{_rows(heads, rows)}"


def _null(table: str, column: str, meaning: str | None) -> str:
    if table == "cases" and column in CASE_FIELDS and meaning is not None:
        # A field of the input, as given.
        meaning = "not given" if meaning.startswith("not given") else meaning
    without = WITHOUT_TEXT.get(table, {}).get(column)
    return (meaning or "never") + (f"; {without}" if without else "")


def _metric(metric: Metric) -> tuple[str, ...]:
    first, _, rest = inspect.cleandoc(metric.formula.__doc__ or "").partition("\n")
    column = Column(metric, None)
    cutoffs = {"at_k": "at each k", "uncut": "none", "both": "none and each k"}
    return (
        f"`{metric.name}`",
        f"{metric.kind}, `{type_name(column.schema[column.name])}`",
        cutoffs[metric.cutoff],
        metric.better,
        first,
        " ".join(rest.split()),
    )


def _rows(heads: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [heads, ("---",) * len(heads), *rows]
    return "".join(f"| {' | '.join(map(_cell, line))} |\n" for line in lines)


def _cell(text: str) -> str:
    if text.startswith("`") and text.endswith("`"):
        return text
    return text.replace("|", r"\|").replace("<", "&lt;").replace("*", r"\*")
