"""Cases, traces and reviews joined in pieces: whatever the sizes, order and hashes, the same."""

from __future__ import annotations

import random
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragtriage.admission import Admission
from ragtriage.errors import InputError
from ragtriage.read.chunk import RowFault
from ragtriage.read.pairs import Pairs
from ragtriage.read.spill import Spill
from ragtriage.request import EvaluateRequest
from ragtriage.reviews.book import ReviewBook
from ragtriage.schemas.inputs import CaseRows, dtypes
from ragtriage.schemas.reviews import ITEM
from ragtriage.tally import FileLines, Tally
from tests.read.joining import case, trace
from tests.read.pieces import tiny
from tests.strategies import TRACE_FIELDS, Fixture, Record, fixtures
from tests.support import Command, Writer, lines_of, rejects_of

# Each example is let in three times over, record by record.
pytestmark = pytest.mark.thorough

FEW = settings(max_examples=settings().max_examples // 4)
OF_A_TRACE = {*TRACE_FIELDS, "answer", "abstained", "error", "answer_correct"}


class Taken(NamedTuple):
    """What a run lets in: rows, all faults, what was said of the rows, lines and notes."""

    cases: pl.DataFrame
    faults: list[RowFault]
    reviews: list[tuple[Any, ...]]
    lines: dict[str, FileLines]
    notes: list[str]
    book: ReviewBook | None


def taken(files: dict[str, list[Record]], **options: Any) -> Taken:
    """Let in the records of these roles."""
    with tempfile.TemporaryDirectory() as name:
        given_: dict[str, tuple[str, ...]] = {}
        for role, records in files.items():
            Path(name, f"{role}.jsonl").write_text(lines_of(records), encoding="utf-8")
            given_[role] = (f"{name}/{role}.jsonl",)
        faults: list[RowFault] = []
        tally = Tally()
        admission = Admission(EvaluateRequest(**given_, **options), tally, faults.extend)
        admission.open(None, Path(name) / "spill")
        columns = list(dtypes(CaseRows))
        parts, said = [pl.DataFrame(schema=dtypes(CaseRows))], []
        for chunk, found, cases, reviews in admission.chunks():
            admission.count(chunk.counts, found)
            parts.append(cases.select(columns))
            said += [] if reviews is None else reviews.sort(ITEM).rows()
        admission.set_aside_reviews()
    rows = pl.concat(parts).drop("source_file")
    faults = [fault._replace(source_file=fault.source_file.rsplit("/", 1)[-1]) for fault in faults]
    told = [fault._replace(message=fault.message.replace(name, "")) for fault in faults]
    lines = {file.rsplit("/", 1)[-1]: found for file, found in tally.lines.items()}
    return Taken(rows, told, said, lines, admission.given.notes, admission.book)


def in_any_size(files: dict[str, list[Record]], **options: Any) -> Taken:
    """The same whatever the sizes of pieces, and whether hashes collide."""
    whole = taken(files, **options)
    for one_hash in (False, True):
        with tiny(one_hash=one_hash):
            found = taken(files, **options)
        assert found.cases.equals(whole.cases)
        assert sorted(found.faults, key=str) == sorted(whole.faults, key=str)
        assert sorted(found.reviews, key=str) == sorted(whole.reviews, key=str)
        assert (found.lines, found.notes) == (whole.lines, whole.notes)
    return whole


def split(records: list[Record]) -> tuple[list[Record], list[Record]]:
    """Records as cases and traces."""
    labels = [{k: v for k, v in r.items() if k not in OF_A_TRACE} for r in records]
    recorded = [{k: v for k, v in r.items() if k in {*OF_A_TRACE, "case_id"}} for r in records]
    return labels, recorded


@FEW
@given(drawn=fixtures(max_cases=9), chance=st.randoms(use_true_random=False))
def test_joined_records_are_what_combined_ones_are(drawn: Fixture, chance: random.Random) -> None:
    records = drawn[0]
    cases, traces = split(records)
    chance.shuffle(traces)
    whole = taken({"inputs": records})
    joined = in_any_size({"cases": cases, "trace": traces})
    assert joined.cases.equals(whole.cases.select(joined.cases.columns))
    assert not joined.faults


IDS = ("a", "b", "../c", "d/*", "é", "é", "e'\"\\", "{}", "x" * 300)
NAMES = st.lists(st.sampled_from(IDS), max_size=8)
FAULTS = st.sampled_from([{}, {}, {}, {"weight": -1}, {"required_ids": 5}, {"question": "other"}])


@st.composite
def two_sides(draw: st.DrawFn) -> tuple[list[Record], list[Record]]:
    """Cases and traces that repeat, lack and contradict each other."""
    cases = [case(name, question="q") | draw(FAULTS) for name in draw(NAMES)]
    traces = [
        trace(name, question="q", weight=None) | draw(FAULTS) | {"tags": [str(i)]}
        for i, name in enumerate(draw(NAMES))
    ]
    for record in traces:
        record.pop("required_ids", None)
    return cases, traces


def accepted_of(cases: list[Record], traces: list[Record], missing: str) -> list[str]:
    """The cases that are let in, by the rules alone."""
    names = [record["case_id"] for record in traces]
    all_names = [record["case_id"] for record in cases]
    kept = []
    for record in cases:
        name = record["case_id"]
        mine = [other for other in traces if other["case_id"] == name]
        sound = all_names.count(name) == 1 and names.count(name) <= 1
        sound &= record.get("weight") != -1 and record["required_ids"] != 5
        sound &= all(other.get("weight") != -1 for other in mine)
        sound &= all(other["question"] == record["question"] for other in mine)
        if sound and (mine or missing != "fail"):
            kept.append(name)
    return kept


@FEW
@given(missing=st.sampled_from(["fail", "not-run", "empty"]), sides=two_sides())
def test_any_faults_come_to_the_same_in_pieces_of_any_size(
    missing: str, sides: tuple[list[Record], list[Record]]
) -> None:
    cases, traces = sides
    expected = accepted_of(cases, traces, missing)
    found = in_any_size({"cases": cases, "trace": traces}, missing_trace=missing)
    assert found.cases["case_id"].to_list() == expected
    told = {(fault.source_file, fault.line) for fault in found.faults}
    assert sum(file == "cases.jsonl" for file, _ in told) == len(cases) - len(expected)
    traced = [record for record in traces if record["case_id"] in expected]
    assert sum(file == "trace.jsonl" for file, _ in told) == len(traces) - len(traced)
    for file, lines in found.lines.items():
        assert lines.set_aside == sum(file == other for other, _ in told)
    by_file = {"cases.jsonl": cases, "trace.jsonl": traces}
    for fault in found.faults:
        assert fault.raw + "\n" == lines_of([by_file[fault.source_file][fault.line - 1]])


CLAIMS = ("a", "b")


@st.composite
def reviewed(draw: st.DrawFn) -> tuple[list[Record], list[Record]]:
    """Cases with claims, one in a few broken, and reviews of these and of others."""
    names = draw(st.lists(st.sampled_from(IDS), min_size=1, max_size=8))
    claims = [{"claim_id": claim, "supported": True, "cited_ids": []} for claim in CLAIMS]
    cases = [
        case(name, context_ids=["p"], claims=claims, required_claims=[])
        | draw(st.sampled_from([{}, {}, {"weight": -1}]))
        for name in [*names, "whole"]
    ]
    reviews = [
        {
            "case_id": draw(st.sampled_from(("whole", "nowhere", *IDS))),
            "claim_id": draw(st.sampled_from((None, "zz", *CLAIMS, *CLAIMS))),
            "reviewer": draw(st.sampled_from("pqrs")),
            "kind": draw(st.sampled_from(("human", "human", "human", "judge", "odd"))),
            "label": draw(st.booleans()),
        }
        for _ in range(draw(st.integers(0, 12)))
    ]
    cases[-1].pop("weight", None)
    return cases, reviews


@FEW
@given(drawn=reviewed())
def test_reviews_come_to_the_same_in_pieces_of_any_size(
    drawn: tuple[list[Record], list[Record]],
) -> None:
    cases, reviews = drawn
    found = in_any_size({"inputs": cases, "reviews": reviews})
    all_names = [record["case_id"] for record in cases]
    once = {name for name in all_names if all_names.count(name) == 1}
    accepted = once - {record["case_id"] for record in cases if "weight" in record}
    assert set(found.cases["case_id"]) == accepted
    places = {fault.line for fault in found.faults if fault.source_file == "reviews.jsonl"}
    kinds = {
        name: {
            r["kind"] == "judge" for r in reviews if r["reviewer"] == name and r["kind"] != "odd"
        }
        for name in "pqrs"
    }
    told = [(r["case_id"], r["claim_id"], r["reviewer"]) for r in reviews if r["kind"] != "odd"]
    sound = [
        line
        for line, r in enumerate(reviews, start=1)
        if r["kind"] != "odd"
        and r["case_id"] in accepted
        and r["claim_id"] != "zz"
        and len(kinds[r["reviewer"]]) == 1
        and told.count((r["case_id"], r["claim_id"], r["reviewer"])) == 1
    ]
    assert places == set(range(1, len(reviews) + 1)) - set(sound)
    items = {(reviews[i - 1]["case_id"], reviews[i - 1]["claim_id"]) for i in sound}
    assert {row[:2] for row in found.reviews} == items
    assert found.book is not None
    assert sum(found.book.met.values()) == len(items)


def spilled(folder: Path) -> list[str]:
    return [path.suffix for path in (folder / ".unfinished").rglob("*") if path.is_file()]


@pytest.mark.parametrize("ending", ["published", "refused", "failed"])
def test_nothing_stays_of_what_was_put_aside(
    cli: Command, written: Writer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str
) -> None:
    out = tmp_path / "out"
    seen: list[str] = []
    chunks = Pairs.chunks

    def look(pairs: Pairs, missing: str) -> Any:
        seen.extend(spilled(out))
        if ending == "failed":
            raise InputError("the disk is gone")
        return chunks(pairs, missing)

    monkeypatch.setattr(Pairs, "chunks", look)
    more = {"weight": -1} if ending == "refused" else {}
    cases = written([case("a"), case("b"), case("c") | more], "c.jsonl")
    traces = written([trace("c"), trace("b"), trace("a")], "t.jsonl")
    reviews = written([{"case_id": "c", "reviewer": "p", "kind": "human"}], "r.jsonl")
    given_ = ("--cases", cases, "--trace", traces, "--reviews", reviews)
    with tiny():
        done = cli("evaluate", *given_, "--out", out, "--run-id", "r")
    assert ".arrow" in seen
    assert not (out / ".unfinished").exists()
    assert done.code == (0 if ending == "published" else 2), done.err
    assert [path.name for path in out.glob("*")] == ([] if ending == "failed" else ["r"])
    if ending == "refused":
        assert {row["rule"] for row in rejects_of(out / "r")} >= {"weight"}


def test_little_is_not_put_on_disk_and_nothing_without_leave(
    cli: Command, written: Writer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folders: list[Path | None] = []
    start = Spill.__init__

    def note(kept: Spill, folder: Path | None, *rest: Any) -> None:
        folders.append(folder)
        start(kept, folder, *rest)

    monkeypatch.setattr(Spill, "__init__", note)
    given_ = ("--cases", written([case("a")], "c.jsonl"))
    given_ += ("--trace", written([trace("a")], "t.jsonl"))
    before = sorted(tmp_path.rglob("*"))
    with tiny():
        assert cli("evaluate", *given_, "--no-write").code == 0
        assert cli("validate", *given_).code == 0
    assert set(folders) == {None}
    assert sorted(tmp_path.rglob("*")) == before


def test_faults_of_traces_are_told_in_file_order_after_those_of_cases(
    cli: Command, written: Writer, tmp_path: Path
) -> None:
    cases = [case(name, weight=-1 if name == "b" else None) for name in "abcd"]
    traces = [
        trace("d", retrieved_ids=[""]),
        trace("z"),
        trace("c"),
        trace("a", retrieved_ids=["t "]),
    ]
    given_ = ("--cases", written(cases, "c.jsonl"), "--trace", written(traces, "t.jsonl"))
    told = []
    for more in (False, True):
        out = ("--out", tmp_path / f"out{more}")
        if more:
            with tiny():
                done = cli("evaluate", *given_, *out)
        else:
            done = cli("evaluate", *given_, *out)
        done.refuses()
        words = [line.replace(f"{tmp_path}/", "") for line in done.err.splitlines()]
        told.append([line.split(": ")[:2] for line in words if ".jsonl:" in line])
    assert told[0] == told[1]
    assert [place for place, _ in told[0]] == ["t.jsonl:2", "c.jsonl:2", "t.jsonl:1", "t.jsonl:4"]
