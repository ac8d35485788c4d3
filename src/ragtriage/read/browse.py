"""What a dashboard reads of a folder of runs: which runs it may offer, and tables of a chosen one.

A manifest only says whether a folder is a finished run that we can read; all that is shown comes
from Parquet.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pandera.polars as pa
import polars as pl

from ragtriage.errors import InputError
from ragtriage.read.folders import StoredFolder, stored_folders
from ragtriage.read.run_tables import scanned_claims
from ragtriage.read.stored import read_table


@dataclass(frozen=True)
class Offered:
    """`runs`: finished ones of this schema version, newest first. `others`: each with its reason.

    Comparisons, agreement and leakage reports are neither.
    """

    runs: list[StoredFolder]
    others: list[StoredFolder]


def offered(directory: str) -> Offered:
    """Which runs of a folder can be looked at.

    Raises:
        InputError: there is no such folder, or it cannot be listed.
    """
    folders = stored_folders(directory)
    usable = [folder for folder in folders if folder.reason is None and folder.kind == "run"]
    newest = sorted(usable, key=lambda run: (run.started, run.name), reverse=True)
    return Offered(newest, [folder for folder in folders if folder.reason is not None])


def small_table(
    run: StoredFolder, file: str, model: type[pa.DataFrameModel], columns: Sequence[str]
) -> pl.DataFrame:
    """These columns of one small table of one run.

    Raises:
        InputError: it is missing, broken or of other types.
    """
    frame, lost = read_table([run], file, model, columns)
    if lost:
        raise InputError(f"run {run.name}: {lost[run.name]}; evaluate again")
    return frame.drop("run")


def claims_table(run: StoredFolder) -> pl.LazyFrame:
    """The claims of a run, unread; of no row where the run has none.

    Raises:
        InputError: the table is broken or of other types.
    """
    return scanned_claims(str(run.path))
