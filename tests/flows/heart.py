"""Work that never ends, for tests that end it; loads nothing else."""

from __future__ import annotations

import os
import time
from pathlib import Path


def beat(path: str) -> None:
    """Say who works here, then go on for a minute."""
    part = Path(path + ".part")
    part.write_text(str(os.getpid()), encoding="utf-8")
    part.rename(path)
    time.sleep(60)
