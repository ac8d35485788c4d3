"""One case of a finished run, from its Parquet tables alone; and IDs near one that is not there."""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

import polars as pl

from ragtriage.errors import InputError
from ragtriage.read.run_tables import scanned_claims
from ragtriage.read.runs import StoredRun, open_run
from ragtriage.read.whole_rows import whole_rows
from ragtriage.schemas import results

NEAR = 5
# Comparing one by one takes time; so many are near enough in length to be compared.
_COMPARED = 20_000
_CUTOFF = re.compile(r"recall_at_(\d+)")


@dataclass(frozen=True)
class StoredCase:
    """A case's row, its requirements and its claims.

    `k`: the cutoff of its ledger. `no_text`: the run was written without texts.
    """

    run_id: str
    k: int
    case: dict[str, Any]
    requirements: list[dict[str, Any]]
    claims: list[dict[str, Any]]
    no_text: bool = False


def stored_case(path: str, case_id: str) -> StoredCase:
    """One case of the run in a folder.

    Raises:
        InputError: there is no finished run, or it has no such case; the nearest IDs are named.
    """
    run = open_run(path)
    of_case = pl.col("case_id") == pl.lit(case_id)
    found = run.read(run.cases.filter(of_case))
    if found.is_empty():
        raise InputError(f"{path}: no case {case_id!r}{_told(nearest_ids(run, case_id))}")
    ledger = run.read(run.evidence.filter(of_case).sort("requirement"))
    claims = run.read(scanned_claims(path).filter(of_case))
    return StoredCase(
        run_id=run.run_id,
        k=_cutoff(run, path),
        case=whole_rows(found, results.CaseResults, f"{path}: cases/")[0],
        requirements=whole_rows(ledger, results.Evidence, f"{path}: evidence/"),
        claims=whole_rows(claims, results.Claims, f"{path}: claims/"),
        no_text=run.manifest["config"].get("no_text") is True,
    )


def _cutoff(run: StoredRun, path: str) -> int:
    """The first cutoff as given, which is the ledger's: metric columns stand in that order."""
    for name in run.cases.collect_schema().names():
        if found := _CUTOFF.fullmatch(name):
            return int(found[1])
    raise InputError(f"{path}: cases/ has no recall_at_K: not a run of ours; evaluate again")


def nearest_ids(run: StoredRun, case_id: str) -> list[str]:
    """IDs that hold this one or are spelt nearly like it, nearest first."""
    ids = run.column("case_id")
    wanted = case_id.strip().casefold()
    lower = ids.str.to_lowercase()
    holding = ids.filter(lower.str.contains(wanted, literal=True)) if wanted else ids.clear()
    lengths = (ids.str.len_chars().cast(pl.Int64) - len(case_id)).abs()
    near = ids.filter(lengths <= max(2, len(case_id) // 3)).head(_COMPARED).to_list()
    folded = {one.casefold(): one for one in reversed(near)}
    close = [folded[one] for one in get_close_matches(wanted, list(folded), n=NEAR, cutoff=0.6)]
    shortest = holding.gather(holding.str.len_chars().arg_sort()).head(NEAR).to_list()
    return list(dict.fromkeys([*close, *shortest]))[:NEAR]


def _told(near: list[str]) -> str:
    if not near:
        return " in this run; cases/part-*.parquet lists every ID"
    return f" in this run; nearest: {', '.join(map(repr, near))}"
