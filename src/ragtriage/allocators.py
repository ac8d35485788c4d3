"""What is freed stays at hand for a while: a chunk needs the pages of the last one again.

To give pages back and to ask for them anew is a seventh of an evaluation's time.
"""

from __future__ import annotations

import ctypes
import os
import sys
from contextlib import suppress

# Of polars, which reads them when it is first imported. Left alone it keeps freed pages for good:
# up to half of what a run needs. Its threads hand frames to each other, so that arenas of their
# own would each hold what another frees; what is larger than some MB would be given back at once.
_OF_POLARS = "dirty_decay_ms:{},muzzy_decay_ms:1000,narenas:1,oversize_threshold:0"
_KEPT_MILLISECONDS = {"evaluate": 5000}
_KEPT_BY_OTHERS = 2000
# Of the C library, which numpy takes its arrays from: its names for the limits below.
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
_CHOSEN = ("MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_", "GLIBC_TUNABLES")
_KEPT_BYTES = 64 << 20
_LARGEST = 32 << 20


def keep_freed_pages(command: str) -> None:
    """Before polars is imported: pages stay for as long as this command may need them again.

    What the user's environment says of either allocator holds.
    """
    kept = _KEPT_MILLISECONDS.get(command, _KEPT_BY_OTHERS)
    os.environ.setdefault("_RJEM_MALLOC_CONF", _OF_POLARS.format(kept))
    if sys.platform != "linux" or not os.environ.keys().isdisjoint(_CHOSEN):
        return
    # Another C library than GNU's has no such call.
    with suppress(OSError, AttributeError):
        library = ctypes.CDLL(None)
        library.mallopt(_MMAP_THRESHOLD, _LARGEST)
        library.mallopt(_TRIM_THRESHOLD, _KEPT_BYTES)
