"""All that a comparison can be asked, in one model, as `ragtriage.request` has it for a run."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StrictInt,
    StrictStr,
    field_validator,
    model_validator,
)

from ragtriage.errors import UsageError, nearest
from ragtriage.request import (
    OPTION_NAMES,
    SLICEABLE,
    EvaluateRequest,
    build_request,
)
from ragtriage.request_parts import built
from ragtriage.schemas.texts import TEXT_FIELDS

Allowed = Literal["cases", "labels", "corpus", "cutoffs", "normalizer"]


class CompareRequest(BaseModel):
    """One comparison: which two runs, what may differ, what must hold, where to write.

    `base` and `candidate` are run folders, or inputs that `evaluate` says how to evaluate; with
    `cases` such an input is a trace of these.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    base: StrictStr
    candidate: StrictStr
    cases: tuple[StrictStr, ...] = ()
    allow: tuple[Allowed, ...] = ()
    gate: tuple[StrictStr, ...] = ()
    max_regressions: Annotated[StrictInt, Field(ge=0)] | None = None
    test: bool = False
    intervals: bool = False
    test_metric: tuple[StrictStr, ...] = ()
    seed: Annotated[StrictInt, Field(ge=0, lt=2**63)] = 0
    slice: tuple[StrictStr, ...] = ()
    out: StrictStr = "reports"
    write: bool = True
    all_cases: bool = False
    no_text: bool = False
    evaluate: EvaluateRequest = Field(default_factory=EvaluateRequest)

    @field_validator("allow", mode="before")
    @classmethod
    def _known_difference(cls, names: Any) -> Any:
        for name in names if isinstance(names, list | tuple) else ():
            if name not in _DIFFERENCES:
                near = nearest(str(name), list(_DIFFERENCES))
                if set(str(name).replace(" ", "").split(",")) <= set(_DIFFERENCES):
                    near = "; give the option once for each"
                raise ValueError(f"{name!r} is not one of {', '.join(_DIFFERENCES)}{near}")
        return names

    @field_validator("slice")
    @classmethod
    def _known_slices(cls, fields: tuple[str, ...]) -> tuple[str, ...]:
        for name in fields:
            if name not in (*_STANDARD, *SLICEABLE):
                near = nearest(name, list(SLICEABLE))
                raise ValueError(f"cannot slice by {name!r}{near}; one of {', '.join(SLICEABLE)}")
        return tuple(dict.fromkeys(fields))

    @model_validator(mode="after")
    def _metrics_are_tested(self) -> CompareRequest:
        if self.test_metric and not (self.test or self.intervals):
            raise ValueError("--test-metric chooses what is tested; give --test or --intervals too")
        return self

    @model_validator(mode="after")
    def _no_text_in_slices(self) -> CompareRequest:
        if self.no_text and (texts := [name for name in self.slice if name in TEXT_FIELDS]):
            raise ValueError(f"--slice {texts[0]} would show texts, which --no-text leaves out")
        return self


_DIFFERENCES: tuple[str, ...] = ("cases", "labels", "corpus", "cutoffs", "normalizer")
# Slices every comparison has; named with --slice they also enter the family of tests.
_STANDARD = ("split", "tag", "answerable")
_OWN = tuple(name for name in CompareRequest.model_fields if name != "evaluate")
# What an evaluation is asked apart from its place and its verdict.
_PASSED_ON = tuple(
    name
    for name in OPTION_NAMES
    if name not in ("inputs", "trace", "run_id", *_OWN) and not name.startswith("min_")
)
COMPARE_OPTIONS = (*_OWN, *_PASSED_ON)


def build_compare_request(options: dict[str, Any]) -> CompareRequest:
    """A comparison's request from plain values; what it does not know goes to `evaluate`.

    Raises:
        UsageError: a value is wrong; the message names each option at fault.
    """
    unknown = [name for name in options if name not in COMPARE_OPTIONS]
    if unknown:
        near = nearest(unknown[0], list(COMPARE_OPTIONS))
        raise UsageError(f"{unknown[0]}: no such option of a comparison{near}")
    own = {name: value for name, value in options.items() if name in _OWN}
    passed_on = {name: value for name, value in options.items() if name in _PASSED_ON}
    return built(CompareRequest, own | {"evaluate": build_request(passed_on)})


def side_request(request: CompareRequest, source: str) -> EvaluateRequest:
    """How to evaluate one side that is an input."""
    given = {"cases": request.cases, "trace": (source,)} if request.cases else {"inputs": (source,)}
    slices = tuple(name for name in request.slice if name in SLICEABLE)
    asked = request.evaluate.model_dump(by_alias=True, include=request.evaluate.model_fields_set)
    places = {"out": request.out, "write": request.write, "no_text": request.no_text}
    return build_request(asked | given | places | {"slice": slices})


def idle_options(request: CompareRequest) -> list[str]:
    """Options that only an evaluation would heed; idle where both sides are finished runs."""
    names = sorted(request.evaluate.model_fields_set)
    return [*(["cases"] if request.cases else []), *names]
