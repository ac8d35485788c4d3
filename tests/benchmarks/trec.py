"""Qrels and a run of many topics, a thousand documents each."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

DEPTH = 1_000
_POOL = 5_000_000
# Three of eleven judged documents are relevant.
_GRADES = (0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 2)


def write_trec(qrels: Path, run: Path, topics: int, *, mixed: bool = False) -> None:
    """As many judged documents as retrieved ones, half of them retrieved; some scores are equal.

    `mixed`: the rows of a topic lie all over the run.
    """
    draw = np.random.default_rng(0)
    with qrels.open("wb") as judged, run.open("wb") as ranked:
        for first in range(0, topics, 100):
            parts = [_topic(draw, topic) for topic in range(first, min(first + 100, topics))]
            labels, rows = (pl.concat(part) for part in zip(*parts, strict=True))
            if mixed:
                rows = rows.sample(fraction=1, shuffle=True, seed=first)
            for frame, target in ((labels, judged), (rows, ranked)):
                frame.write_csv(target, include_header=False, quote_style="never")


def _topic(draw: np.random.Generator, topic: int) -> tuple[pl.DataFrame, pl.DataFrame]:
    documents = draw.choice(_POOL, 2 * DEPTH, replace=False)
    scores = np.sort(np.round(draw.gamma(2, 5, DEPTH), 4))[::-1]
    labels = pl.DataFrame(
        {"d": draw.permutation(documents)[:DEPTH], "g": draw.choice(_GRADES, DEPTH)}
    )
    rows = pl.DataFrame({"d": documents[:DEPTH], "r": np.arange(1, DEPTH + 1), "s": scores})
    document = pl.format("corpus_doc_{}", "d")
    return (
        labels.select(pl.format("topic-{} 0 {} {}", pl.lit(topic), document, "g")),
        rows.select(pl.format("topic-{} Q0 {} {} {} bm25", pl.lit(topic), document, "r", "s")),
    )
