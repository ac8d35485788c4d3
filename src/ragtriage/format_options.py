"""What a request says of the layout of its files. The presets themselves are read/presets."""

from __future__ import annotations

import re
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, StrictStr

from ragtriage.request_parts import Mapped

_STEP = r"[\w-]+(?:\[\d*\])*"
# A name that leads into a record: at least one dot or bracket, nothing but such steps.
_PATH = re.compile(rf"(?=.*[.\[]){_STEP}(?:\.{_STEP})*")
# Records of no particular tool: what mappings into nested records need.
OWN = "records"


class FormatOptions(BaseModel):
    """Presets by role, and what helps to read files that are not ours."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    mapping: Mapped = Field(default_factory=dict, alias="map")
    preset: StrictStr | None = Field(default=None, alias="from")
    cases_from: StrictStr | None = None
    trace_from: StrictStr | None = None
    corpus_from: StrictStr | None = None
    system: StrictStr | None = None
    map_file: StrictStr | None = None
    list_separator: StrictStr | None = Field(default=None, min_length=1)
    text_ids: tuple[StrictStr, ...] = ()
    trec_order: Literal["score", "rank"] = "score"
    qrels_split: StrictStr | None = None
    id_from: Literal["id", "question"] = "id"

    def preset_for(self, role: str) -> str | None:
        """The preset that reads files of this role; None for our own formats."""
        if role == "corpus":
            return self.corpus_from
        named = {"cases": self.cases_from, "trace": self.trace_from}.get(role)
        return named or self.preset or (OWN if self._leads_inside() else None)

    def _leads_inside(self) -> bool:
        paths = any(_PATH.fullmatch(name) for name in self.mapping)
        return paths or self.map_file is not None or self.list_separator is not None
