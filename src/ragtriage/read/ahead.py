"""Reads ahead: the next chunk is made while the last one is worked on. Order is kept."""

from __future__ import annotations

import queue
import threading
from collections.abc import Generator, Iterable
from typing import TypeVar

Item = TypeVar("Item")

_END = object()


def ahead(items: Iterable[Item], depth: int = 1) -> Generator[Item, None, None]:
    """The same items, made by another thread, at most `depth` before they are asked for.

    What the maker raises is raised here, in its place.
    """
    waiting: queue.Queue[object] = queue.Queue(maxsize=depth)
    stopped = threading.Event()

    def make() -> None:
        try:
            for item in items:
                if not _offer(waiting, item, stopped):
                    return
            _offer(waiting, _END, stopped)
        except BaseException as error:  # noqa: BLE001 - handed on to whoever asks for the item
            _offer(waiting, error, stopped)
        finally:
            if isinstance(items, Generator):
                items.close()

    maker = threading.Thread(target=make, name="ragtriage-read", daemon=True)
    maker.start()
    try:
        while (item := waiting.get()) is not _END:
            if isinstance(item, BaseException):
                raise item
            yield item  # type: ignore[misc]
    finally:
        stopped.set()
        maker.join()


def _offer(waiting: queue.Queue[object], item: object, stopped: threading.Event) -> bool:
    """Put an item unless nobody waits any more."""
    while not stopped.is_set():
        try:
            waiting.put(item, timeout=0.1)
        except queue.Full:
            continue
        return True
    return False
