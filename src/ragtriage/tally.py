"""What a run counts besides its metrics: lines, rejects, findings, abstention, a few cases to show.

Small whatever the input; chunks are added in input order.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import NamedTuple

import polars as pl

from ragtriage.compact import compact
from ragtriage.findings import DISJOINT, DisjointIds
from ragtriage.funnel import Funnel
from ragtriage.intake import Intake
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


class Shown(NamedTuple):
    """Cases that reports show, in input order among failures and among passes.

    Their ledger; claims of theirs and of some more, with no column where there is none.
    """

    cases: pl.DataFrame
    ledger: pl.DataFrame
    claims: pl.DataFrame


_COUNTS = (
    "n_lucky",
    "n_unlabelled",
    "n_disputed",
    "n_context_observed",
    "n_pass",
    "n_conflicts",
)


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

    @classmethod
    def of(cls, intake: Intake) -> Tally:
        """Lines and faults of an input that was taken in at once."""
        tally = cls()
        for name, read, blank in intake.counts:
            tally.add_lines(name, read, blank)
        tally.add_faults(intake.faults)
        tally.check_lines(intake.rows.height)
        return tally

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
            self._claims.append(
                self._own(kept if self.texts else columns_without_text(kept, "text"))
            )

    def merge_checks(self, later: Tally) -> None:
        """Take in lines and faults of what comes after."""
        for name, lines in later.lines.items():
            mine = self.lines.setdefault(name, FileLines())
            mine.read += lines.read
            mine.set_aside += lines.set_aside
            mine.blank += lines.blank
        self.rules.update(later.rules)
        self.messages += later.messages[: FIRST_MESSAGES - len(self.messages)]
        self.n_faults += later.n_faults
        self.n_refused += later.n_refused

    def merge_cases(self, later: Tally) -> None:
        """Take in the cases and claims that come after, but for those to show."""
        for name in _COUNTS:
            setattr(self, name, getattr(self, name) + getattr(later, name))
        self.claim_labels.update(later.claim_labels)
        self.abstention.update(later.abstention)
        self.funnel.merge(later.funnel)
        self._findings.update(later._findings)
        for name, examples in later._examples.items():
            mine = self._examples.setdefault(name, [])
            mine += examples[: _EXAMPLES - len(mine)]
        self._disjoint.merge(later._disjoint, _EXAMPLES)
        self._groups.merge(later._groups)

    def take_shown(self) -> Shown | None:
        """Hand over the cases that reports show, to carry them apart from the counts."""
        if not self._ledger:
            return None
        cases = pl.concat([*self._failing, *self._passing])
        shown = Shown(cases, pl.concat(self._ledger), self.shown_claims())
        self._failing, self._passing, self._ledger, self._claims = [], [], [], []
        return shown

    def has_room(self) -> bool:
        """May further cases be shown?"""
        if self.shown is None:
            return True
        return sum(frame.height for frame in self._failing) < self.shown

    def merge_shown(self, later: Shown) -> None:
        """Show as many of the cases that come after as there is room for."""
        taken = pl.concat(self._taken(later.cases)).select("case_id")
        for theirs, mine in ((later.ledger, self._ledger), (later.claims, self._claims)):
            if theirs.width:
                mine.append(theirs.join(taken, on="case_id", how="semi", maintain_order="left"))

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
        if not self.has_room():
            self._kept_rows = None
            return
        kept = pl.concat(self._taken(cases))
        self._kept_rows = kept.select("row") if kept.height else None
        if kept.height:
            of_these = ledger.join(kept.select("row"), on="row", how="semi").drop("row")
            self._ledger.append(self._own(of_these))

    def _taken(self, cases: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
        """Cases for which there is room yet: of those that passed, beside those that did not."""
        failed = cases["stage"] != PASS
        failing = self._chosen(cases, failed, self._failing, 0)
        beside = sum(frame.height for frame in self._failing)
        return failing, self._chosen(cases, ~failed, self._passing, beside)

    def _chosen(
        self, cases: pl.DataFrame, wanted: pl.Series, kept: list[pl.DataFrame], beside: int
    ) -> pl.DataFrame:
        rows = wanted.arg_true()
        if self.shown is not None:
            room = self.shown - beside - sum(frame.height for frame in kept)
            rows = rows.head(max(room, 0))
        chosen = self._own(cases[rows] if self.texts else cases_without_text(cases[rows]))
        if chosen.height:
            kept.append(chosen)
        return chosen

    def _own(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Kept rows; where all are kept, nothing is dragged along that would not stay anyway."""
        return rows if self.shown is None else compact(rows)


def _word(value: bool | None) -> str:  # noqa: FBT001 - a Boolean is what is put in words
    return {True: "yes", False: "no", None: "unknown"}[value]
