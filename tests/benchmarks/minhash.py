"""One MinHash library on questions with planted variants: `python -m tests.benchmarks.minhash`.

Prints JSON: CPU seconds of signatures and of the library's own index (insert all, query all),
the memory it took, and the share of planted variants among the candidates.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Callable
from math import ceil
from typing import Any

from ragtriage.splits.lsh import banding_for
from tests.benchmarks.test_leakage import COMPARED, PLANTED, questions

Sets = list[list[str]]


def planted(similarity: float) -> Sets:
    """3-grams of questions; the last `PLANTED` vary the first: k ÷ (2n - k) ≥ similarity."""
    sets: Sets = []
    for question in questions(COMPARED - PLANTED):
        words = question.split(" ")
        sets.append(sorted({" ".join(words[i : i + 3]) for i in range(len(words) - 2)}))
    for number, grams in enumerate(sets[:PLANTED]):
        kept = ceil(2 * len(grams) * similarity / (1 + similarity) - 1e-9)
        fresh = [f"new {number} {i}" for i in range(len(grams) - kept)]
        sets.append([*grams[:kept], *fresh])
    return sets


def with_rensa(sets: Sets, bands: int, rows: int, lap: Callable[[str], None]) -> list[list[int]]:
    """All candidates of each text by rensa's index."""
    from rensa import RMinHash, RMinHashLSH  # noqa: PLC0415 - one library a process

    signatures = RMinHash.from_token_sets(sets, bands * rows, 1)
    lap("signatures")
    index = RMinHashLSH(0.5, bands * rows, bands)
    index.insert_many(signatures)
    found: list[list[int]] = index.query_all(signatures)
    lap("index")
    return found


def with_datasketch(
    sets: Sets, bands: int, rows: int, lap: Callable[[str], None]
) -> list[list[int]]:
    """All candidates of each text by datasketch's index."""
    from datasketch import MinHash, MinHashLSH  # noqa: PLC0415 - one library a process

    encoded = ([gram.encode() for gram in grams] for grams in sets)
    signatures = list(MinHash.generator(encoded, num_perm=bands * rows, seed=1))
    lap("signatures")
    index = MinHashLSH(num_perm=bands * rows, params=(bands, rows))
    with index.insertion_session() as session:
        for place, signature in enumerate(signatures):
            session.insert(place, signature, check_duplication=False)
    found: list[list[int]] = [index.query(signature) for signature in signatures]
    lap("index")
    return found


def main() -> None:
    """Measure one library at one similarity."""
    library, similarity = sys.argv[1], float(sys.argv[2])
    sets = planted(similarity)
    banding = banding_for(similarity)
    figures: dict[str, Any] = {"bands": banding.bands, "rows": banding.rows}
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    since = time.process_time()

    def lap(name: str) -> None:
        nonlocal since
        now = time.process_time()
        figures[name] = round(now - since, 2)
        since = now

    look = with_rensa if library == "rensa" else with_datasketch
    found = look(sets, banding.bands, banding.rows, lap)
    figures["mib"] = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024
    figures["candidates"] = sum(len(places) - 1 for places in found) // 2
    first = COMPARED - PLANTED
    hits = sum(place in found[first + place] for place in range(PLANTED))
    figures["recall"] = hits / PLANTED
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
