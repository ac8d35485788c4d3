"""Passages by their exact text, for files that store texts where IDs are needed."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from ragtriage.read.faults import quoted
from ragtriage.read.presets.base import UnmappableError
from ragtriage.read.presets.values import shown

# Names that several tools give to texts, and the field of ours whose IDs they stand for.
_TEXTS = {
    "contexts": "retrieved_ids",
    "retrieved_contexts": "retrieved_ids",
    "retrieval_context": "retrieved_ids",
    "retrievalContext": "retrieved_ids",
    "reference_contexts": "required_ids",
    "context": "required_ids",
}


def without_ids(dropped: Collection[str], fields: Collection[str]) -> list[str]:
    """Which of the names set aside hold texts whose IDs no field supplies."""
    return sorted(name for name in dropped if _TEXTS.get(name, name) not in (*fields, name))


class TextIds:
    """Which ID a text has; texts that two IDs share have none."""

    def __init__(self) -> None:
        self._ids: dict[str, str] = {}
        self._shared: dict[str, str] = {}

    def add(self, evidence_id: str, text: str) -> None:
        """One passage of the corpus."""
        first = self._ids.setdefault(text, evidence_id)
        if first != evidence_id:
            self._shared[text] = evidence_id

    def resolve(self, name: str, texts: Any) -> list[str] | None:
        """The IDs of texts, in their order.

        Raises:
            UnmappableError: a text is no passage's, or two passages'; or these are no texts.
        """
        if texts is None:
            return None
        if not isinstance(texts, str | list):
            raise UnmappableError(name, f"expected a list of texts, got {shown(texts)}")
        return [self._one(name, text) for text in ([texts] if isinstance(texts, str) else texts)]

    def _one(self, name: str, text: Any) -> str:
        found = self._ids.get(text) if isinstance(text, str) else None
        if found is None:
            raise UnmappableError(
                name, f"no passage of --text-ids has exactly this text: {shown(text)}"
            )
        if text in self._shared:
            raise UnmappableError(
                name,
                f"two passages of --text-ids have this text, {quoted(found)} and "
                f"{quoted(self._shared[text])}: {shown(text)}; name them by ID",
            )
        return found
