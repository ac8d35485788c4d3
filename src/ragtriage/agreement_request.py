"""All that `ragtriage agreement` can be asked, in one model: flags and Python fill the same one."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictInt, StrictStr

from ragtriage.request_parts import Files, RunId, built
from ragtriage.schemas.agreement import MIN_VALIDATED

# Of its folders: no evaluated run can be named so.
PREFIX = "agreement-"


class AgreementRequest(BaseModel):
    """Which reviews to read, how strictly, and where to write what they come to."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    reviews: Files
    extra: Literal["fail", "ignore"] = "fail"
    on_invalid: Literal["fail", "quarantine"] = "fail"
    min_validated: Annotated[StrictInt, Field(ge=1)] = MIN_VALIDATED
    out: StrictStr = "reports"
    run_id: RunId = None
    write: bool = True
    no_text: bool = False

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
    return built(AgreementRequest, options, "reviews")
