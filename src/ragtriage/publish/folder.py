"""A run's folder, whole or absent: written out of sight, then renamed into place.

The only module that creates, renames or removes a folder; single files: `single_file`.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

import msgspec
import polars as pl
import polars.exceptions

from ragtriage.errors import InputError, UsageError
from ragtriage.publish.escape import visible_json
from ragtriage.read.folders import UNFINISHED

# Larger levels are hardly smaller.
_LEVEL = 1
# Smallest and largest values are a sixth of the cost, and help no one to skip a part.
_STATISTICS = {"null_count": True, "min": False, "max": False, "distinct_count": False}
# Of a table put together from blocks: small groups keep little in memory.
_ROWS = 50_000
# What stands beside a run being written: its lock, and what it puts aside. No run ID has a tilde.
_LOCK, _OLD, _SHARDS, _SPILL = "~lock", "~old", "~shards", "~spill"
_OF_SYSTEM = re.compile(r"(?:.*: )?(.+) \(os error [0-9]+\)")


class RunFolder:
    """`out/run_id`, being written in `out/.unfinished/run_id`.

    `replace`: an older folder of that name makes way when the new one is whole. For what is
    named after its contents, as a comparison is; never for a run.
    """

    def __init__(self, out: str, run_id: str, *, replace: bool = False) -> None:
        self._replace = replace
        self.out = Path(out)
        self.run_id = run_id
        self.path = self.out / run_id
        self._work = self.out / UNFINISHED / run_id
        self._lock: IO[str] | None = None
        self._made_out = False

    @property
    def spill(self) -> Path:
        """The folder for what is put aside while the run lasts: standard input, rows to join."""
        return _beside(self._work, _SPILL)

    @property
    def attempts(self) -> Path:
        """Where shards of the run are written, apart from it: what is left there never appears."""
        return _beside(self._work, _SHARDS)

    def open(self) -> None:
        """Claim the run ID and clear away what dead runs left.

        Raises:
            UsageError: the run exists already, or another process is writing it.
        """
        if os.path.lexists(self.path) and not self._replace:
            raise UsageError(f"--run-id: {self.path} exists already; choose another run ID")
        self._made_out = not self.out.exists()
        with writing(self.out):
            self._work.parent.mkdir(parents=True, exist_ok=True)
            _remove_dead(self._work.parent)
            self._lock = _locked(self._lock_file())
            if self._lock is None:
                other = "" if self._replace else ", or choose another --run-id"
                raise UsageError(
                    f"{self.path} is being written by another process; wait for it{other}"
                )
            self._work.mkdir()

    def write_table(self, name: str, frame: pl.DataFrame) -> None:
        """One Parquet file under the run's folder; every table carries `run_id` first."""
        write_table(self._work / name, frame, self.run_id)

    def adopt(self, source: Path, name: str) -> None:
        """Take in a file that was written elsewhere on the same disk."""
        target = self._work / name
        with writing(target):
            target.parent.mkdir(exist_ok=True)
            source.rename(target)

    def write_blocks(self, name: str, blocks: Iterable[pl.DataFrame]) -> None:
        """One Parquet file from blocks of rows, of which no two are in memory at once."""
        parts = self._work / f"{name}.parts"
        for place, block in enumerate(blocks):
            self.write_table(f"{parts.name}/{place:05d}.parquet", block)
        target = self._work / name
        with writing(target):
            found = sorted(parts.iterdir())
            if len(found) == 1:
                found[0].rename(target)
            else:
                pl.scan_parquet(found, glob=False).sink_parquet(
                    target, compression="zstd", compression_level=_LEVEL, row_group_size=_ROWS
                )
            shutil.rmtree(parts)

    def write_text(self, name: str, text: str) -> None:
        """One UTF-8 text file with Unix line ends, whatever the locale."""
        target = self._work / name
        with (
            writing(target),
            target.open("w", encoding="utf-8", errors="backslashreplace", newline="\n") as stream,
        ):
            stream.write(text)

    def write_json(self, name: str, value: Any) -> None:
        """One JSON file."""
        self.write_text(name, to_json(value))

    def discard(self, name: str) -> None:
        """Take back a sub-folder of tables."""
        shutil.rmtree(self._work / name, ignore_errors=True)

    def clear(self) -> None:
        """Take back all that was written."""
        shutil.rmtree(self._work)
        self._work.mkdir()

    def publish(self) -> None:
        """Let the folder appear, whole.

        Raises:
            UsageError: the run ID was taken meanwhile.
        """
        with writing(self.path):
            if self._replace and os.path.lexists(self.path):
                self._make_way()
            try:
                self._work.rename(self.path)
            except OSError as error:
                if not os.path.lexists(self.path):
                    raise
                raise UsageError(
                    f"--run-id: {self.path} exists already ({error.strerror})"
                ) from None
        self.close()

    def _make_way(self) -> None:
        """Take the older folder out of sight; it goes with what is unfinished."""
        if self.path.is_symlink() or not (self.path / "manifest.json").is_file():
            raise UsageError(f"{self.path} exists already and is none of ours; move it away")
        old = _beside(self._work, _OLD)
        shutil.rmtree(old, ignore_errors=True)
        self.path.rename(old)

    def close(self) -> None:
        """Leave nothing unfinished behind; harmless after `publish`."""
        if self._lock is None:
            return
        shutil.rmtree(self._work, ignore_errors=True)
        shutil.rmtree(_beside(self._work, _OLD), ignore_errors=True)
        shutil.rmtree(self.attempts, ignore_errors=True)
        shutil.rmtree(self.spill, ignore_errors=True)
        self._lock_file().unlink(missing_ok=True)
        self._lock.close()
        self._lock = None
        # Only ever empty folders go: what another run has in them keeps them.
        with suppress(OSError):
            self._work.parent.rmdir()
            if self._made_out:
                self.out.rmdir()

    def _lock_file(self) -> Path:
        return _beside(self._work, _LOCK)


def write_table(target: Path, frame: pl.DataFrame, run_id: str) -> None:
    """One Parquet file of a run's tables; its folder is made where it is not there yet.

    Raises:
        InputError: it cannot be written.
    """
    with writing(target):
        target.parent.mkdir(exist_ok=True)
        tagged(frame, run_id).write_parquet(
            target, compression="zstd", compression_level=_LEVEL, statistics=_STATISTICS
        )


def tagged(frame: pl.DataFrame, run_id: str) -> pl.DataFrame:
    """A table as it is written: with its run, first."""
    return frame.select(pl.lit(run_id).alias("run_id"), pl.exclude("run_id"))


def clear_dead(out: str) -> None:
    """Remove what processes that are gone left unfinished; runs being written stay."""
    unfinished = Path(out) / UNFINISHED
    _remove_dead(unfinished)
    with suppress(OSError):
        unfinished.rmdir()


def to_json(value: Any) -> str:
    """JSON text that is the same for the same value, and does nothing to a terminal.

    A lone surrogate cannot occur.
    """
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    # Laid out by msgspec: json's own encoder is many times slower with an indent.
    laid_out = msgspec.json.format(text.encode("utf-8", "backslashreplace"), indent=1)
    # Means the same in JSON, and is no command where GitHub's runner reads what is printed.
    return visible_json(laid_out.decode("utf-8")).replace("##[", "#\\u0023[") + "\n"


def _beside(path: Path, ending: str) -> Path:
    return path.with_name(path.name + ending)


@contextmanager
def writing(target: Path) -> Iterator[None]:
    """What goes wrong in writing is said in a user's words."""
    try:
        yield
    except (polars.exceptions.PolarsError, OSError) as error:
        reason = getattr(error, "strerror", None) or _reason(str(error))
        raise InputError(
            f"{_visible(target)}: cannot be written: {reason}; check --out, permissions and "
            "space; nothing was published"
        ) from None


def _reason(told: str) -> str:
    """Why polars could not write, in the system's own words where it passes them on."""
    first = told.split("\n", 1)[0]
    if found := _OF_SYSTEM.search(first):
        return found[1]
    return "not all of it could be stored" if "transport error" in first else first


def _visible(target: Path) -> Path:
    """What a user knows of it: the folder of runs, for what is hidden there until it is whole."""
    hidden = next((path for path in target.parents if path.name == UNFINISHED), None)
    return target if hidden is None else hidden.parent


def _locked(path: Path) -> IO[str] | None:
    stream = path.open("a", encoding="utf-8")
    try:
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        stream.close()
        return None
    return stream


def _remove_dead(unfinished: Path) -> None:
    """Runs whose process is gone hold no lock any more; its file may be gone, too."""
    for lock_file in (*unfinished.glob(f"*{_LOCK}"), *_missing_locks(unfinished)):
        lock = _locked(lock_file)
        if lock is None:
            continue
        for part in _parts_of(lock_file):
            shutil.rmtree(part, ignore_errors=True)
        lock_file.unlink(missing_ok=True)
        lock.close()


def _parts_of(lock_file: Path) -> list[Path]:
    """The folders that a lock stands for."""
    run = lock_file.with_name(lock_file.name.removesuffix(_LOCK))
    return [run, *(_beside(run, ending) for ending in (_OLD, _SHARDS, _SPILL))]


def _missing_locks(unfinished: Path) -> list[Path]:
    """Locks of folders that have none, as copied and half-cleared ones: whoever writes holds one.

    Folders first, then locks: what appears meanwhile has its lock before its folder.
    """
    folders = sorted(path for path in _children(unfinished) if path.is_dir())
    covered = {part for lock in unfinished.glob(f"*{_LOCK}") for part in _parts_of(lock)}
    return [_beside(folder, _LOCK) for folder in folders if folder not in covered]


def _children(folder: Path) -> list[Path]:
    with suppress(OSError):
        return list(folder.iterdir())
    return []
