"""Which of our fields a key in a user's file stands for. Names only, no values."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import pandera.polars as pa

from ragtriage.errors import nearest
from ragtriage.schemas.contracts import CONTRACTS, Contract
from ragtriage.schemas.fields import Alias
from ragtriage.schemas.inputs import infos

if TYPE_CHECKING:
    from ragtriage.read.gate import Profile


@dataclass(frozen=True)
class Key:
    """A key of a file, the field it stands for, and how its value is to be taken.

    `scalar`: a string is a list of one. `null_is_none`: null means none given, `[]`.
    `joins`: the value joins the tags as `key=value`.
    """

    name: str
    field: str
    scalar: bool = False
    null_is_none: bool = False
    joins: bool = False


# Unknown names whose nearest is remembered: it takes a while to find, for record after record.
_NAMES = 1_000
# `--map` names fields of the case record.
UNMAPPED = ("corpus", "reviews")


class KeyResolver:
    """Resolves keys for one role under one contract and mapping."""

    def __init__(
        self,
        model: type[pa.DataFrameModel],
        contract: Contract,
        mapping: dict[str, str],
        role: str,
    ) -> None:
        self._infos = infos(model)
        self._role = role
        self._mapping = mapping
        self._keys = {name: Key(name, name) for name in self._infos}
        self._restricted: dict[str, str] = {}
        self._nearest = lru_cache(maxsize=_NAMES)(lambda name: nearest(name, list(self._keys)))
        for field, info in self._infos.items():
            for alias in info.aliases:
                self._admit(field, alias, contract)
        for theirs, ours in mapping.items():
            self._keys[theirs] = self._mapped(theirs, ours)

    def resolve(self, name: str) -> Key | None:
        """The key, or None when the name stands for nothing here."""
        return self._keys.get(name)

    def settle(self, profile: Profile) -> None:
        """Take over what a file's keys turned out to be."""
        self._keys |= profile.named

    def why_unknown(self, name: str) -> str:
        """What to tell a user about a name that stands for nothing here."""
        if name in self._restricted:
            field = self._restricted[name]
            contracts = [c.name for c in CONTRACTS.values() if name in c.aliases]
            under = f"use --contract {' or '.join(contracts)}, or " if contracts else ""
            return (
                f"not a known field; where it means `{field}`, "
                f"{under}--map {name}={field} (or --extra ignore)"
            )
        near = self._nearest(name)
        unmapped = "remove it" if self._role in UNMAPPED else "remove it, map it with --map"
        advice = "correct the name" if near else unmapped
        return f"not a known field{near}; {advice}, or pass --extra ignore"

    def _admit(self, field: str, alias: Alias, contract: Contract) -> None:
        if alias.role is not None:
            if alias.role != self._role:
                return
        elif alias.restricted and alias.name not in contract.aliases:
            self._restricted[alias.name] = field
            return
        self._keys[alias.name] = Key(
            alias.name, field, alias.scalar, null_is_none=alias.scalar, joins=alias.joins
        )

    def _mapped(self, theirs: str, ours: str) -> Key:
        info = self._infos[ours]
        if any(alias.joins for alias in info.aliases):
            return Key(theirs, ours, joins=True)
        # A mapped name may hold a string where ours is a list: that is what mapping is for.
        scalar = [alias.name for alias in info.aliases if alias.scalar]
        return Key(theirs, ours, scalar=bool(scalar), null_is_none=theirs in scalar)
