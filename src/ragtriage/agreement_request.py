"""All that `ragtriage agreement` can be asked, in one model: flags and Python fill the same one."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StrictInt,
    StrictStr,
    ValidationError,
    field_validator,
)

from ragtriage.errors import UsageError, nearest
from ragtriage.request import plain_run_id, readable
from ragtriage.schemas.agreement import MIN_VALIDATED

PREFIX = "agreement-"


class AgreementRequest(BaseModel):
    """Which reviews to read, how strictly, and where to write what they come to."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    reviews: Annotated[tuple[StrictStr, ...], Field(min_length=1)]
    extra: Literal["fail", "ignore"] = "fail"
    on_invalid: Literal["fail", "quarantine"] = "fail"
    min_validated: Annotated[StrictInt, Field(ge=1)] = MIN_VALIDATED
    out: StrictStr = "reports"
    run_id: StrictStr | None = None
    write: bool = True
    no_text: bool = False

    @field_validator("run_id")
    @classmethod
    def _plain_run_id(cls, run_id: str | None) -> str | None:
        """The folder is `agreement-<run_id>`: no evaluated run can be named so."""
        return plain_run_id(run_id)

    @field_validator("reviews")
    @classmethod
    def _standard_input_once(cls, reviews: tuple[str, ...]) -> tuple[str, ...]:
        if reviews.count("-") > 1:
            raise ValueError("standard input can be read once only")
        return reviews

    @property
    def contract(self) -> str:
        """Reviews follow no contract over cases; readers ask all the same."""
        return "auto"

    @property
    def mapping(self) -> dict[str, str]:
        """No field has another name by request."""
        return {}


def build_agreement_request(options: dict[str, Any]) -> AgreementRequest:
    """A request from plain values.

    Raises:
        UsageError: a value is wrong; the message names each option at fault.
    """
    known = list(AgreementRequest.model_fields)
    unknown = [name for name in options if name not in known]
    if unknown:
        raise UsageError(f"{unknown[0]}: no such option{nearest(unknown[0], known)}")
    if not options.get("reviews"):
        raise UsageError("no reviews; give a file, a folder, a glob or -")
    try:
        return AgreementRequest(**options)
    except ValidationError as error:
        raise UsageError("; ".join(readable(item) for item in error.errors())) from None
