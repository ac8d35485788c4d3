"""What a Dask worker of a test loads first: small batches, and what is to happen to it.

`DOOMED`: a file; the worker makes it in the middle of its first shard and waits there to be killed.
`BROKEN`: a case ID; the chunk that holds it cannot be scored.
"""

import os
import time
from pathlib import Path
from typing import Any

from ragtriage import folding
from ragtriage.read import batches
from ragtriage.scoring import score

batches.BATCH_BYTES = 20_000
_DOOMED = os.environ.get("DOOMED")
_BROKEN = os.environ.get("BROKEN")
_scored: list[int] = []


def _fated(cases: Any, *arguments: Any) -> Any:
    if _DOOMED and _scored:
        Path(_DOOMED).touch()
        time.sleep(600)
    if _BROKEN in cases["case_id"]:
        raise LookupError("nobody foresaw it")
    _scored.append(cases.height)
    return score(cases, *arguments)


folding.score = _fated
