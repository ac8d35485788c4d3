"""What a look at agreement or at splits came to, and its way onto disk; or why it has none."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import polars as pl

from ragtriage.agreement_request import AgreementRequest
from ragtriage.errors import InputError, InvalidRowsError
from ragtriage.intake import Intake
from ragtriage.leakage_request import LeakageRequest
from ragtriage.publish.folder import RunFolder, tagged, to_json
from ragtriage.publish.tables import reject_table
from ragtriage.read.input import Input
from ragtriage.read.reviews import ReviewsInput
from ragtriage.tally import Tally


@dataclass
class Look(ABC):
    """Finished, before it is written. `tables`: by name, but for the run."""

    request: AgreementRequest | LeakageRequest
    run_id: str
    started: str
    given: Input | ReviewsInput
    intake: Intake
    tally: Tally
    tables: dict[str, pl.DataFrame]
    # What a record is called.
    RECORD: ClassVar[str]
    # Tables whose file has another name: that of a run's own table holds other columns, and
    # `DIR/*/NAME.parquet` is to read as one table.
    FILES: ClassVar[dict[str, str]] = {}

    @property
    @abstractmethod
    def report(self) -> Any:
        """The document that every format shows."""

    @abstractmethod
    def pages(self) -> dict[str, str]:
        """The report for people, by file name."""

    @abstractmethod
    def manifest(self, status: str, timings: dict[str, float]) -> dict[str, Any]:
        """What was read, and how long each step took (seconds; 0 when times are pinned)."""

    def tagged_tables(self) -> dict[str, pl.DataFrame]:
        """The tables as they are written."""
        return {name: tagged(table, self.run_id) for name, table in self.tables.items()}

    def conclude(self, folder: RunFolder | None, timings: dict[str, float]) -> None:
        """Write all of it and let the folder appear; of a refused input only what was wrong.

        Raises:
            InputError: there is no record in the input, or none is left.
            InvalidRowsError: records broke rules and none may be set aside, or all were.
        """
        if folder is not None and self.intake.faults:
            folder.write_table("rejects/part-00000.parquet", reject_table(self.intake.faults))
        refused = self.tally.n_refused and self.request.on_invalid == "fail"
        if refused or self.intake.rows.is_empty():
            raise self._refusal(folder, timings)
        if folder is None:
            return
        for name, table in self.tables.items():
            file = self.FILES.get(name, name).replace("_", "-")
            folder.write_table(f"{file}.parquet", table)
        folder.write_text("report.json", to_json(self.report))
        for name, page in self.pages().items():
            folder.write_text(name, page)
        folder.write_json("manifest.json", self.manifest("complete", timings))
        folder.publish()

    def _refusal(self, folder: RunFolder | None, timings: dict[str, float]) -> InputError:
        tally, record = self.tally, self.RECORD
        if not tally.n_faults:
            names = ", ".join(str(file["path"]) for file in self.given.files[:3])
            return InputError(f"{names}: no {record} in it; nothing to compare")
        where = None
        if folder is not None:
            folder.write_json("manifest.json", self.manifest("refused", timings))
            folder.publish()
            where = str(folder.path / "rejects")
        total = tally.n_refused
        note = f"{total:,} {'error' if total == 1 else 'errors'}; nothing compared"
        if self.request.on_invalid == "quarantine":
            note = f"every record was set aside ({tally.totals.set_aside:,}); no {record} left"
        return InvalidRowsError(tally.messages, total, where, note)
