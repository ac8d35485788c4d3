"""All that a nightly flow can be asked, in one model, which Prefect's UI shows and checks."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StrictInt,
    StrictStr,
    field_validator,
    model_validator,
)

from ragtriage.comparison.gates import parse_gates
from ragtriage.comparison.request import Allowed, CompareRequest
from ragtriage.errors import UsageError
from ragtriage.request import SLICEABLE, EvaluateRequest, TimeLimit
from ragtriage.summary import STANDARD_SLICES


class NightlyRequest(BaseModel):
    """One night: what to evaluate, what to hold it against, what becomes the accepted run."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    evaluate: EvaluateRequest = Field(
        description="What is evaluated, with the options of `ragtriage evaluate`. Runs are "
        "written to `out`; each night is a run of its own, so `run_id` stays empty."
    )
    accept: Literal["first", "passing", "never"] = Field(
        default="first",
        description="Which nights become the accepted run, the one that later nights are compared "
        "with: only the `first`, every `passing` one, or `never` one (a person accepts with "
        "`ragtriage accept`). A night that failed never does.",
    )
    allow: tuple[Allowed, ...] = Field(
        default=(),
        description="Differences from the accepted run that may be: they are counted and listed, "
        "and the rest is compared. Any other difference fails the night.",
    )
    gate: tuple[StrictStr, ...] = Field(
        default=(),
        description="What must hold of the comparison, such as `delta.recall@5 >= -0.01` or "
        "`new.authorization == 0`. Gates of the run itself are in `evaluate`.",
    )
    max_regressions: Annotated[StrictInt, Field(ge=0)] | None = Field(
        default=None,
        description="Cases that passed in the accepted run and may do anything else now.",
    )
    test: bool = Field(
        default=False, description="Exact paired sign-flip tests against it, Holm-corrected."
    )
    time_limit: TimeLimit = None

    @field_validator("gate")
    @classmethod
    def _gates_of_two_runs(cls, texts: tuple[str, ...]) -> tuple[str, ...]:
        try:
            parse_gates(texts, ("all", *STANDARD_SLICES, *SLICEABLE))
        except UsageError as error:
            raise ValueError(str(error)) from None
        return texts

    @model_validator(mode="after")
    def _every_night_writes_a_new_run(self) -> NightlyRequest:
        asked = self.evaluate
        if not asked.inputs and not asked.cases:
            raise ValueError("evaluate: no input; give inputs, or cases and trace")
        if "-" in (*asked.inputs, *asked.cases, *asked.trace, *asked.corpus, *asked.reviews):
            raise ValueError("evaluate: standard input does not reach a flow; give a file")
        if not asked.write:
            raise ValueError("evaluate: a night leaves its run in a folder; leave `write` alone")
        if asked.run_id is not None:
            raise ValueError("evaluate: `run_id` would be taken on the second night; leave it out")
        return self

    @property
    def out(self) -> str:
        """The folder of runs."""
        return self.evaluate.out

    def comparison(self, base: str, candidate: str) -> CompareRequest:
        """The comparison of one night with the accepted run."""
        return CompareRequest(
            base=base,
            candidate=candidate,
            allow=self.allow,
            gate=self.gate,
            max_regressions=self.max_regressions,
            test=self.test,
            intervals=self.evaluate.intervals,
            seed=self.evaluate.seed,
            out=self.out,
            all_cases=self.evaluate.all_cases,
            no_text=self.evaluate.no_text,
        )
