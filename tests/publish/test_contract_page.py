"""The printed contract: committed files equal what the models say, nothing is left unsaid."""

from __future__ import annotations

import pandera.polars as pa
import pytest

from ragtriage.metrics import REGISTRY
from ragtriage.publish.contract import TABLES
from ragtriage.schemas import agreement, results
from ragtriage.schemas.inputs import CASE_FIELDS, dtypes, infos
from tests.support import ROOT, Command

OURS = [
    model for model in TABLES.values() if model.__module__ in (results.__name__, agreement.__name__)
]


@pytest.mark.parametrize(
    ("format_", "file"),
    [
        ("markdown", "docs/output-contract.md"),
        ("sql", "sql/views.sql"),
        ("formats", "docs/formats.md"),
    ],
)
def test_the_committed_file_is_what_is_printed(cli: Command, format_: str, file: str) -> None:
    done = cli("schema", "--format", format_)
    assert done.code == 0, done.err
    assert (ROOT / file).read_text("utf-8") == done.out, (
        f"run: ragtriage schema --format {format_} > {file}"
    )


def test_every_column_of_every_table_has_its_row(cli: Command) -> None:
    page = cli("schema", "--format", "markdown").out
    for name, model in TABLES.items():
        section = page.partition(f"\n## {name}\n")[2].partition("\n## ")[0]
        rows = [line.split(" | ") for line in section.splitlines() if line.startswith("| `")]
        assert {row[0].strip("| `") for row in rows} == set(dtypes(model))
        assert all(len(row) == 4 and all(cell.strip(" |") for cell in row) for row in rows)
    metrics = page.partition("\n## Metrics\n")[2]
    assert all(f"\n| `{name}` | " in metrics for name in REGISTRY)


def test_no_two_tables_share_a_file_name() -> None:
    # `DIR/*/NAME.parquet` is read over folders of every kind.
    files = [str(model.__doc__).partition(".parquet")[0].strip("`") for model in TABLES.values()]
    assert len(files) == len(set(files)) == len(TABLES)


@pytest.mark.parametrize("model", OURS)
def test_null_is_explained_wherever_it_can_stand(model: type[pa.DataFrameModel]) -> None:
    about = infos(model)
    for name, column in model.to_schema().columns.items():
        if column.nullable and not (model is results.CaseResults and name in CASE_FIELDS):
            assert about[name].null or "null" in about[name].about, name
        else:
            assert not about[name].null, name


def test_an_unknown_format_is_refused(cli: Command) -> None:
    cli("schema", "--format", "yaml").refuses("--format", "text, json, markdown, sql")
