"""What a whole run is measured against: the same file read by others, doing much less."""

from __future__ import annotations

import sys
import time


def bare_read(path: str) -> None:
    """Polars' own reader with a schema, nothing checked, nothing computed."""
    import polars as pl  # noqa: PLC0415 - each peer loads only its own

    from ragtriage.schemas.inputs import Cases, dtypes  # noqa: PLC0415 - the same

    names = (
        "case_id question split tags required_ids retrieved_ids context_ids cited_ids answer "
        "expected_answers answer_correct"
    )
    schema = {name: dtypes(Cases)[name] for name in names.split()}
    start = time.perf_counter()
    pl.read_ndjson(path, schema=schema)
    print(time.perf_counter() - start)


def loads_and_trec_eval(path: str) -> None:
    """json.loads, then trec_eval's binding: five metrics, nothing checked, nothing written."""
    import json  # noqa: PLC0415 - the same
    from pathlib import Path  # noqa: PLC0415 - the same

    import pytrec_eval  # noqa: PLC0415 - the same

    start = time.perf_counter()
    qrels, run = {}, {}
    with Path(path).open(encoding="utf-8") as lines:
        for line in lines:
            case = json.loads(line)
            qrels[case["case_id"]] = dict.fromkeys(case["required_ids"], 1)
            run[case["case_id"]] = {
                name: -float(rank) for rank, name in enumerate(case["retrieved_ids"])
            }
    wanted = {"recall_10", "P_10", "recip_rank", "map_cut_10", "ndcg_cut_10"}
    scores = pytrec_eval.RelevanceEvaluator(qrels, wanted).evaluate(run)
    for name in next(iter(scores.values())):
        sum(case[name] for case in scores.values())
    print(time.perf_counter() - start)


def parsed_and_trec_eval(qrels: str, run: str) -> None:
    """trec_eval's binding with its own parsers: the retrieval metrics at two cutoffs."""
    from pathlib import Path  # noqa: PLC0415 - the same

    import pytrec_eval  # noqa: PLC0415 - the same

    start = time.perf_counter()
    with Path(qrels).open(encoding="utf-8") as lines:
        labels = pytrec_eval.parse_qrel(lines)
    with Path(run).open(encoding="utf-8") as lines:
        ranked = pytrec_eval.parse_run(lines)
    at = "10,1000"
    wanted = {f"{name}.{at}" for name in ("recall", "P", "map_cut", "ndcg_cut")}
    wanted |= {"set_recall", "recip_rank", "Rprec"}
    scores = pytrec_eval.RelevanceEvaluator(labels, wanted).evaluate(ranked)
    for name in next(iter(scores.values())):
        sum(case[name] for case in scores.values())
    print(time.perf_counter() - start)


def as_parquet(path: str) -> None:
    """The same cases as Parquet, beside the file."""
    from pathlib import Path  # noqa: PLC0415 - as above

    import polars as pl  # noqa: PLC0415 - the same

    from ragtriage.schemas.inputs import Cases, dtypes  # noqa: PLC0415 - the same

    given = pl.read_ndjson(path, n_rows=1, infer_schema_length=1).columns
    lazy = pl.scan_ndjson(path, schema=dict(dtypes(Cases)))
    lazy.select(name for name in dtypes(Cases) if name in given).collect().write_parquet(
        Path(path).with_suffix(".parquet")
    )


if __name__ == "__main__":
    peers = {
        "parquet": as_parquet,
        "bare": bare_read,
        "trec": loads_and_trec_eval,
        "trec-files": parsed_and_trec_eval,
    }
    peers[sys.argv[1]](*sys.argv[2:])
