"""A run over shards: cut, learn, hold the IDs against each other, evaluate, merge, publish.

The merge reads sums; of cases it reads the few that reports show.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

from ragtriage.errors import InputError, RagtriageError, UsageError
from ragtriage.evaluation import Evaluation
from ragtriage.layout import check_one_system, presets_of, settled
from ragtriage.publish.folder import RunFolder
from ragtriage.publish.opened import opened_run
from ragtriage.publish.parts import TABLES
from ragtriage.publish.shards import keep_frame, kept_frame, open_attempts, take_over
from ragtriage.read.files import Fingerprint
from ragtriage.read.index import Duplicates
from ragtriage.read.input import Input, input_of
from ragtriage.read.repeats import holders, repeated
from ragtriage.read.shards import KnownShard, Shard, cut, joined
from ragtriage.request import EvaluateRequest
from ragtriage.run import Run
from ragtriage.sharding.jobs import (
    DigestJob,
    FindJob,
    Folded,
    FoldJob,
    Job,
    LearnJob,
    Learnt,
    Setting,
    find_ids,
    fold_shard,
    learn_shard,
    take_digest,
)
from ragtriage.summary import Summary, Values
from ragtriage.tally import Shown
from ragtriage.without_text import nothing_quoted

Call = tuple[Callable[[Any], Any], Job]
FirstCall = tuple[Callable[[Any], Any], LearnJob | DigestJob]
# Carries out calls wherever it likes; what each came to, in their order: a result or our error.
Pool = Callable[[Sequence[Call]], list[Any]]


def in_turn(calls: Sequence[Call]) -> list[Any]:
    """The simplest pool: one call after another, here."""
    outcomes: list[Any] = []
    for work, job in calls:
        try:
            outcomes.append(work(job))
        except RagtriageError as error:
            outcomes.append(error)
    return outcomes


def check_shardable(request: EvaluateRequest, option: str) -> None:
    """Refuse what cannot be cut into shards.

    Raises:
        UsageError: cases and traces are apart, or the run is not to be written.
    """
    if request.cases:
        raise UsageError(
            f"{option}: --cases and --trace are joined by one process; give records that hold "
            "both, or leave the option out"
        )
    if request.reviews:
        raise UsageError(
            f"{option}: --reviews are settled by one process; label the claims in the records, or "
            "leave the option out"
        )
    if presets_of(request) or request.text_ids:
        raise UsageError(
            f"{option}: reads our own records; write them first with ragtriage convert"
        )
    if not request.inputs:
        raise UsageError("no input; give a file, a folder, a glob or -")
    if not request.write:
        raise UsageError(f"{option}: shards are written to the run's folder; drop --no-write")


def run_in_shards(
    request: EvaluateRequest, pool: Pool, *, wanted: int | None = None, tapered: bool = False
) -> Run:
    """Carry out a request shard by shard; results are those of `run_request`.

    Args:
        request: what is evaluated; its inputs and `out` must be where all workers see them.
        pool: who does the work.
        wanted: about how many shards.
        tapered: are the last ones to be small?

    Raises:
        UsageError: the input names no such system.
        InputError: the input is refused.
        ShardError: a shard failed for another reason.
    """
    request = settled(request)
    check_one_system(request)
    with opened_run(request) as (run_id, started, folder), nothing_quoted(no_text=request.no_text):
        if folder is None:
            raise UsageError("shards are written to the run's folder; it must be written")
        evaluation = Evaluation(request, folder, run_id, keep_frames=False, progress=None)
        run = _Sharded(request, folder, run_id, pool)
        with evaluation.fold.timings.of("index"):
            given = run.index(cut(request.inputs, folder.spill, wanted, tapered=tapered))
            evaluation.take(given, None)
        run.fold(evaluation, given)
        return evaluation.conclude(started)


class _Sharded:
    """One run's shards on their way."""

    def __init__(
        self, request: EvaluateRequest, folder: RunFolder, run_id: str, pool: Pool
    ) -> None:
        self._request = request
        self._folder = folder
        self._pool = pool
        self._setting = Setting(request, run_id, open_attempts(folder))
        self._known: list[KnownShard] = []
        self._duplicates: list[Duplicates] = []

    def index(self, shards: list[Shard]) -> Input:
        """First pass, over all shards."""
        learnt, digests = self._learnt(shards)
        of_files = groupby(learnt, key=lambda one: one.index.shard.nth)
        for seen, (_, of_file) in zip(digests, of_files, strict=True):
            self._known += joined([one.index for one in of_file], seen, self._request)
        self._duplicates = self._repeats(learnt)
        indexes = {known.shard.nth: known.index for known in self._known}
        return input_of(list(indexes.values()), {}, lambda: iter(()))

    def fold(self, evaluation: Evaluation, given: Input) -> None:
        """Second pass, over all shards, and the merge of what they come to."""
        jobs = self._fold_jobs(evaluation, given)
        folded = self._asked(fold_shard, jobs)
        folded = self._summed_again(evaluation.fold.sums.summary, jobs, folded)
        for one in folded:
            counts = evaluation.fold.merge(one.sums)
            for table in TABLES if counts else ("rejects",):
                take_over(self._folder, one.attempt, table, one.parts[table], evaluation.parts)
            tally = evaluation.fold.sums.tally
            if counts and one.shown is not None and tally.has_room():
                tally.merge_shown(Shown(*(kept_frame(path) for path in one.shown)))

    def _learnt(self, shards: list[Shard]) -> tuple[list[Learnt], list[Fingerprint]]:
        """Every shard learnt, and the digest of every file."""
        calls: list[FirstCall] = []
        for _, of_file in groupby(shards, key=lambda shard: shard.nth):
            several = list(of_file)
            if not several[0].whole:
                calls.append((take_digest, DigestJob(self._setting, several[0].file)))
            calls += [(learn_shard, LearnJob(self._setting, shard)) for shard in several]
        outcomes = self._pool(calls)
        _refuse_unreadable(calls, outcomes)
        learnt = [one for one in outcomes if isinstance(one, Learnt)]
        digests = [one if isinstance(one, Fingerprint) else one.seen for one in outcomes]
        return learnt, [one for one in digests if one is not None]

    def _repeats(self, learnt: list[Learnt]) -> list[Duplicates]:
        """For each shard, those of its IDs that are not unique and where each stands first.

        Hashes only nominate; the IDs themselves decide.
        """
        files = [one.hashes for one in learnt]
        wanted = repeated(files)
        holding = [
            known for known, holds in zip(self._known, holders(files, wanted), strict=True) if holds
        ]
        found = self._asked(find_ids, [FindJob(self._setting, one, wanted) for one in holding])
        first: Duplicates = {}
        twice: set[str] = set()
        for known, places in zip(holding, found, strict=True):
            for case_id, line in places:
                if case_id in first:
                    twice.add(case_id)
                else:
                    first[case_id] = (known.shard.file.name, line)
        of_shard = {
            known.shard.number: {name: first[name] for name, _ in places if name in twice}
            for known, places in zip(holding, found, strict=True)
        }
        return [of_shard.get(known.shard.number, {}) for known in self._known]

    def _fold_jobs(self, evaluation: Evaluation, given: Input) -> list[FoldJob]:
        attempts, admission = self._setting.attempts, evaluation.admission
        corpus = None
        if admission.corpus is not None:
            corpus = keep_frame(attempts / "corpus.arrow", admission.corpus.table)
        return [
            FoldJob(
                self._setting,
                known,
                given.fields,
                duplicates,
                corpus=corpus,
                refused=evaluation.fold.sums.refused,
            )
            for known, duplicates in zip(self._known, self._duplicates, strict=True)
        ]

    def _summed_again(
        self, summary: Summary, jobs: list[FoldJob], folded: list[Folded]
    ) -> list[Folded]:
        """Shards that kept other slice values apart than the whole run does are done again.

        It takes a slice of more than 1,000 values that come in another order in a later shard.
        """
        values, lacking = _values_apart(summary, [one.sums.summary for one in folded])
        jobs_again = [replace(jobs[i], values=values) for i in lacking]
        for i, one in zip(lacking, self._asked(fold_shard, jobs_again), strict=True):
            folded[i] = one
        return folded

    def _asked(self, work: Callable[[Any], Any], jobs: Sequence[Job]) -> list[Any]:
        """Results of the same work on many shards, in their order; the first failure is raised."""
        outcomes = self._pool([(work, job) for job in jobs]) if jobs else []
        for one in outcomes:
            if isinstance(one, RagtriageError):
                raise one
        return outcomes


def _values_apart(summary: Summary, parts: list[Summary]) -> tuple[Values, list[int]]:
    """The values of each slice that the whole run keeps apart, and which parts did not know."""
    all_known = replace(
        summary, _sums=None, _stages=None, _values={}, _overflowed=set(), _gathered=[]
    )
    lacking = []
    for i, part in enumerate(parts):
        if part.knows_too_little(all_known.values()):
            lacking.append(i)
        all_known.merge(replace(part, _sums=None, _stages=None))
    return all_known.values(), lacking


def _refuse_unreadable(calls: list[FirstCall], outcomes: list[Any]) -> None:
    """Say of every file that cannot be read what is wrong with it, each once."""
    problems: dict[str, str] = {}
    for (_, job), one in zip(calls, outcomes, strict=True):
        if isinstance(one, InputError):
            problems.setdefault(job.file.name, str(one))
        elif isinstance(one, RagtriageError):
            raise one
    if problems:
        raise InputError("\n".join(problems.values()))
