"""Faults that are told at the end keep no more of a chunk than is told of it."""

from __future__ import annotations

import pickle

import polars as pl

from ragtriage.read.chunk import Chunk
from ragtriage.read.late import LATE, LateFaults

IDS = [f"a case with a long name: {i:05d}" for i in range(20_000)]


def test_a_fault_keeps_no_text_of_its_chunk() -> None:
    chunk = Chunk(pl.DataFrame(), [], [], lambda record: f"record {record}")
    late = LateFaults(lambda: iter([chunk]), None, "late")
    every = pl.DataFrame({"case_id": IDS}).with_columns(
        chunk=pl.lit(0, pl.UInt32),
        source_file=pl.lit("a.jsonl"),
        line=pl.int_range(pl.len()),
        record=pl.int_range(pl.len()),
        field=pl.lit("case_id"),
        rule=pl.lit("unknown-case"),
        message=pl.format("{} is in no file of cases", "case_id"),
        refuses=pl.lit(True),
    )
    late.add(every[[7]].select(*LATE))
    (kept,) = late._spill._gathered
    # In a list, a text is pickled with all that it is held together with.
    assert len(pickle.dumps(kept.select(pl.all().implode()))) < 10_000
    ((fault,),) = late.told()
    assert (fault.case_id, fault.record, fault.raw) == (IDS[7], 7, "record 7")
