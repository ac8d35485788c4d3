"""`records`: home-grown golden sets, one record a case, with whatever names people gave."""

from __future__ import annotations

from ragtriage.read.presets.base import Preset
from ragtriage.read.presets.rows import Record, Row, row_reader


def _map(_row: Row) -> Record:
    return {}


PRESET = Preset(
    name="records",
    about="home-grown records of no particular tool",
    layout="JSON lines, JSON, CSV, TSV or Parquet, one record a case",
    maps_to="what `--map` says",
    reader=row_reader(_map),
)
