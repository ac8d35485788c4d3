"""The product held against the contract computed a second time, in `tests/oracle.py`.

Every fixture is drawn from its own number, so a failure names what to draw again.
`RAGTRIAGE_ORACLE_FIXTURES=2000` runs longer.
"""

from __future__ import annotations

import json
import math
import os
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

import ragtriage
from ragtriage.metrics import REGISTRY
from ragtriage.schemas.inputs import Cases, dtypes
from tests import oracle, strategies

Record = dict[str, Any]
Key = tuple[Any, ...]

FIXTURES = int(os.environ.get("RAGTRIAGE_ORACLE_FIXTURES", "8"))
SHOWN = 8
SCALAR = {"required_ids": "source", "expected_answers": "expected_answer"}
LABELS = {"required_ids", "required_groups", "grades"}
RETRIEVED, CONTEXT, CITED = {"retrieved_ids"}, {"context_ids"}, {"cited_ids"}
ANSWERABLE = {"answerable", *LABELS}
ABSTAINED = {"answer", "abstained"}
SCOPE = {"allowed_ids", "forbidden_ids"}
# A metric is observed where the file supplies one field of each set: only there it has summary
# rows, and only there its value in a case is not null.
CLAIMS = tuple(name for name, declared in REGISTRY.items() if declared.family == "claims")
NEEDS: dict[str, tuple[set[str], ...]] = {
    **dict.fromkeys((*oracle.AT_K, "r_precision"), (LABELS, RETRIEVED)),
    **dict.fromkeys(("context_recall", "context_complete"), (LABELS, CONTEXT)),
    "context_dropped": (LABELS, CONTEXT, RETRIEVED),
    **dict.fromkeys(("citation_coverage", "citation_precision"), (LABELS, CITED)),
    **dict.fromkeys(("citation_validity", "citation_valid"), (CITED, RETRIEVED)),
    "citation_in_context": (CITED, CONTEXT),
    "source_correct": (CITED, ANSWERABLE),
    "answer_match": (ABSTAINED, {"expected_answers", *ANSWERABLE}),
    "answer_passed": (ABSTAINED, {"expected_answers", *ANSWERABLE}, CITED, RETRIEVED),
    "unauthorized_retrieved": (SCOPE, RETRIEVED),
    "unauthorized_context": (SCOPE, CONTEXT),
    "unauthorized_cited": (SCOPE, CITED),
    **dict.fromkeys(
        (
            "appropriate_abstention",
            "answered_unsupported",
            "over_refusal",
            "abstention_precision",
            "abstention_recall",
        ),
        (ABSTAINED, ANSWERABLE),
    ),
    "refused_with_evidence": (ABSTAINED, LABELS, RETRIEVED | CONTEXT),
    "false_evidence": (RETRIEVED, ANSWERABLE),
}


def test_every_metric_is_computed_a_second_time() -> None:
    """A new one is first in the oracle's `PLAIN` or `AT_K`, a ratio in `RATIOS`; then here."""
    declared = {name: each for name, each in REGISTRY.items() if name not in CLAIMS}
    assert {*oracle.PLAIN, *oracle.AT_K} == declared.keys()
    assert {*oracle.RATIOS} == {name for name, each in declared.items() if each.kind == "ratio"}
    assert declared.keys() <= NEEDS.keys()


def drawn(strategy: st.SearchStrategy[Any], number: int) -> Any:
    """What the strategy gives for this number: the first example that is not the simplest."""
    examples = []

    @seed(number)
    @settings(
        max_examples=2,
        phases=[Phase.generate],
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(strategy)
    def keep(example: Any) -> None:
        examples.append(example)

    keep()
    return examples[-1]


@dataclass
class Drawn:
    """A fixture as it is given to both sides."""

    records: list[Record]
    corpus: list[Record] | None
    ks: tuple[int, ...]
    contract: str
    normalizer: str
    abstain_texts: tuple[str, ...]
    scalar: bool = False
    rows: list[Record] = field(init=False)

    def __post_init__(self) -> None:
        self.rows = [self._written(record) for record in self.records]

    @classmethod
    def numbered(
        cls, number: int, *, scalar: bool = False, contract: str | None = None, cases: int = 30
    ) -> Drawn:
        strategy = strategies.fixtures(
            scalar=scalar, contract=contract, min_cases=cases, max_cases=3 * cases
        )
        records, _, corpus, ks, contract = drawn(strategy, number)
        normalizer = strategies.NORMALIZERS[number % len(strategies.NORMALIZERS)]
        texts = strategies.ABSTAIN_TEXTS if number % 3 else ()
        return cls(records, corpus, ks, contract or "auto", normalizer, texts, scalar)

    @property
    def fields(self) -> set[str]:
        """What the file supplies, under our own names."""
        ours = {theirs: name for name, theirs in SCALAR.items()} if self.scalar else {}
        return {ours.get(key, key) for row in self.rows for key in row}

    def expected(self) -> list[Record]:
        return oracle.evaluate_cases(
            self.records,
            fields=self.fields,
            ks=self.ks,
            contract=self.contract,
            normalizer=self.normalizer,
            abstain_texts=self.abstain_texts,
            corpus=self.corpus,
        )

    def run(self, source: Any, folder: Path, **more: Any) -> ragtriage.Run:
        if self.corpus is not None:
            more["corpus"] = _jsonl(folder / "corpus.jsonl", self.corpus)
        if self.scalar and self.contract not in ("diagnosis", "answer"):
            more["map"] = {"source": "required_ids"}
        return ragtriage.evaluate(
            source,
            **{"write": False}
            | {"k": list(self.ks), "contract": self.contract, "normalizer": self.normalizer}
            | {"abstain_text": list(self.abstain_texts)}
            | more,
        )

    def _written(self, record: Record) -> Record:
        row = {key: value for key, value in record.items() if key != "_none_given"}
        if self.scalar:
            for name, theirs in SCALAR.items():
                row[theirs] = next(iter(row.pop(name)), None)
        return row


# The same JSON written in several ways: none of them may change what a record says.
SPELLINGS: tuple[dict[str, Any], ...] = (
    {},
    {"separators": (",", ":")},
    {"ensure_ascii": False},
    {"separators": (" ,\t", " \t: ")},
)


def _jsonl(path: Path, rows: list[Record]) -> str:
    lines = (json.dumps(row, **SPELLINGS[i * i % 7 % 4]) for i, row in enumerate(rows))
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return str(path)


def run_of(fixture: Drawn, folder: Path, **more: Any) -> ragtriage.Run:
    return fixture.run(_jsonl(folder / "cases.jsonl", fixture.rows), folder, **more)


# --- Comparing ---------------------------------------------------------------------------------

VERDICT = (
    "stage",
    "break_point",
    "missing",
    "lucky",
    "answer_label",
    "label_source",
    "context_observed",
    "findings",
)
# Columns of floats; the oracle writes a whole number now and then.
FRACTION = re.compile(
    rf"({'|'.join(oracle.RATIOS)}|reciprocal_rank|average_precision|ndcg)(_at_\d+)?"
)


def same(expected: Any, actual: Any) -> bool:
    """Equal in type and value; two floats may differ in their last digits."""
    if isinstance(expected, float) and isinstance(actual, float):
        return math.isclose(expected, actual, rel_tol=1e-12, abs_tol=1e-12)
    return type(expected) is type(actual) and bool(expected == actual)


def told(expected: Record, actual: Record) -> Iterator[str]:
    for name in [*expected, *(name for name in actual if name not in expected)]:
        if name not in actual or name not in expected or not same(expected[name], actual[name]):
            yield f"{name}: expected {expected.get(name)!r}, got {actual.get(name, 'no such')!r}"


def is_observed(column: str, fields: set[str]) -> bool:
    name = re.sub(r"(_at_\d+)?(_numerator|_denominator)?$", "", column)
    return all(not fields.isdisjoint(need) for need in NEEDS[name or column])


def case_row(result: Record, fields: set[str]) -> Record:
    metrics = {
        name: value if is_observed(name, fields) else None
        for name, value in result["metrics"].items()
    }
    return {
        "case_id": result["case_id"],
        **{
            name: float(value) if value is not None and FRACTION.fullmatch(name) else value
            for name, value in metrics.items()
        },
        **{name: result[name] for name in VERDICT},
    }


def compare_cases(results: list[Record], fields: set[str], run: ragtriage.Run) -> Iterator[str]:
    names = run.cases.columns
    metrics = [
        name
        for name in names[names.index("query_rewrite") + 1 : names.index("stage")]
        if not name.startswith(CLAIMS)  # test_claims.py computes those a second time
    ]
    rows = run.cases.select("case_id", *metrics, *VERDICT)
    assert rows.height == len(results)
    for result, row in zip(results, rows.iter_rows(named=True), strict=True):
        for text in told(case_row(result, fields), row):
            yield f"{result['case_id']}: {text}"
    checks = run.cases.filter(pl.col("break_point").is_null() != pl.col("next_check").is_null())
    yield from (f"{case_id}: next_check" for case_id in checks["case_id"])


def compare_ledger(results: list[Record], run: ragtriage.Run) -> Iterator[str]:
    expected = [line for result in results for line in result["ledger"]]
    actual = run.evidence.drop("run_id").rows(named=True)
    if len(expected) != len(actual):
        yield f"ledger: expected {len(expected)} rows, got {len(actual)}"
        return
    for line, row in zip(expected, actual, strict=True):
        for text in told(line, row):
            yield f"{line['case_id']}: requirement {line['requirement']}: {text}"


def compare_summary(results: list[Record], fields: set[str], run: ragtriage.Run) -> Iterator[str]:
    columns = list(results[0]["exact"])
    key = ("slice", "slice_value", "metric", "k")
    expected = {}
    for row in oracle.summarise(results, columns):
        value = "all" if row["slice"] == "all" else row["slice_value"]
        expected[row["slice"], value, row["metric"], row["k"]] = {**row, "slice_value": value}
    actual = {
        tuple(row[name] for name in key): row for row in run.summary.drop("run_id").rows(named=True)
    }
    if len(actual) != run.summary.height:
        yield "summary: repeated rows"
    for place in [*expected, *(place for place in actual if place not in expected)]:
        observed = all(not fields.isdisjoint(need) for need in NEEDS[place[2]])
        row = expected.get(place, {}) if observed else {}
        yield from (f"summary {place}: {text}" for text in told(row, actual.get(place, {})))


def slices_of(result: Record) -> Iterator[tuple[str, str]]:
    yield "all", "all"
    yield from (("tag", tag) for tag in result["tags"])
    if result["split"] is not None:
        yield "split", result["split"]
    if result["answerable"] is not None:
        yield "answerable", str(result["answerable"]).lower()


def compare_stages(results: list[Record], run: ragtriage.Run) -> Iterator[str]:
    """READING: a share is of the cases run; a failed case that leaked counts in it, up to 1."""
    counts: Counter[Key] = Counter()
    ran: Counter[Key] = Counter()
    for result in results:
        for place in slices_of(result):
            broken = (*place, result["stage"], result["break_point"])
            counts[broken] += 1
            ran[place] += not result["error"]
    expected: dict[Key, Record] = {
        place: {
            "n": n,
            "share": None
            if place[2] == "not_run" or not ran[place[:2]]
            else min(n / ran[place[:2]], 1.0),
        }
        for place, n in counts.items()
    }
    actual: dict[Key, Record] = {
        (row.pop("slice"), row.pop("slice_value"), row.pop("stage"), row.pop("break_point")): row
        for row in run.stages.drop("run_id").rows(named=True)
    }
    for place in [*expected, *(place for place in actual if place not in expected)]:
        for text in told(expected.get(place, {}), actual.get(place, {})):
            yield f"stages {place}: {text}"


def compare_findings(fixture: Drawn, results: list[Record], run: ragtriage.Run) -> Iterator[str]:
    found: dict[str, list[str]] = {}
    for result in results:
        for kind in result["findings"]:
            found.setdefault(kind, []).append(result["case_id"])
    expected = {kind: len(ids) for kind, ids in found.items()}
    disjoint = oracle.disjoint_ids(fixture.records, fields=fixture.fields, corpus=fixture.corpus)
    if disjoint:
        expected["disjoint-ids"] = disjoint
    across = oracle.groups_across_splits(fixture.records)
    if across:
        expected["group-across-splits"] = across
    rows = run.findings.rows(named=True)
    yield from (f"findings {text}" for text in told(expected, {r["finding"]: r["n"] for r in rows}))
    for row in rows:
        shown = row["example_case_ids"]
        known = found.get(row["finding"])
        if not shown or (known is not None and shown != known[: len(shown)]):
            yield f"findings {row['finding']}: examples {shown}"


def disagreements(fixture: Drawn, run: ragtriage.Run) -> list[str]:
    results = fixture.expected()
    return [
        *compare_cases(results, fixture.fields, run),
        *compare_ledger(results, run),
        *compare_summary(results, fixture.fields, run),
        *compare_stages(results, run),
        *compare_findings(fixture, results, run),
    ]


def check(fixture: Drawn, run: ragtriage.Run) -> None:
    found = disagreements(fixture, run)
    if found:
        blamed = {text.split(":")[0] for text in found[:SHOWN]}
        rows = [json.dumps(row) for row in fixture.rows if row["case_id"] in blamed]
        options = f"k={fixture.ks} {fixture.contract} {fixture.normalizer} {fixture.corpus=}"
        pytest.fail("\n".join([f"{len(found)} disagreements", *found[:SHOWN], options, *rows]))


# --- Tests -------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", range(FIXTURES))
def test_every_number_is_the_contracts(number: int, tmp_path: Path) -> None:
    fixture = Drawn.numbered(number)
    check(fixture, run_of(fixture, tmp_path))


@pytest.mark.parametrize("number", range(FIXTURES // 5))
def test_scalar_sources_and_answers(number: int, tmp_path: Path) -> None:
    contract = (None, "diagnosis", "answer")[number % 3]
    fixture = Drawn.numbered(number, scalar=True, contract=contract)
    check(fixture, run_of(fixture, tmp_path))


@pytest.mark.parametrize("number", range(FIXTURES // 10 or 1))
def test_contracts_change_no_number(number: int, tmp_path: Path) -> None:
    fixture = Drawn.numbered(number, contract=("citation", "ranking", "answer")[number % 3])
    check(fixture, run_of(fixture, tmp_path))


# A line with `":` inside a text is read another way than its neighbours; it says the same.
ASIDE = 'Which room is called ":"?'


@pytest.mark.parametrize("question", ["Which room?", ASIDE])
@pytest.mark.parametrize(
    ("expected", "stage"),
    [
        ({"expected_answer": None}, "pass"),
        ({"expected_answer": "Cedar"}, "unresolved"),
        ({}, "unresolved"),
    ],
    ids=["given as null", "given", "not given"],
)
def test_unanswerable_is_source_and_answer_both_given_as_null(
    expected: Record, stage: str, question: str, tmp_path: Path
) -> None:
    record: Record = {"case_id": "q0", "source": None, "context": [], "abstained": True}
    path = _jsonl(tmp_path / "cases.jsonl", [{**record, "question": question, **expected}])
    run = ragtriage.evaluate(path, write=False, contract="diagnosis")
    assert run.cases["stage"].to_list() == [stage]


@pytest.mark.parametrize("sources", [(None, "a"), ("a", None), (None, None)])
def test_a_mapped_source_means_none_by_null_wherever_it_stands(
    sources: tuple[str | None, ...], tmp_path: Path
) -> None:
    rows = [{"case_id": f"q{i}", "source": source} for i, source in enumerate(sources)]
    path = _jsonl(tmp_path / "cases.jsonl", rows)
    run = ragtriage.evaluate(path, write=False, map={"source": "required_ids"})
    assert run.cases["required_ids"].to_list() == [[s] if s else [] for s in sources]


def _unplaced(cases: pl.DataFrame) -> pl.DataFrame:
    return cases.drop("source_file", "line", "run_id")


def _as_frame(fixture: Drawn) -> pl.DataFrame:
    known = dtypes(Cases)
    names = list(dict.fromkeys(key for row in fixture.rows for key in row))
    schema = {name: known.get(name, pl.String()) for name in names}
    return pl.DataFrame(fixture.rows, schema=schema, orient="row")


def _assert_same_run(one: ragtriage.Run, other: ragtriage.Run) -> None:
    assert _unplaced(one.cases).equals(_unplaced(other.cases))
    for name in ("evidence", "stages", "findings"):
        mine, theirs = (getattr(run, name).drop("run_id") for run in (one, other))
        assert mine.equals(theirs), name
    # Weighted sums of chunks are floating; all other sums are exact.
    weighted = "weighted_mean"
    assert one.summary.drop(weighted, "run_id").equals(other.summary.drop(weighted, "run_id"))
    pairs = zip(one.summary[weighted], other.summary[weighted], strict=True)
    assert all(same(left, right) for left, right in pairs)


@pytest.mark.thorough
@pytest.mark.parametrize("number", range(4))
@pytest.mark.parametrize(
    ("name", "size"),
    [
        ("ragtriage.read.batches.BATCH_RECORDS", 7),
        ("ragtriage.read.batches.BATCH_BYTES", 3000),
    ],
)
def test_chunks_make_no_difference(
    name: str, size: int, number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fixture = Drawn.numbered(number, scalar=number == 3, cases=20)
    whole = run_of(fixture, tmp_path)
    monkeypatch.setattr(name, size)
    _assert_same_run(whole, run_of(fixture, tmp_path))


@pytest.mark.thorough
@pytest.mark.parametrize("number", range(4))
def test_frames_and_parquet_give_the_same(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fixture = Drawn.numbered(number, scalar=number == 3, cases=20)
    lines = run_of(fixture, tmp_path)
    frame = _as_frame(fixture)
    _assert_same_run(lines, fixture.run(frame, tmp_path))
    table = tmp_path / "cases.parquet"
    frame.write_parquet(table, row_group_size=16)
    _assert_same_run(lines, fixture.run(table, tmp_path))
    monkeypatch.setattr("ragtriage.read.tables.CHUNK_ROWS", 7)
    _assert_same_run(lines, fixture.run(table, tmp_path))


def test_a_written_run_reads_back_the_same(tmp_path: Path) -> None:
    fixture = Drawn.numbered(1)
    written = run_of(fixture, tmp_path, write=True, out=str(tmp_path / "reports"))
    kept = run_of(fixture, tmp_path)
    for name in ("cases", "evidence", "summary"):
        mine, theirs = (getattr(run, name).drop("run_id") for run in (written, kept))
        assert mine.equals(theirs), name
