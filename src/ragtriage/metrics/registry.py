"""What a metric is, and the list of all of them. No metric is defined here.

A declaration gives all that the results schema, the summary, the reports and the gates need;
where a value is undefined is decided here, once, for every metric.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cache
from typing import Literal, NamedTuple, cast

import polars as pl

from ragtriage.schemas.inputs import LABEL_FIELDS

Kind = Literal["ratio", "score", "count", "boolean"]
Better = Literal["higher", "lower", "neither"]
# Uncut, and at k with `{k}` in place of the cutoff.
TrecNames = tuple[str | None, str | None]

# Alternatives: a metric needs at least one field of each tuple.
LABELS = LABEL_FIELDS
RETRIEVED = ("retrieved_ids",)
CONTEXT = ("context_ids",)
CITED = ("cited_ids",)
ABSTAINED = ("abstained", "answer")
ANSWERABLE = ("answerable", *LABELS)
SCOPE = ("allowed_ids", "forbidden_ids")


class Ratio(NamedTuple):
    """A ratio's parts: both whole numbers of one case."""

    numerator: pl.Expr
    denominator: pl.Expr


Formula = Callable[..., "pl.Expr | Ratio"]


@dataclass(frozen=True)
class Metric:
    """One declared metric.

    `needs`: fields that must be observed, in the file for the metric to be reported and on the
    row for it to be defined. `file_needs`: the same for the file alone. `cutoff`: whether it
    is computed at each k, uncut, or both. `empty`: the value of a ratio over nothing (None:
    undefined). `unscored`: also counted on cases that were not run or not settled. `by_choice`:
    taken over what the system chose to do, so that fewer scored cases are no loss of coverage.
    `trec_eval`: what trec_eval calls it, uncut and at k, where both give the same.
    """

    name: str
    family: str
    kind: Kind
    formula: Formula
    needs: tuple[tuple[str, ...], ...]
    file_needs: tuple[tuple[str, ...], ...]
    cutoff: Literal["at_k", "uncut", "both"]
    empty: float | None
    bounds: tuple[float, float | None]
    better: Better
    source: str
    unscored: bool
    by_choice: bool = False
    trec_eval: TrecNames = (None, None)

    @property
    def about(self) -> str:
        """The first line of its docstring."""
        return (self.formula.__doc__ or "").strip().split("\n", 1)[0]

    @property
    def parts(self) -> list[str]:
        """Metrics it is built on: none for most."""
        if self.cutoff != "uncut" or self.kind == "ratio":
            return []
        formula = cast("pl.Expr", self.formula())
        return [name for name in formula.meta.root_names() if name in REGISTRY]

    def observed(self, fields: AbstractSet[str]) -> bool:
        """Do these fields of a file suffice to report it?"""
        groups = (*self.needs, *self.file_needs)
        return all(not fields.isdisjoint(alternatives) for alternatives in groups)

    def missing(self, fields: set[str]) -> list[str]:
        """What is lacking, one entry a need: `a or b`."""
        groups = (*self.needs, *self.file_needs)
        return [" or ".join(group) for group in groups if fields.isdisjoint(group)]


@dataclass(frozen=True)
class Column:
    """A metric at one cutoff: the column of that name, and for ratios its two companions."""

    metric: Metric
    k: int | None

    @property
    def name(self) -> str:
        """`recall`, `recall_at_5`."""
        return self.metric.name if self.k is None else f"{self.metric.name}_at_{self.k}"

    @property
    def numerator(self) -> str:
        """Name of the numerator's column."""
        return f"{self.name}_numerator"

    @property
    def denominator(self) -> str:
        """Name of the denominator's column."""
        return f"{self.name}_denominator"

    @property
    def schema(self) -> dict[str, pl.DataType]:
        """The columns it fills and their types."""
        if self.metric.kind == "ratio":
            return {
                self.name: pl.Float64(),
                self.numerator: pl.Int64(),
                self.denominator: pl.Int64(),
            }
        types = {"score": pl.Float64(), "count": pl.Int64(), "boolean": pl.Boolean()}
        return {self.name: types[self.metric.kind]}

    def expressions(self) -> list[pl.Expr]:
        """The columns' values, null wherever the metric is undefined."""
        formula = self.metric.formula
        value = formula() if self.metric.cutoff == "uncut" else formula(self.k)
        defined = self._defined()
        if isinstance(value, Ratio):
            return self._ratio(value, defined)
        dtype = self.schema[self.name]
        return [pl.when(defined).then(value).cast(dtype).alias(self.name)]

    def _ratio(self, parts: Ratio, defined: pl.Expr) -> list[pl.Expr]:
        top, bottom = (part.cast(pl.Int64) for part in parts)
        value = pl.when(bottom > 0).then(top / bottom).otherwise(pl.lit(self.metric.empty))
        return [
            pl.when(defined).then(value).cast(pl.Float64).alias(self.name),
            pl.when(defined).then(top).alias(self.numerator),
            pl.when(defined).then(bottom).alias(self.denominator),
        ]

    def _defined(self) -> pl.Expr:
        tests = [] if self.metric.unscored else [pl.col("scored")]
        for alternatives in self.metric.needs:
            present = [pl.col(name).is_not_null() for name in alternatives]
            tests.append(pl.any_horizontal(present) if len(present) > 1 else present[0])
        return pl.all_horizontal(tests) if tests else pl.lit(True)


REGISTRY: dict[str, Metric] = {}


def metric(  # noqa: PLR0913 - a declaration says all there is to say, by name
    *,
    family: str,
    kind: Kind,
    needs: tuple[tuple[str, ...], ...],
    source: str,
    file_needs: tuple[tuple[str, ...], ...] = (),
    cutoff: Literal["at_k", "uncut", "both"] = "uncut",
    empty: float | None = None,
    bounds: tuple[float, float | None] = (0, 1),
    better: Better = "higher",
    unscored: bool = False,
    by_choice: bool = False,
    trec_eval: TrecNames = (None, None),
) -> Callable[[Formula], Formula]:
    """Register the decorated function under its own name."""

    def register(formula: Formula) -> Formula:
        name = formula.__name__
        if name in REGISTRY:
            raise ValueError(f"metric {name!r} is declared twice")
        REGISTRY[name] = Metric(
            name=name,
            family=family,
            kind=kind,
            formula=formula,
            needs=needs,
            file_needs=file_needs,
            cutoff=cutoff,
            empty=empty,
            bounds=bounds,
            better=better,
            source=source,
            unscored=unscored,
            by_choice=by_choice,
            trec_eval=trec_eval,
        )
        return formula

    return register


def columns_for(cutoffs: Iterable[int]) -> list[Column]:
    """Every column of a run with these cutoffs, in registry order, uncut before cut."""
    columns: list[Column] = []
    for declared in REGISTRY.values():
        if declared.cutoff in ("uncut", "both"):
            columns.append(Column(declared, None))
        if declared.cutoff in ("at_k", "both"):
            columns += [Column(declared, k) for k in cutoffs]
    return columns


def with_metrics(cases: pl.DataFrame, columns: list[Column], fields: set[str]) -> pl.DataFrame:
    """The cases with every metric's columns; those built on other metrics come second.

    Metrics that `fields` do not suffice for are null throughout.
    """
    first, second = _planned(tuple(columns), frozenset(fields))
    return cases.with_columns(first).with_columns(second)


@cache
def _planned(
    columns: tuple[Column, ...], fields: frozenset[str]
) -> tuple[list[pl.Expr], list[pl.Expr]]:
    """All expressions, those on cases and those on other metrics; the same for every chunk."""
    names = {column.name for column in columns}
    first: list[pl.Expr] = []
    second: list[pl.Expr] = []
    for column in columns:
        if not column.metric.observed(fields):
            first += [pl.lit(None, dtype).alias(name) for name, dtype in column.schema.items()]
            continue
        for expression in column.expressions():
            built_on = names.intersection(expression.meta.root_names())
            (second if built_on else first).append(expression)
    return first, second
