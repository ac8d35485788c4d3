"""A file read in shards gives what it gives in one piece: rows, faults, fields, repeats."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from ragtriage.errors import InputError
from ragtriage.read import batches, repeats, shards, tables
from ragtriage.read.files import fingerprint
from ragtriage.read.index import FileIndex, find_duplicates
from ragtriage.read.shards import KnownShard, cut, joined, learn, positions, reopened
from ragtriage.read.sources import source_for
from ragtriage.request import EvaluateRequest, build_request
from tests.read.mutations import files
from tests.read.support import examples
from tests.support import lines_of

Record = dict[str, Any]


class Seen:
    """All that a file's rows and faults come to."""

    def __init__(self, index: FileIndex, chunks: list[Any], repeated: dict[str, Any]) -> None:
        self.frame = pl.concat([chunk.frame for chunk in chunks]) if chunks else pl.DataFrame()
        self.heights = [chunk.frame.height for chunk in chunks]
        self.faults = [fault for chunk in chunks for fault in chunk.faults]
        self.counts = [count for chunk in chunks for count in chunk.counts]
        self.index = (index.fields, index.must, index.partial, index.mapping, index.dropped)
        self.keys = index.profile.keys
        self.repeated = repeated


def in_one_piece(path: Path, request: EvaluateRequest) -> Seen:
    (shard,) = cut((str(path),), None, 1)
    source = source_for(shard.file, "records", request)
    index = source.index()
    return Seen(index, list(source.chunks(index)), find_duplicates([(source, index)]))


def known_shards(path: Path, request: EvaluateRequest, wanted: int) -> list[KnownShard]:
    learnt = [learn(shard, request) for shard in cut((str(path),), None, wanted)]
    return joined(learnt, fingerprint(learnt[0].shard.file), request)


def in_shards(path: Path, request: EvaluateRequest, wanted: int) -> Seen:
    learnt = [learn(shard, request) for shard in cut((str(path),), None, wanted)]
    hashes = []
    for one in learnt:
        hashes.append(path.with_suffix(f".{one.shard.number}.npy"))
        repeats.write_hashes(hashes[-1], one.index.hashes)
    known = joined(learnt, fingerprint(learnt[0].shard.file), request)
    sought = repeats.repeated(hashes)
    places = [
        place
        for one, holds in zip(known, repeats.holders(hashes, sought), strict=True)
        if holds
        for place in positions(one, request, sought)
    ]
    first: dict[str, Any] = {}
    twice = {name for name, line in places if first.setdefault(name, (path, line)) != (path, line)}
    chunks = [chunk for one in known for chunk in reopened(one, request).chunks(one.index)]
    told = {name: (str(path), first[name][1]) for name in twice}
    return Seen(known[0].index, chunks, told)


def assert_same(path: Path, wanted: int, **options: Any) -> Seen:
    request = build_request({"inputs": [str(path)], **options})
    one, other = in_one_piece(path, request), in_shards(path, request, wanted)
    assert one.heights == other.heights
    assert_frame_equal(one.frame, other.frame)
    assert one.faults == other.faults
    assert one.counts == other.counts
    assert one.index == other.index
    assert list(one.keys.items()) == list(other.keys.items())
    assert one.repeated == other.repeated
    return other


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batches, "BATCH_BYTES", 150)
    monkeypatch.setattr(batches, "BATCH_RECORDS", 3)
    monkeypatch.setattr(tables, "CHUNK_ROWS", 3)


@examples(15)
@given(content=files(max_lines=12), wanted=st.integers(2, 9), ignore=st.booleans())
def test_hostile_lines(
    tmp_path_factory: pytest.TempPathFactory, content: bytes, wanted: int, ignore: bool
) -> None:
    path = tmp_path_factory.mktemp("in") / "in.jsonl"
    path.write_bytes(content)
    assert_same(path, wanted, extra="ignore" if ignore else "fail")


def case(name: str, **more: Any) -> Record:
    return {"case_id": name, "required_ids": ["a"], "retrieved_ids": ["a", "b"], **more}


def test_a_second_name_for_a_field_in_a_later_shard(tmp_path: Path) -> None:
    rows = [case(f"a{i}") for i in range(9)]
    rows += [{"case_id": f"b{i}", "relevant_ids": ["a"], "retrieved_ids": []} for i in range(9)]
    rows += [{"case_id": f"c{i}", "required": ["c"], "retrieved_ids": []} for i in range(9)]
    (tmp_path / "in.jsonl").write_text(lines_of(rows))
    seen = assert_same(tmp_path / "in.jsonl", 9)
    assert seen.frame["required_ids"].null_count() == 0
    assert not seen.faults


@pytest.mark.parametrize("order", ["tl", "lt", "ntl", "nlt"])
def test_text_here_and_a_list_there(tmp_path: Path, order: str) -> None:
    values = {"t": "x", "l": ["x", "y"], "n": None}
    rows = [case(f"{kind}{i}", reference=values[kind]) for kind in order for i in range(6)]
    (tmp_path / "in.jsonl").write_text(lines_of(rows))
    seen = assert_same(tmp_path / "in.jsonl", 9)
    assert not seen.faults


@pytest.mark.parametrize("order", ["tnt", "tntl", "tnl", "ntl", "lnt", "ntn"])
def test_null_under_a_mapped_name_means_none_only_where_all_else_is_text(
    tmp_path: Path, order: str
) -> None:
    values = {"t": "x", "l": ["x", "y"], "n": None}
    rows = [{"case_id": f"{kind}{i}", "gold": values[kind]} for kind in order for i in range(3)]
    rows = [{**row, "case_id": f"{i}"} for i, row in enumerate(rows)]
    (tmp_path / "in.jsonl").write_text(lines_of(rows))
    seen = assert_same(tmp_path / "in.jsonl", 9, map={"gold": "required_ids"})
    assert bool(seen.frame["required_ids"].null_count()) is ("l" in order)


def test_a_field_that_a_later_shard_lacks_is_missing_there(tmp_path: Path) -> None:
    rows = [case(f"a{i}", context_ids=["a"]) for i in range(9)] + [case(f"b{i}") for i in range(9)]
    (tmp_path / "in.jsonl").write_text(lines_of(rows))
    seen = assert_same(tmp_path / "in.jsonl", 6)
    assert [fault.line for fault in seen.faults] == list(range(10, 19))


@pytest.mark.parametrize("height", [0, 1, 3, 10, 17])
def test_rows_of_parquet(tmp_path: Path, height: int) -> None:
    rows = [case(f"a{i % 11}", extra=1) if i % 5 else case("", case_id=None) for i in range(height)]
    schema = {"case_id": pl.String, "required_ids": pl.List(pl.String), "x": pl.Int64}
    frame = pl.DataFrame(rows, schema=schema, strict=False)
    frame.write_parquet(tmp_path / "in.parquet", row_group_size=4)
    seen = assert_same(tmp_path / "in.parquet", 4, extra="ignore")
    assert bool(seen.repeated) is (height > 12)


def test_a_mark_at_the_start_is_no_part_of_the_first_shard(tmp_path: Path) -> None:
    rows = lines_of(case(f"a{i}") for i in range(9))
    (tmp_path / "in.jsonl").write_bytes(b"\xef\xbb\xbf" + rows.encode())
    assert not assert_same(tmp_path / "in.jsonl", 3).faults


@pytest.mark.parametrize("wanted", [1, 2, 3, 5, 50])
def test_shards_are_about_as_many_as_wanted_and_hold_every_byte_once(
    tmp_path: Path, wanted: int
) -> None:
    (tmp_path / "in.jsonl").write_text(lines_of(case(f"a{i}") for i in range(40)))
    (tmp_path / "more.csv").write_text("case_id\nz\n")
    made = cut((str(tmp_path / "in.jsonl"), str(tmp_path / "more.csv")), None, wanted)
    assert wanted <= len(made) <= wanted + 2 or len(made) < wanted == 50
    ends = [(shard.start, shard.stop) for shard in made if not shard.whole]
    assert all(one[1] == other[0] for one, other in itertools.pairwise(ends))
    if ends:
        assert (ends[0][0], ends[-1][1]) == (0, (tmp_path / "in.jsonl").stat().st_size)
    assert [shard.number for shard in made] == list(range(len(made)))


def test_tapered_shards_hold_every_byte_once_and_end_with_small_ones(tmp_path: Path) -> None:
    for name, n in (("a", 40), ("b", 3), ("c", 25)):
        (tmp_path / f"{name}.jsonl").write_text(lines_of(case(f"{name}{i}") for i in range(n)))
    made = cut((str(tmp_path),), None, 4, tapered=True)
    assert [shard.number for shard in made] == list(range(len(made)))
    for nth, of_file in itertools.groupby(made, key=lambda shard: shard.nth):
        parts = list(of_file)
        size = parts[0].file.path.stat().st_size
        assert parts[0].whole is (nth == 1)
        if not parts[0].whole:
            assert (parts[0].start, parts[-1].stop) == (0, size)
            assert all(one.stop == other.start for one, other in itertools.pairwise(parts))
    sizes = [shard.stop - shard.start for shard in made if not shard.whole]
    assert sizes[0] == max(sizes)
    assert max(sizes[-3:]) < sizes[0] / 3


@pytest.mark.parametrize(
    ("units", "wanted", "expected"),
    [
        (35, 4, [9, 7, 5, 4, 3, 2, 2, 1, 1, 1]),
        (7, 4, [2, 2, 1, 1, 1]),
        (1, 4, [1]),
        # No shard is larger than one that nobody asked for.
        (80, 4, [16, 16, 12, 9, 7, 5, 4, 3, 2, 2, 1, 1, 1, 1]),
    ],
)
def test_each_tapered_shard_takes_its_part_of_what_is_left(
    units: int, wanted: int, expected: list[int]
) -> None:
    sizes = list(itertools.islice(shards._tapered(units, wanted), len(expected)))
    assert sizes == expected
    assert sum(sizes) == units


def test_a_file_that_grew_after_it_was_cut_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "in.jsonl"
    path.write_text(lines_of(case(f"a{i}") for i in range(9)))
    request = build_request({"inputs": [str(path)]})
    learnt = [learn(shard, request) for shard in cut((str(path),), None, 3)]
    with path.open("a") as more:
        more.write(lines_of([case("more")]))
    with pytest.raises(InputError, match="changed while it was read"):
        joined(learnt, fingerprint(learnt[0].shard.file), request)


def test_a_file_that_changes_between_the_passes_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "in.jsonl"
    path.write_text(lines_of(case(f"a{i}") for i in range(9)))
    request = build_request({"inputs": [str(path)]})
    known = known_shards(path, request, 3)[1]
    path.write_text(lines_of(case(f"b{i}") for i in range(10)))
    with pytest.raises(InputError, match="changed while it was read"):
        list(reopened(known, request).chunks(known.index))


@pytest.mark.parametrize("together", [1, 3, 1 << 23])
def test_hashes_on_disk_are_looked_through_in_ranges(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, together: int
) -> None:
    monkeypatch.setattr(repeats, "_TOGETHER", together)
    top = 2**64 - 1
    shards = [[5, 0, top], [], [7, top, 2**63], [2**63 - 1, 7, 7]]
    stored = []
    for i, hashes in enumerate(shards):
        stored.append(tmp_path / f"{i}.npy")
        assert repeats.write_hashes(stored[-1], [pl.Series(hashes, dtype=pl.UInt64)]) == len(hashes)
    found = repeats.repeated(stored)
    assert found.to_list() == [7, top]
    assert repeats.holders(stored, found) == [True, False, True, True]
    assert repeats.holders(stored, found.clear()) == [False] * 4
