"""All that `ragtriage leakage` can be asked, in one model: flags, TOML and Python fill the same."""

from __future__ import annotations

from math import isclose
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StrictBool,
    StrictInt,
    StrictStr,
    field_validator,
    model_validator,
)

from ragtriage.request_parts import Files, Mapped, RunId, built

# Of its folders: no evaluated run can be named so.
PREFIX = "leakage-"
# Splits whose questions may stand in prompts: what is tried out on them is no measurement.
DEVELOPMENT = ("development", "dev", "train", "training")
# In characters of what is compared; "yes", "no" and "42" stand in any text.
MIN_ANSWER_LENGTH = 4
_OF_ASSIGN = ("reassign", "shares", "strata", "seed")

Share = Annotated[float, Field(gt=0, le=1, allow_inf_nan=False)]


class LeakageRequest(BaseModel):
    """Which cases to hold against each other and against which files, and what may be proposed."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    cases: Files
    against: tuple[StrictStr, ...] = ()
    held_out: tuple[StrictStr, ...] = ()
    threshold: Annotated[float, Field(gt=0, le=1, allow_inf_nan=False)] = 0.6
    max: Annotated[StrictInt, Field(ge=0)] = 0
    min_answer_length: Annotated[StrictInt, Field(ge=1)] = MIN_ANSWER_LENGTH
    assign: StrictBool = False
    reassign: StrictBool = False
    seed: StrictInt = 0
    shares: dict[StrictStr, Share] = Field(default={"development": 0.8, "test": 0.2})
    strata: Literal["tag"] | None = None
    mapping: Mapped = Field(default_factory=dict, alias="map")
    extra: Literal["fail", "ignore"] = "fail"
    on_invalid: Literal["fail", "quarantine"] = "fail"
    out: StrictStr = "reports"
    run_id: RunId = None
    write: bool = True
    no_text: bool = False

    @field_validator("shares")
    @classmethod
    def _whole(cls, shares: dict[str, float]) -> dict[str, float]:
        if not isclose(sum(shares.values()), 1, abs_tol=1e-9):
            raise ValueError(f"the shares make {sum(shares.values()):.10g}, not 1")
        return shares

    @model_validator(mode="after")
    def _assigning(self) -> LeakageRequest:
        lone = [name for name in _OF_ASSIGN if name in self.model_fields_set and not self.assign]
        if lone:
            raise ValueError(f"--{lone[0]} is for --assign; add it")
        return self

    @property
    def contract(self) -> str:
        """Whatever the files have: splits are no matter of a contract."""
        return "auto"


def build_leakage_request(options: dict[str, Any]) -> LeakageRequest:
    """A request from plain values.

    Raises:
        UsageError: a value is wrong; the message names each option at fault.
    """
    return built(LeakageRequest, options, "cases")
