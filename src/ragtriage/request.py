"""All that a run can be asked, in one model: flags, a TOML file and Python fill the same one."""

from __future__ import annotations

import tomllib
from math import isfinite
from pathlib import Path
from typing import Annotated, Any, Literal, cast

import polars as pl
from pydantic import (
    ConfigDict,
    Field,
    StrictInt,
    StrictStr,
    field_validator,
    model_validator,
)

from ragtriage.errors import UsageError, nearest
from ragtriage.format_options import FormatOptions
from ragtriage.option_words import WORDS
from ragtriage.request_parts import RunId, built, option_names
from ragtriage.schemas.agreement import MIN_VALIDATED
from ragtriage.schemas.contracts import CONTRACTS
from ragtriage.schemas.inputs import Cases, dtypes
from ragtriage.schemas.texts import TEXT_FIELDS

# Longer rankings than this are cut by nothing that anybody evaluates.
LARGEST_CUTOFF = 2**31 - 1
_LISTS = (
    "inputs",
    "cases",
    "trace",
    "corpus",
    "reviews",
    "k",
    "gate",
    "slice",
    "abstain_text",
    "allow",
    "test_metric",
    "against",
    "held_out",
    "text_ids",
)
BESIDE_RUNS = ("index.html", "accepted.json")

Cutoff = Annotated[StrictInt, Field(ge=1, le=LARGEST_CUTOFF)]
Threshold = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False, strict=True)]
# Of a flow, not of a run: it says nothing about results.
TimeLimit = Annotated[
    float | None,
    Field(
        gt=0,
        allow_inf_nan=False,
        description="Seconds after which the work is killed, whatever it is doing. The flow has "
        "then failed; what was published before stays.",
    ),
]


def _described(schema: dict[str, Any]) -> None:
    for name, field in schema["properties"].items():
        field["description"] = WORDS[name]


class EvaluateRequest(FormatOptions):
    """One evaluation: what to read, how to score it, what must hold, where to write."""

    model_config = ConfigDict(extra="forbid", frozen=True, json_schema_extra=_described)

    inputs: tuple[StrictStr, ...] = ()
    cases: tuple[StrictStr, ...] = ()
    trace: tuple[StrictStr, ...] = ()
    corpus: tuple[StrictStr, ...] = ()
    reviews: tuple[StrictStr, ...] = ()
    contract: str = "auto"
    k: tuple[Cutoff, ...] = (10,)
    extra: Literal["fail", "ignore"] = "fail"
    on_invalid: Literal["fail", "quarantine"] = "fail"
    unknown_trace: Literal["fail", "ignore"] = "fail"
    missing_trace: Literal["fail", "empty", "not-run"] = "fail"
    unknown_review: Literal["fail", "ignore"] = "fail"
    judge: StrictStr | None = None
    min_validated: Annotated[StrictInt, Field(ge=1)] = MIN_VALIDATED
    normalizer: Literal["lower-whitespace", "exact", "casefold", "squad"] = "lower-whitespace"
    abstain_text: tuple[StrictStr, ...] = ()
    slice: tuple[StrictStr, ...] = ()
    intervals: bool = False
    seed: Annotated[StrictInt, Field(ge=0, lt=2**63)] = 0
    about: StrictStr | None = None
    gate: tuple[StrictStr, ...] = ()
    min_recall: Threshold | None = None
    min_context_precision: Threshold | None = None
    min_mrr: Threshold | None = None
    min_citation_coverage: Threshold | None = None
    min_citation_validity: Threshold | None = None
    out: StrictStr = "reports"
    run_id: RunId = None
    write: bool = True
    all_cases: bool = False
    no_text: bool = False

    @field_validator("k")
    @classmethod
    def _some_cutoff(cls, cutoffs: tuple[int, ...]) -> tuple[int, ...]:
        if not cutoffs:
            raise ValueError("give at least one cutoff")
        return tuple(dict.fromkeys(cutoffs))

    @field_validator("contract")
    @classmethod
    def _known_contract(cls, name: str) -> str:
        if name not in CONTRACTS:
            known = list(CONTRACTS)
            raise ValueError(f"no contract {name!r}{nearest(name, known)}; one of {known}")
        return name

    @field_validator("slice")
    @classmethod
    def _known_slices(cls, fields: tuple[str, ...]) -> tuple[str, ...]:
        for field in fields:
            if field not in (*SLICEABLE, "tag"):
                near = nearest(field, list(SLICEABLE))
                raise ValueError(
                    f"cannot slice by {field!r}{near}; one of {', '.join(SLICEABLE)} "
                    "(a field of your own: --map it to tags or group)"
                )
        return tuple(dict.fromkeys(fields))

    @field_validator("run_id")
    @classmethod
    def _not_beside_runs(cls, run_id: str | None) -> str | None:
        if run_id in BESIDE_RUNS:
            raise ValueError(
                f"{run_id!r} cannot name a run: a file of that name stands beside runs"
            )
        return run_id

    @model_validator(mode="after")
    def _one_way_in(self) -> EvaluateRequest:
        if self.inputs and (self.cases or self.trace):
            raise ValueError("give either input files or --cases with --trace, not both")
        if bool(self.cases) != bool(self.trace):
            raise ValueError("--cases and --trace go together; a file with both needs neither")
        for role in ("cases", "trace", "corpus"):
            if getattr(self, f"{role}_from") is not None and not getattr(self, role):
                raise ValueError(f"--{role}-from: says how --{role} is read, and none is given")
        if self.judge is not None and not self.reviews:
            raise ValueError("--judge needs --reviews: the file that holds the judge's labels")
        if self.no_text and (texts := [name for name in self.slice if name in TEXT_FIELDS]):
            raise ValueError(f"--slice {texts[0]} would show texts, which --no-text leaves out")
        given = [
            *self.inputs,
            *self.cases,
            *self.trace,
            *self.corpus,
            *self.reviews,
            *self.text_ids,
        ]
        if given.count("-") > 1:
            raise ValueError("standard input can be read once only")
        return self

    @property
    def ledger_k(self) -> int:
        """The cutoff of the ledger and of the --min gates: the first as given."""
        return self.k[0]


SLICEABLE = tuple(name for name, dtype in dtypes(Cases).items() if dtype in (pl.String, pl.Boolean))


def build_request(options: dict[str, Any]) -> EvaluateRequest:
    """A request from plain values.

    Raises:
        UsageError: a value is wrong; the message names each option at fault.
    """
    return built(EvaluateRequest, options)


# Levels of a TOML file: more than anybody writes, and fewer than what reads it can take.
_DEEPEST = 50
OPTION_NAMES = tuple(option_names(EvaluateRequest))


def load_config(path: str) -> dict[str, Any]:
    """Options from a TOML file; dashes in names may stand for underscores.

    Raises:
        UsageError: the file cannot be read or is not TOML.
    """
    values = {name.replace("-", "_"): value for name, value in read_toml(path).items()}
    for name in _LISTS:
        if name in values and not isinstance(values[name], list):
            values[name] = [values[name]]
    return values


def read_toml(path: str) -> dict[str, Any]:
    """A TOML file as a dictionary, or a UsageError that says what is wrong with it."""
    try:
        values = tomllib.loads(Path(path).read_text(encoding="utf-8-sig"))
        _check_depth(values, _DEEPEST)
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror or error}; check the path") from None
    except UnicodeDecodeError:
        raise UsageError(f"{path}: not valid UTF-8 text; save the file as UTF-8") from None
    except ValueError as error:
        # Not only a TOMLDecodeError: Python reads no number of very many digits.
        raise UsageError(f"{path}: not valid TOML: {error}") from None
    except RecursionError:
        raise UsageError(f"{path}: nested too deeply; at most {_DEEPEST} levels") from None
    return values


def _check_depth(value: Any, left: int) -> None:
    if not left:
        raise RecursionError
    for member in value.values() if isinstance(value, dict) else value:
        if isinstance(member, dict | list):
            _check_depth(member, left - 1)


def load_about(path: str) -> dict[str, Any]:
    """What a TOML file says of the run, in JSON's types: dates and the like become text."""
    return cast("dict[str, Any]", _plain(read_toml(path)))


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(member) for key, member in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, str | bool | int) or (isinstance(value, float) and isfinite(value)):
        return value
    return str(value)
