"""Parquet files and frames: columns against the model, rows by number."""

from __future__ import annotations

import io
import os
import random
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import ragtriage
from ragtriage.errors import InputError, NoRoomError
from ragtriage.read import chunk, tables
from ragtriage.schemas.inputs import Cases, dtypes
from tests.read.support import Read, read, read_frame

IDS = {"case_id": ["a", "b"]}
GRADE = pl.Struct({"grade": pl.Int32, "id": pl.Categorical})


def parquet(frame: pl.DataFrame) -> bytes:
    target = io.BytesIO()
    frame.write_parquet(target)
    return target.getvalue()


@pytest.fixture(params=["frame", "parquet"])
def taken(request: pytest.FixtureRequest) -> Any:
    """Reads a frame as it is, or by way of a Parquet file."""

    def take(frame: pl.DataFrame, **options: Any) -> Read:
        if request.param == "frame":
            return read_frame(frame, **options)
        return read(parquet(frame), "in.parquet", **options)

    return take


TEXT = pl.Enum(["a", "b", "x", "y"])
GOOD_COLUMNS: dict[str, tuple[str, list[Any], Any, list[Any] | None]] = {
    # field, values, stored as, read as (None: the same)
    "categorical": ("question", ["x", None], pl.Categorical, None),
    "enum": ("question", ["x", None], TEXT, None),
    "null-text": ("question", [None, None], pl.Null, None),
    "null-list": ("retrieved_ids", [None, None], pl.Null, None),
    "null-claims": ("claims", [None, None], pl.Null, None),
    "null-scalar": ("reference", [None, None], pl.Null, [[], []]),
    "list-null": ("retrieved_ids", [[], None], pl.List(pl.Null), None),
    "list-null-item": ("retrieved_ids", [[None], []], pl.List(pl.Null), None),
    "list-categorical": ("retrieved_ids", [["x", "x"], None], pl.List(pl.Categorical), None),
    "groups-enum": ("required_groups", [[["x"], []], None], pl.List(pl.List(TEXT)), None),
    "groups-null": ("required_groups", [[], None], pl.List(pl.Null), None),
    "int8": ("weight", [1, None], pl.Int8, [1.0, None]),
    "uint64": ("weight", [2**64 - 1, None], pl.UInt64, [2.0**64, None]),
    "float32": ("weight", [0.5, None], pl.Float32, None),
    "grades-int32-reordered": (
        *("grades", [[{"id": "x", "grade": 3}, {"id": "y", "grade": -1}], None]),
        *(pl.List(GRADE), None),
    ),
    "grades-uint64": (
        *("grades", [[{"id": "x", "grade": 2**63 - 1}], []]),
        *(pl.List(pl.Struct({"id": pl.String, "grade": pl.UInt64})), None),
    ),
    "claims-without-members": (
        *("claims", [[{"claim_id": "x"}], [None]]),
        pl.List(pl.Struct({"claim_id": pl.String})),
        [[{"claim_id": "x", "supported": None, "cited_ids": None, "text": None}], [None]],
    ),
    "scalar-text": ("expected_answer", ["x", None], pl.String, [["x"], []]),
    "scalar-list": ("expected_answer", [["x", "y"], None], pl.List(pl.String), [["x", "y"], []]),
    "list-of-answers": ("expected_answers", [["x"], None], pl.List(pl.String), None),
}


@pytest.mark.parametrize("kind", GOOD_COLUMNS)
def test_columns_that_are_taken(taken: Any, kind: str) -> None:
    name, values, dtype, expected = GOOD_COLUMNS[kind]
    field = "expected_answers" if name in ("reference", "expected_answer") else name
    found = taken(pl.DataFrame({name: pl.Series(values, dtype=dtype, strict=False), **IDS}))
    assert not found.faults
    assert found.frame.schema[field] == dtypes(Cases)[field]
    assert found.frame[field].to_list() == (values if expected is None else expected)
    assert found.frame["case_id"].to_list() == ["a", "b"]
    assert found.lines == [1, 2]


WRONG: dict[str, tuple[Any, Any, str]] = {
    "case_id": ([1, 2], pl.Int64, "type"),
    "question": ([b"x", b"y"], pl.Binary, "type"),
    "split": ([1, 2], pl.Int64, "type"),
    "tags": (["x", "y"], pl.String, "type"),
    "weight": (["1", "2"], pl.String, "type"),
    "answerable": ([1, 0], pl.Int8, "answer-label"),
    "answer_correct": (["yes", "no"], pl.String, "answer-label"),
    "required_ids": (["x", "y"], pl.String, "type"),
    "retrieved_ids": ([[1], [2]], pl.List(pl.Int64), "type"),
    "context_ids": ([["x"], ["y"]], pl.Array(pl.String, 1), "type"),
    "required_groups": ([["x"], ["y"]], pl.List(pl.String), "type"),
    "grades": (
        *(
            [[{"id": "x", "grade": 1.0}], []],
            pl.List(pl.Struct({"id": pl.String, "grade": pl.Float64})),
        ),
        "type",
    ),
    "claims": (
        *(
            [[{"claim_id": "x", "why": 1}], []],
            pl.List(pl.Struct({"claim_id": pl.String, "why": pl.Int8})),
        ),
        "type",
    ),
}


@pytest.mark.parametrize("field", WRONG)
def test_a_wrong_column_is_one_fault_of_the_file(taken: Any, field: str) -> None:
    values, dtype, rule = WRONG[field]
    with pytest.raises(InputError) as refused:
        taken(pl.DataFrame({**IDS, field: pl.Series(values, dtype=dtype)}))
    (line,) = str(refused.value).splitlines()
    assert f": {field}: the column is " in line
    assert line.endswith(f"; cast it [{rule}]")


def test_all_wrong_columns_are_told_at_once(taken: Any) -> None:
    frame = pl.DataFrame({"weight": ["x"], "zzz": [1], "id": ["a"], "qid": ["a"]})
    with pytest.raises(InputError) as refused:
        taken(frame)
    told = [line.rpartition("[")[2] for line in str(refused.value).splitlines()]
    assert told == ["type]", "unknown-field]", "duplicate-key]"]


def test_a_grade_beyond_64_bits(taken: Any) -> None:
    grades = pl.Series(
        [[{"id": "x", "grade": 2**63}]],
        dtype=pl.List(pl.Struct({"id": pl.String, "grade": pl.UInt64})),
    )
    with pytest.raises(InputError, match=r"\[type\]$"):
        taken(pl.DataFrame({"case_id": ["a"], "grades": grades}))


def test_unknown_columns(taken: Any) -> None:
    frame = pl.DataFrame({**IDS, "retreived_ids": [["x"], []], "extra": [1, 2]})
    with pytest.raises(InputError, match=r"did you mean `retrieved_ids`.*\n.*extra: not a known"):
        taken(frame)
    assert taken(frame, extra="ignore").rows == [{"case_id": "a"}, {"case_id": "b"}]


def test_a_column_of_any_name_is_told_on_one_line(taken: Any) -> None:
    frame = pl.DataFrame({**IDS, "a\nx: b": [1, 2], 'a"b\x1b': [1, 2]})
    with pytest.raises(InputError) as refused:
        taken(frame)
    first, second = str(refused.value).splitlines()
    assert r": 'a\nx: b': not a known field" in first
    assert r""": 'a"b\x1b': not a known field""" in second


def test_rows_without_an_id_and_tables_without_the_column(taken: Any) -> None:
    found = taken(pl.DataFrame({"case_id": ["a", None, "c"], "weight": [1.0, 2.0, 3.0]}))
    assert found.lines == [1, 3]
    assert found.places == [(2, "case_id", "missing-field")]
    assert found.faults[0].raw == '{"case_id": null, "weight": 2.0}'
    assert found.read == 3
    with pytest.raises(InputError, match=r"case_id: missing; give the column \[missing-field\]"):
        taken(pl.DataFrame({"question": ["q"]}))


def test_tags_come_before_what_joins_them(taken: Any) -> None:
    frame = pl.DataFrame(
        {
            "difficulty": ["hard", None, None, " \x1f"],
            "category": pl.Series(["x", " ", None, None], dtype=pl.Categorical),
            "slices": [["t"], None, None, None],
            "id": ["a", "b", "c", "d"],
        }
    )
    tags = [["t", "category=x", "difficulty=hard"], [], None, []]
    assert taken(frame).frame["tags"].to_list() == tags
    alone = taken(frame.select("id", "category")).frame["tags"].to_list()
    assert alone == [["category=x"], [], None, None]


def test_none_given(taken: Any) -> None:
    frame = pl.DataFrame(
        {**IDS, "source": ["p", None], "expected_answer": [None, None], "context": [[], []]}
    )
    found = taken(frame, contract="diagnosis").frame
    assert found["none_given"].to_list() == [False, True]
    assert found["required_ids"].to_list() == [["p"], []]


def test_names_that_polars_takes_for_patterns(taken: Any) -> None:
    frame = pl.DataFrame({"^.*$": ["q"], "*": ["s"], "case_id": ["a"]})
    found = taken(frame, map={"^.*$": "question", "*": "split"})
    assert found.rows == [{"question": "q", "split": "s", "case_id": "a"}]


def test_zero_rows(taken: Any) -> None:
    assert taken(pl.DataFrame(schema={"case_id": pl.String})).frame.is_empty()


def test_rows_are_numbered_through(taken: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    frame = pl.DataFrame({"case_id": [f"c{i}" if i % 10 else None for i in range(100)]})
    whole = taken(frame)
    monkeypatch.setattr(tables, "CHUNK_ROWS", 7)
    cut = taken(frame)
    assert cut.frame.equals(whole.frame)
    assert cut.faults == whole.faults
    assert cut.lines == [i + 1 for i in range(100) if i % 10]


@pytest.mark.parametrize(
    ("size", "rows", "expected"),
    [
        (0, 0, 1),
        (1_000, 4, 25_165),
        (86_000_000, 1_000_000, 50_000),
        (600_000_000, 100_000, 1_048),
        (100 << 20, 2, 1),
    ],
)
def test_a_chunk_holds_fewer_rows_where_they_are_large(size: int, rows: int, expected: int) -> None:
    assert tables.chunk_rows(size, rows) == expected


def test_large_rows_come_in_several_chunks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "CHUNK_BYTES", 20_000)
    chance = random.Random(7)  # noqa: S311 - any text that does not shrink
    frame = pl.DataFrame(
        {
            "case_id": list(map(str, range(50))),
            "question": [chance.randbytes(1_000).hex() for _ in range(50)],
        }
    )
    frame.write_parquet(tmp_path / "in.parquet")
    for given in (str(tmp_path / "in.parquet"), frame):
        run = ragtriage.evaluate(given, out=str(tmp_path / "out"), run_id=type(given).__name__)
        parts = list((run.folder / "cases").glob("part-*"))
        assert len(parts) >= 2
        assert pl.read_parquet(parts).sort("line")["case_id"].to_list() == list(map(str, range(50)))


def test_a_value_that_rows_share_is_read_for_a_few_at_a_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chunk, "READ_BYTES", 100_000)
    frame = pl.DataFrame({"case_id": list(map(str, range(50))), "question": ["x" * 10_000] * 50})
    path = tmp_path / "in.parquet"
    frame.write_parquet(path)
    assert path.stat().st_size < 10_000
    run = ragtriage.evaluate(str(path), out=str(tmp_path / "out"), run_id="r")
    parts = sorted((run.folder / "cases").glob("part-*"))
    heights = [pl.read_parquet(part).height for part in parts]
    assert sum(heights) == 50
    assert max(heights) <= 10
    assert pl.read_parquet(parts)["line"].to_list() == list(range(1, 51))


def test_a_damaged_file_is_told_or_harmless() -> None:
    content = parquet(pl.DataFrame({**IDS, "retrieved_ids": [["x"], []], "weight": [1.0, None]}))
    for damaged in (b"", b"PAR1", content[:-1], content[: len(content) // 2], b"x" * 1000):
        with pytest.raises(InputError, match=r"in\.parquet: (not a|damaged) Parquet file"):
            read(damaged, "in.parquet")
    chance = random.Random(7)  # noqa: S311 - any bytes will do
    refused = 0
    for _ in range(150):
        changed = bytearray(content)
        changed[chance.randrange(len(content))] ^= chance.randrange(1, 256)
        try:
            read(bytes(changed), "in.parquet")
        except InputError:
            refused += 1
    assert refused > 75


def test_a_file_is_not_damaged_where_the_system_gives_no_thread(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def gives_up(*_: object, **__: object) -> None:
        raise pl.exceptions.PanicException("could not spawn threads: ThreadPoolBuildError")

    data = parquet(pl.DataFrame(IDS))
    for name in ("scan_parquet", "read_parquet_schema"):
        with monkeypatch.context() as patched:
            patched.setattr(pl, name, gives_up)
            with pytest.raises(NoRoomError, match="no room for another thread"):
                read(data, "in.parquet")


def test_a_file_that_changes_while_it_is_indexed_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "in.parquet"
    columns = {"required_ids": [["x"], ["y"]], "retrieved_ids": [["x"], ["x"]]}
    pl.DataFrame(IDS | columns).write_parquet(path)
    learn = tables.TableSource.learn

    def changed_behind(source: tables.TableSource) -> Any:
        learnt = learn(source)
        pl.DataFrame({"case_id": ["a", "a"]} | columns).write_parquet(path)
        os.utime(path, ns=(0, 1_000_000_000))
        return learnt

    monkeypatch.setattr(tables.TableSource, "learn", changed_behind)
    with pytest.raises(InputError, match="changed while it was read; run again"):
        ragtriage.evaluate(path, write=False)
