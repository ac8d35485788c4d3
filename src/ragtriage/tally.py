"""What a run counts besides its metrics: lines, rejects, findings, abstention, a few cases to show.

Small whatever the input; chunks are added in input order.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import polars as pl

from ragtriage.findings import DISJOINT, DisjointIds
from ragtriage.funnel import Funnel
from ragtriage.read.chunk import RowFault
from ragtriage.split_groups import GROUP_ACROSS_SPLITS, SplitGroups
from ragtriage.stages import PASS
from ragtriage.without_text import cases_without_text, columns_without_text

SHOWN_CASES = 500
_EXAMPLES = 10
FIRST_MESSAGES = 20


@dataclass
class FileLines:
    """Lines of one file; read = accepted + set aside + blank."""

    read: int = 0
    set_aside: int = 0
    blank: int = 0

    @property
    def accepted(self) -> int:
        """Records that were taken in."""
        return self.read - self.set_aside - self.blank


@dataclass
class Tally:
    """Running counts of a run.

    `shown` limits the cases kept for the reports (None: all); `texts`: are they kept with texts?
    `record_lines`: by file and record, the lines it takes, where it is more than one.
    """

    shown: int | None = SHOWN_CASES
    texts: bool = True
    record_lines: dict[str, dict[int, int]] = field(default_factory=dict)
    lines: dict[str, FileLines] = field(default_factory=dict)
    rules: Counter[str] = field(default_factory=Counter)
    messages: list[str] = field(default_factory=list)
    n_faults: int = 0
    n_refused: int = 0
    n_lucky: int = 0
    n_unlabelled: int = 0
    n_disputed: int = 0
    n_context_observed: int = 0
    n_pass: int = 0
    claim_labels: Counter[str] = field(default_factory=Counter)
    n_conflicts: int = 0
    abstention: Counter[tuple[str, str]] = field(default_factory=Counter)
    funnel: Funnel = field(default_factory=Funnel)
    _findings: Counter[str] = field(default_factory=Counter)
    _examples: dict[str, list[str]] = field(default_factory=dict)
    _disjoint: DisjointIds = field(default_factory=DisjointIds)
    _groups: SplitGroups = field(default_factory=SplitGroups)
    _failing: list[pl.DataFrame] = field(default_factory=list)
    _passing: list[pl.DataFrame] = field(default_factory=list)
    _ledger: list[pl.DataFrame] = field(default_factory=list)
    _claims: list[pl.DataFrame] = field(default_factory=list)
    _kept_rows: pl.DataFrame | None = None

    def check_lines(self, accepted: int) -> None:
        """Lines read = accepted + set aside + blank, by two counts that do not know each other."""
        if self.totals.accepted != accepted:
            raise AssertionError(
                f"{self.totals.accepted} records should have been taken in, {accepted} were"
            )

    def add_lines(self, name: str, read: int, blank: int) -> None:
        """Lines read from a file."""
        lines = self.lines.setdefault(name, FileLines())
        lines.read += read
        lines.blank += blank

    def add_faults(self, faults: list[RowFault]) -> None:
        """Records set aside, each with all its faults."""
        for name, record in {(fault.source_file, fault.record) for fault in faults}:
            lines = self.record_lines.get(name, {}).get(record, 1)
            self.lines.setdefault(name, FileLines()).set_aside += lines
        for fault in faults:
            self.rules[fault.rule] += 1
            self.n_faults += 1
            self.n_refused += fault.refuses
            if fault.refuses and len(self.messages) < FIRST_MESSAGES:
                where = f"{fault.source_file}:{fault.line}: {fault.field}"
                self.messages.append(f"{where}: {fault.message} [{fault.rule}]")

    def add_cases(self, cases: pl.DataFrame, ledger: pl.DataFrame) -> None:
        """A chunk of scored cases and their ledger."""
        self.n_lucky += int(cases["lucky"].sum())
        self.n_pass += int((cases["stage"] == PASS).sum())
        self.n_context_observed += int(cases["context_observed"].sum())
        unlabelled = cases["scored"] & cases["answer_label"].is_null()
        self.n_unlabelled += int(unlabelled.sum())
        self.n_disputed += int((unlabelled & cases["label_in_dispute"]).sum())
        self._add_abstention(cases)
        self._add_findings(cases)
        self._disjoint.add(cases, ledger, _EXAMPLES)
        self._groups.add(cases)
        self.funnel.add(cases, ledger)
        self._keep(cases, ledger)

    def add_claims(self, claims: pl.DataFrame) -> None:
        """The claims of the chunk added last: whose labels they have, what reviews overrode."""
        proposed = claims.filter("proposed")
        for source, n in proposed.group_by("label_source").len().iter_rows():
            self.claim_labels[source or "none"] += n
        self.n_conflicts += int(proposed["conflict"].sum())
        if self._kept_rows is not None:
            kept = claims.join(self._kept_rows, on="row", how="semi").drop("row")
            self._claims.append(kept if self.texts else columns_without_text(kept, "text"))

    @property
    def totals(self) -> FileLines:
        """Over all files."""
        total = FileLines()
        for lines in self.lines.values():
            total.read += lines.read
            total.set_aside += lines.set_aside
            total.blank += lines.blank
        return total

    def findings(self) -> list[dict[str, object]]:
        """One row a kind of finding that occurred, most frequent first."""
        rows: list[dict[str, object]] = [
            {"finding": name, "n": n, "example_case_ids": self._examples[name]}
            for name, n in self._findings.items()
        ]
        of_the_run = {
            DISJOINT: self._disjoint.result(),
            GROUP_ACROSS_SPLITS: self._groups.result(_EXAMPLES),
        }
        rows += [
            {"finding": name, "n": n, "example_case_ids": examples}
            for name, (n, examples) in of_the_run.items()
            if n
        ]
        return sorted(rows, key=lambda row: (-int(str(row["n"])), str(row["finding"])))

    def showcase(self) -> tuple[pl.DataFrame, pl.DataFrame]:
        """The cases that reports show, failures first, and their ledger."""
        kept = [*self._failing, *self._passing]
        if not kept:
            return pl.DataFrame(), pl.DataFrame()
        cases = pl.concat(kept)
        if self.shown is not None:
            cases = cases.head(self.shown)
        ledger = pl.concat(self._ledger)
        return cases, ledger.join(cases.select("case_id"), on="case_id", how="semi")

    def shown_claims(self) -> pl.DataFrame:
        """The claims of those cases and of some more; no column where there is none."""
        return pl.concat(self._claims) if self._claims else pl.DataFrame()

    def _add_abstention(self, cases: pl.DataFrame) -> None:
        scored = cases.filter("scored")
        counts = scored.group_by("is_answerable", "did_abstain").len()
        for answerable, abstained, n in counts.iter_rows():
            self.abstention[_word(answerable), _word(abstained)] += n

    def _add_findings(self, cases: pl.DataFrame) -> None:
        found = cases.select("case_id", "findings").filter(pl.col("findings").list.len() > 0)
        if found.is_empty():
            return
        long = (
            found.explode("findings")
            .group_by("findings", maintain_order=True)
            .agg(n=pl.len(), first=pl.col("case_id").head(_EXAMPLES))
        )
        for name, n, first in long.iter_rows():
            self._findings[name] += n
            examples = self._examples.setdefault(name, [])
            examples += first[: _EXAMPLES - len(examples)]

    def _keep(self, cases: pl.DataFrame, ledger: pl.DataFrame) -> None:
        failing = self._room(cases, pl.col("stage") != PASS, self._failing)
        passing = self._room(cases, pl.col("stage") == PASS, self._passing)
        kept = pl.concat([failing, passing])
        self._kept_rows = kept.select("row") if kept.height else None
        if kept.height:
            self._ledger.append(ledger.join(kept.select("row"), on="row", how="semi").drop("row"))

    def _room(self, cases: pl.DataFrame, wanted: pl.Expr, kept: list[pl.DataFrame]) -> pl.DataFrame:
        """The wanted cases for which there is room yet; looks at no column but the stage first."""
        rows = cases.select(wanted).to_series().arg_true()
        if self.shown is not None:
            rows = rows.head(self.shown - sum(frame.height for frame in kept))
        chosen = cases[rows] if self.texts else cases_without_text(cases[rows])
        if chosen.height:
            kept.append(chosen)
        return chosen


def _word(value: bool | None) -> str:  # noqa: FBT001 - a Boolean is what is put in words
    return {True: "yes", False: "no", None: "unknown"}[value]
