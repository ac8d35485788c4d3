"""Reads ahead: the next chunk is made while the last one is worked on. Order is kept."""

from __future__ import annotations

import queue
import threading
from collections.abc import Generator, Iterable
from typing import TypeVar

Item = TypeVar("Item")

_END = object()


def ahead(items: Iterable[Item]) -> Generator[Item, None, None]:
    """The same items, made by another thread: each while the one before it is worked on.

    One item at most is made and not yet asked for: chunks are large. What the maker raises is
    raised here, in its place.
    """
    waiting: queue.Queue[object] = queue.Queue(maxsize=1)
    room = threading.Semaphore(1)
    stopped = threading.Event()

    def make() -> None:
        try:
            made = iter(items)
            while True:
                room.acquire()
                if stopped.is_set():
                    return
                waiting.put(next(made, _END))
        except BaseException as error:  # noqa: BLE001 - handed on to whoever asks for the item
            waiting.put(error)
        finally:
            if isinstance(items, Generator):
                items.close()

    maker = threading.Thread(target=make, name="ragtriage-read", daemon=True)
    maker.start()
    try:
        while (item := waiting.get()) is not _END:
            room.release()
            if isinstance(item, BaseException):
                raise item
            yield item  # type: ignore[misc]
            del item
    finally:
        stopped.set()
        room.release()
        maker.join()
