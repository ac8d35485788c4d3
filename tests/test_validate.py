"""Frames against the model: which rows break which rule, and never a row too many."""

from __future__ import annotations

import json
from typing import Any

import pandera.polars as pa
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pandera.api.polars.types import PolarsData

from ragtriage.read.chunk import Chunk, RowFault
from ragtriage.schemas.contracts import CONTRACTS
from ragtriage.schemas.inputs import CaseRows, Cases, dtypes
from ragtriage.validate import Validator
from tests.read.support import examples, read
from tests.support import Command, Record, Writer, lines_of, manifest_of

Broken = list[tuple[str, str, str]]


def check(
    records: list[Record], contract: str | None = None, model: type[pa.DataFrameModel] = CaseRows
) -> tuple[list[str], Broken]:
    """IDs of the rows accepted, and (ID, field, rule) of every fault."""
    found = read(lines_of(records).encode())
    assert not found.faults
    (chunk,) = found.chunks
    rows, faults = Validator(model, CONTRACTS[contract] if contract else None, {}).check(chunk)
    for fault in faults:
        assert json.loads(fault.raw)["case_id"] == fault.case_id
    return rows["case_id"].to_list(), [(f.case_id or "", f.field, f.rule) for f in faults]


def one(**fields: Any) -> Record:
    return {"case_id": "x", **fields}


GRADE_2 = [{"id": "a", "grade": 2}]
VALUES: list[tuple[Record, set[tuple[str, str]]]] = [
    (one(), set()),
    (one(case_id=""), {("case_id", "blank-id")}),
    (one(case_id=" \t"), {("case_id", "blank-id")}),
    (one(case_id=" x"), {("case_id", "id-whitespace")}),
    (one(case_id="x y"), set()),
    (one(case_id="x\u200b"), {("case_id", "id-whitespace")}),
    (one(case_id="x\x00y"), {("case_id", "id-whitespace")}),
    (one(case_id="x\ny"), {("case_id", "id-whitespace")}),
    (
        one(retrieved_ids=["a", " ", "b "]),
        {("retrieved_ids", r) for r in ("blank-id", "id-whitespace")},
    ),
    (one(required_groups=[["a"], []]), {("required_groups", "group-empty")}),
    (one(required_groups=[["a", ""]]), {("required_groups", "blank-id")}),
    (one(required_groups=[]), set()),
    (one(grades=[{"id": "a\u2028", "grade": 1}]), {("grades", "id-whitespace")}),
    (one(grades=GRADE_2 * 2), set()),
    (one(grades=[*GRADE_2, {"id": "a", "grade": 1}]), {("grades", "grade-conflict")}),
    (one(required_ids=["a"], grades=[{"id": "a", "grade": 0}]), {("grades", "grade-conflict")}),
    (
        one(required_groups=[["a", "b"]], grades=[{"id": "b", "grade": -1}]),
        {("grades", "grade-conflict")},
    ),
    (one(required_ids=["a"], grades=[{"id": "b", "grade": 0}]), set()),
    (one(claims=[{"claim_id": "c", "supported": True}] * 2), {("claims", "duplicate-claim-id")}),
    (one(claims=[{"claim_id": "c"}]), {("claims", "missing-claim-label")}),
    (
        one(claims=[{"claim_id": "c", "supported": False, "cited_ids": [" "]}]),
        {("claims", "blank-id")},
    ),
    (one(claims=[]), set()),
    (one(weight=0), {("weight", "weight")}),
    (one(weight=-0.0), {("weight", "weight")}),
    (one(weight=-1e-300), {("weight", "weight")}),
    (one(weight=5e-324), set()),
    (one(answerable=False, required_ids=["a"]), {("answerable", "unanswerable-with-required")}),
    (one(answerable=False, required_ids=[], required_groups=[]), set()),
    (one(answerable=False, grades=GRADE_2), {("answerable", "unanswerable-with-required")}),
    (one(answerable=False, required_ids=[], grades=GRADE_2), set()),
    (one(answerable=False, grades=[{"id": "a", "grade": 0}]), set()),
    (one(answerable=True, required_ids=[]), {("answerable", "required-empty")}),
    (one(answerable=True, required_ids=None), {("answerable", "required-empty")}),
    (one(answerable=True, grades=[{"id": "a", "grade": 0}]), {("answerable", "required-empty")}),
    (one(answerable=True), set()),
    (one(answerable=None, required_ids=[]), set()),
    (one(tags=["", " x"], expected_answers=[""]), set()),
]


@pytest.mark.parametrize(("record", "expected"), VALUES)
def test_rules_of_value(record: Record, expected: set[tuple[str, str]]) -> None:
    accepted, faults = check([record])
    assert {(field, rule) for _, field, rule in faults} == expected
    assert len(faults) == len(expected)
    assert accepted == ([] if expected else [record["case_id"]])


@examples(40)
@given(st.lists(st.sampled_from(range(len(VALUES))), min_size=1, max_size=12))
def test_the_row_that_is_blamed_is_the_one_at_fault(picked: list[int]) -> None:
    # Every list in every record: else the reader would speak first.
    lists = {"required_ids", "required_groups", "grades", "claims", "retrieved_ids"}
    blank = dict.fromkeys(lists)
    records, expected = [], set()
    for place, number in enumerate(picked):
        record, faults = VALUES[number]
        if record["case_id"] != "x" or record == one(answerable=True):
            record, faults = one(), set()
        records.append({**blank, **record, "case_id": f"c{place}"})
        expected |= {(f"c{place}", field, rule) for field, rule in faults}
    accepted, faults = check(records)
    assert set(faults) == expected
    assert [fault[0] for fault in faults] == sorted(
        (f[0] for f in faults), key=lambda i: int(i[1:])
    )
    assert accepted == [
        r["case_id"] for r in records if r["case_id"] not in {e[0] for e in expected}
    ]


FULL = one(
    **{name: [] for name in ("required_ids", "context_ids", "retrieved_ids", "cited_ids")},
    **dict.fromkeys(("question", "split", "answer"), "q"),
    required_claims=[],
    claims=[],
    expected_answers=[],
)


@pytest.mark.parametrize("contract", CONTRACTS)
def test_contracts_require_their_fields_on_every_row(contract: str) -> None:
    rules = CONTRACTS[contract]
    must = [f for f in rules.requires if f not in (*rules.may_be_null, "case_id")]
    assert check([FULL], contract) == (["x"], [])
    for field in must:
        null = {**FULL, "case_id": "null", field: None}
        assert check([FULL, null], contract) == (["x"], [("null", field, "missing-field")])
        gone = {name: value for name, value in FULL.items() if name != field}
        assert check([gone], contract) == ([], [("x", field, "missing-field")])
    for field in rules.may_be_null:
        assert check([{**FULL, field: None}], contract)[0] == ["x"]
        gone = {name: value for name, value in FULL.items() if name != field}
        assert check([gone], contract) == ([], [("x", field, "missing-field")])
    if rules.any_of:
        other = {name: value for name, value in FULL.items() if name != "required_ids"}
        assert check([{**other, "grades": []}], contract)[0] == ["x"]
        assert check([other], contract) == ([], [("x", rules.any_of[0], "missing-field")])


def test_blank_ambiguity_and_error_are_unset() -> None:
    found = read(
        lines_of([one(error=" \t", ambiguity=""), one(error="x", ambiguity=" y")]).encode()
    )
    rows, _ = Validator(CaseRows, None, {}).check(found.chunks[0])
    assert rows["error"].to_list() == [None, "x"]
    assert rows["ambiguity"].to_list() == [None, " y"]


def test_no_rows_at_all() -> None:
    chunk = Chunk(pl.DataFrame(schema=dtypes(CaseRows)), [], [], lambda _record: "")
    rows, faults = Validator(CaseRows, CONTRACTS["answer"], {"a": ("f", 1)}).check(chunk)
    assert (rows.height, faults) == (0, [])


def test_a_fault_of_one_record_accuses_no_other_of_its_line() -> None:
    found = read(
        b'[{"case_id": "a", "zzz": 1}, {"case_id": "b"}, {"case_id": "c", "weight": 0}]', "in.json"
    )
    rows, faults = Validator(CaseRows, None, {}).check(found.chunks[0])
    assert rows["case_id"].to_list() == ["b"]
    assert [(f.record, f.rule) for f in faults] == [(1, "unknown-field"), (3, "weight")]
    assert json.loads(faults[1].raw) == {"case_id": "c", "weight": 0}


def test_records_of_one_line_are_counted_one_by_one(cli: Command, written: Writer) -> None:
    path = written('[{"case_id": "a", "weight": 0}, {"case_id": 1}, {"case_id": "b"}]', "in.json")
    options = ("--on-invalid", "quarantine", "--out", path.parent, "--run-id", "r")
    assert cli("evaluate", path, *options).code == 0
    lines = manifest_of(path.parent / "r")["lines"]
    assert lines == {"read": 3, "accepted": 1, "set_aside": 2, "blank": 0}


class Raising(CaseRows):
    """A rule that cannot be checked."""

    @pa.check("case_id", title="type", error="broken")
    def raises(cls, data: PolarsData) -> pl.LazyFrame:  # noqa: N805
        return data.lazyframe.select(pl.col("no such column"))


class Shorter(CaseRows):
    """A rule that gives fewer verdicts than there are rows."""

    @pa.check("case_id", title="type", error="broken")
    def shorter(cls, data: PolarsData) -> pl.LazyFrame:  # noqa: N805
        return data.lazyframe.filter(pl.col("case_id") != "x").select(pl.lit(False))


class Wordless(CaseRows):
    """A rule without an ID."""

    @pa.check("case_id")
    def wordless(cls, data: PolarsData) -> pl.LazyFrame:  # noqa: N805
        return data.lazyframe.select(pl.col("case_id") == "no")


class Narrower(Cases):
    """Fewer columns than the rows have."""


@pytest.mark.parametrize("model", [Raising, Shorter, Wordless, Narrower])
def test_a_rule_that_is_broken_itself_blames_no_row(model: type[pa.DataFrameModel]) -> None:
    with pytest.raises(AssertionError, match=r"could not be checked|verdicts on 2 rows"):
        check([one(), one(case_id="y")], model=model)


def test_a_broken_rule_is_an_internal_error(
    cli: Command, written: Writer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ragtriage.admission.CaseRows", Raising)
    shown = cli("validate", written([one()]))
    assert shown.code == 3
    assert "internal error" in shown.err
    assert ":1: " not in shown.err.split("Traceback")[0]


def test_a_rule_is_told_once_a_row_whatever_its_columns() -> None:
    fault = RowFault("f", 1, 1, "a", "x", "type", "text", "raw")
    chunk = Chunk(pl.DataFrame(schema=dtypes(CaseRows)), [fault, fault], [], lambda _record: "")
    _, faults = Validator(CaseRows, None, {"a": ("f", 1)}).check(chunk)
    assert [f.rule for f in faults] == ["type", "type", "duplicate-case-id"]
