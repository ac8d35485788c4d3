"""What a worker does with one shard: learn it, look for IDs in it, evaluate it.

Each job is a function of one small argument with a small result. What is large lies on disk: the
input, and the folder of attempts, which all workers see.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from ragtriage.admission import Admission
from ragtriage.errors import InputError, RagtriageError, ShardError, is_panic, no_room
from ragtriage.folding import Fold, Sums
from ragtriage.publish.folder import writing
from ragtriage.publish.parts import Parts
from ragtriage.publish.shards import ShardFolder, keep_frame, shared_frame
from ragtriage.publish.tables import reject_table
from ragtriage.read import shards
from ragtriage.read.chunk import RowFault
from ragtriage.read.files import Fingerprint, InputFile, fingerprint
from ragtriage.read.index import Duplicates
from ragtriage.read.input import Input
from ragtriage.read.repeats import write_hashes
from ragtriage.read.shards import KnownShard, Shard, ShardIndex
from ragtriage.relevance import Corpus
from ragtriage.request import EvaluateRequest
from ragtriage.summary import Values
from ragtriage.tally import SHOWN_CASES, Tally
from ragtriage.version import __version__

# Hashes and sums are only the same everywhere with the same code.
VERSIONS = f"ragtriage {__version__} with polars {pl.__version__}"
_NOTHING = "nothing was published"


@dataclass(frozen=True)
class Setting:
    """What all jobs of a run have in common. `attempts`: the folder that workers write to."""

    request: EvaluateRequest
    run_id: str
    attempts: Path
    versions: str = VERSIONS


@dataclass(frozen=True)
class LearnJob:
    """Index a shard."""

    setting: Setting
    shard: Shard

    @property
    def name(self) -> str:
        """How messages call it."""
        return self.shard.name

    @property
    def file(self) -> InputFile:
        """The file it reads."""
        return self.shard.file


@dataclass(frozen=True)
class Learnt:
    """`hashes`: where those of the shard's IDs lie. `seen`: the digest, of a whole file."""

    index: ShardIndex
    hashes: Path
    seen: Fingerprint | None


@dataclass(frozen=True)
class DigestJob:
    """Take the SHA-256 of a file that is cut."""

    setting: Setting
    file: InputFile

    @property
    def name(self) -> str:
        """How messages call it."""
        return f"the digest of {self.file.name}"


@dataclass(frozen=True)
class FindJob:
    """Find the IDs with these hashes."""

    setting: Setting
    known: KnownShard
    wanted: pl.Series

    @property
    def name(self) -> str:
        """How messages call it."""
        return self.known.shard.name


@dataclass(frozen=True)
class FoldJob:
    """Evaluate a shard.

    `fields`: what the whole input supplies. `duplicates`: those of this shard's IDs that are not
    unique, wherever the others are. `corpus`: where it lies. `refused`: is nothing to
    be evaluated? `values`: those of each slice that are kept apart, once that is known.
    """

    setting: Setting
    known: KnownShard
    fields: set[str]
    duplicates: Duplicates
    corpus: Path | None = None
    refused: bool = False
    values: Values = field(default_factory=dict)

    @property
    def name(self) -> str:
        """How messages call it."""
        return self.known.shard.name


@dataclass(frozen=True)
class Folded:
    """What a shard came to. `parts`: how many of each table lie in the folder `attempt`."""

    sums: Sums
    attempt: Path
    parts: dict[str, int]
    shown: tuple[Path, ...] | None


Job = LearnJob | DigestJob | FindJob | FoldJob


def learn_shard(job: LearnJob) -> Learnt:
    """First pass over a shard."""
    with _named(job):
        folder = ShardFolder(job.setting.attempts, "index", job.setting.run_id)
        index = shards.learn(job.shard, job.setting.request)
        hashes = folder.path / "hashes.npy"
        with writing(hashes):
            write_hashes(hashes, index.index.hashes)
        index.index.hashes = []
        return Learnt(index, hashes, fingerprint(job.shard.file) if job.shard.whole else None)


def take_digest(job: DigestJob) -> Fingerprint:
    """SHA-256 of a file: it can only be taken from one end to the other."""
    with _named(job):
        return fingerprint(job.file)


def find_ids(job: FindJob) -> list[tuple[str, int]]:
    """IDs whose hash is wanted, with their lines, in file order."""
    with _named(job):
        return shards.positions(job.known, job.setting.request, job.wanted)


def fold_shard(job: FoldJob) -> Folded:
    """Second pass over a shard: as over a whole run, its parts in a folder of their own."""
    with _named(job):
        request, number = job.setting.request, job.known.shard.number
        folder = ShardFolder(job.setting.attempts, f"{number:05d}", job.setting.run_id)
        parts = Parts(folder)
        shown = None if request.all_cases else SHOWN_CASES
        tally = Tally(shown=shown, texts=not request.no_text)
        admission = _admission(job, tally, parts)
        fold = Fold(request, admission, tally, parts, lambda _step, _n: None, overlap=False)
        fold.begin(refused=job.refused)
        if job.values:
            fold.sums.summary.know(job.values)
        fold.run()
        fold.sums.summary.settle()
        return Folded(fold.sums, folder.path, parts.counts, _shown_apart(tally, folder))


def _admission(job: FoldJob, tally: Tally, parts: Parts) -> Admission:
    def reject(faults: list[RowFault]) -> None:
        parts.write("rejects", reject_table(faults))

    request, known = job.setting.request, job.known
    source = shards.reopened(known, request)
    admission = Admission(request, tally, reject)
    admission.take_part(
        Input(job.fields, job.duplicates, lambda: source.chunks(known.index)),
        Corpus(shared_frame(job.corpus)) if job.corpus is not None else None,
    )
    return admission


def _shown_apart(tally: Tally, folder: ShardFolder) -> tuple[Path, ...] | None:
    """Cases that a report may show: on disk, since the merge needs those of few shards."""
    shown = tally.take_shown()
    if shown is None:
        return None
    named = zip(shown._fields, shown, strict=True)
    return tuple(keep_frame(folder.path / f"shown-{name}.arrow", frame) for name, frame in named)


@contextmanager
def _named(job: Job) -> Iterator[None]:
    """Whatever fails says which shard it was; a user's mistake is said as one process says it."""
    if job.setting.versions != VERSIONS:
        raise ShardError(
            f"{job.name}: the worker has {VERSIONS}, the run was started with "
            f"{job.setting.versions}; install the same everywhere"
        )
    try:
        yield
    except InputError as error:
        if isinstance(job, FoldJob):
            nothing = "" if _NOTHING in str(error) else f"; {_NOTHING}"
            raise InputError(f"{error}\nin {job.name}{nothing}") from None
        raise
    except RagtriageError:
        raise
    except BaseException as error:
        if not (isinstance(error, Exception) or is_panic(error)):
            raise
        kind = type(error).__name__
        # What nobody foresaw may quote any text.
        unforeseen = kind if job.setting.request.no_text else f"{kind}: {error}"
        why = no_room(error) or unforeseen
        raise ShardError(f"{job.name} failed: {why}; {_NOTHING}") from error
