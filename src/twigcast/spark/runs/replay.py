"""Sends past documents through the current subscriptions of a pipeline, as batches of their own.

    1   the batches that are finished, and the files that each of them had
    2   write the plan: which of them are sent again, in which batches; these are numbered -1, -2, …
    3   run each batch like any other, but a sink does not get a delivery that it has
    4   remove the plan

A delivery id is a hash of document, subscriber and subscription, so it is the one that the delivery would
have had in the first run.  A replay that is interrupted after step 2 is finished by the next replay.
It may run beside a stream of the same pipeline, which does not touch batches that are finished.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from os.path import normpath

from pyspark.sql import SparkSession

from twigcast.errors import RunError, StageError
from twigcast.spark.jvm.filesystem import exists
from twigcast.spark.jvm.lock import lock
from twigcast.spark.jvm.private_api import MissingApi
from twigcast.spark.jvm.workers import prepare_workers
from twigcast.spark.outputs.dead_letters import read_letters
from twigcast.spark.outputs.delivery_scope import DeliveryScope, says_what_it_has, sink_name
from twigcast.spark.outputs.metrics import BatchMetrics
from twigcast.spark.pipeline import Pipeline, SinkSection
from twigcast.spark.runs.batch import RunState, run_batch, subscriptions_of
from twigcast.spark.runs.journal import Journal
from twigcast.spark.runs.pipeline_query import as_run_error
from twigcast.spark.runs.replay_plans import ReplayPlan, ReplayPlans, ReplayRequest
from twigcast.spark.sources.document_source import DocumentSource
from twigcast.spark.sources.listing.places import PastFiles, current_length, present
from twigcast.spark.sources.pipeline_source import MICRO_BATCH_BYTES, pipeline_source

OnBatch = Callable[[BatchMetrics], None]


@dataclass(slots=True)
class Replay:
    """What a replay did.

    ``missing`` are files that past batches had and that are gone.  ``left_out`` are sinks that cannot say
    which deliveries they have.  ``interrupted`` is the last batch of the pipeline if it is not finished: the
    next run does that, and the replay does not have its documents.
    """

    batches: list[BatchMetrics] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    interrupted: int | None = None


def replay(
    spark: SparkSession,
    pipeline: Pipeline,
    *,
    since: datetime | None = None,
    from_batch: int | None = None,
    subscriber: str | None = None,
    sink: str | None = None,
    again: bool = False,
    on_batch: OnBatch | None = None,
) -> Replay:
    """Send past documents through the current subscriptions, with the delivery ids of the first run.

    All of them, or those of batches that began at or after ``since``, or of ``from_batch`` and later ones; to
    all subscribers and sinks, or to one.  A sink is named by its path, the end of its path, its function, its
    format or its kind.
    A sink does not get a delivery that it has already, and a sink that cannot say what it has gets nothing;
    with ``again``, the sinks get all deliveries.  Files that are gone are left out and returned.
    Raises ``RunError`` if the source does not say which documents past batches had.
    """
    prepare_workers(spark)
    request = ReplayRequest(since.isoformat() if since else None, from_batch, subscriber, sink, again)
    chosen_sinks(pipeline, sink)
    lock(spark, pipeline.work.path / "retry.lock")
    state = RunState.of(spark, pipeline)
    if subscriber is not None and all(
        each.subscriber != subscriber for each in subscriptions_of(spark, pipeline).subscriptions()
    ):
        raise RunError(f"{subscriber!r} has no subscription, so there is nothing to replay for it")
    source = pipeline_source(pipeline)
    done = Replay()
    plans = ReplayPlans(pipeline.work.path)
    is_done = False
    try:
        past = _past(spark, state, source, done)
        for plan in plans.unfinished():
            if _has_its_sink(pipeline, plan):
                _finish(spark, state, source, past, plan, done, on_batch)
            plans.finish(plan)
            is_done |= plan.request == request and plan.version == state.newest_version()
        if is_done:
            return done
        chunks = list(_chunks(state, past, request))
        if chunks and _telling_sinks(spark, pipeline, request, done):
            number = plans.next_number(state.journal)
            plan = plans.begin(number, request, state.newest_version(), chunks)
            _finish(spark, state, source, past, plan, done, on_batch)
            plans.finish(plan)
    except Exception as error:
        raise as_run_error(error) from error
    return done


def chosen_sinks(pipeline: Pipeline, name: str | None) -> tuple[SinkSection, ...]:
    """The sinks of that name, or all; raises ``RunError`` if there is no such sink, or more than one."""
    if name is None:
        return pipeline.sink
    end = normpath(f"/{name}")
    for found in (
        [sink for sink in pipeline.sink if sink_name(sink) == name],
        [sink for sink in pipeline.sink if sink.path and normpath(f"/{sink.path}").endswith(end)],
        [sink for sink in pipeline.sink if name in (sink.kind, sink.format if sink.kind == "format" else "")],
    ):
        if len(found) == 1:
            return tuple(found)
        if found:
            raise RunError(f"{len(found)} sinks are named {name}: {', '.join(map(sink_name, found))}")
    raise RunError(f"there is no sink {name}: the sinks are {', '.join(map(sink_name, pipeline.sink))}")


def _has_its_sink(pipeline: Pipeline, plan: ReplayPlan) -> bool:
    """Whether the sink of a replay that was interrupted is still in the pipeline file."""
    try:
        return bool(chosen_sinks(pipeline, plan.request.sink))
    except RunError:
        return False


def _past(spark: SparkSession, state: RunState, source: DocumentSource, done: Replay) -> PastFiles | None:
    """The files of the batches that are finished; none if each batch has had the whole source."""
    pipeline = state.pipeline
    if state.journal.is_finished(0):
        return None
    try:
        past = dict(source.past(spark, pipeline.work.path, pipeline.work.checkpoint))
    except MissingApi as error:
        raise RunError(
            f"the log of this version of Spark does not say which files past batches had ({error}): run the "
            "pipeline with another work folder and other outputs instead"
        ) from None
    except StageError as error:
        if error.code != "no-replay":
            raise
        raise RunError(
            f"{error.message}, so they cannot be replayed: run the pipeline with another work folder and"
            " other outputs instead"
        ) from None
    last = max([-1, *state.journal.batches()])
    if last >= 0 and not exists(spark, pipeline.metrics.path, f"batch={last}/*.parquet"):
        done.interrupted = last
        past = {batch: places for batch, places in past.items() if batch < last}
    return {batch: places for batch, places in past.items() if batch <= last}


def _chunks(
    state: RunState, past: PastFiles | None, request: ReplayRequest
) -> Iterator[tuple[int, ...] | None]:
    """The past batches to send again, in groups that are not larger than a batch of the pipeline."""
    section = state.pipeline.source
    bounded = request.since is not None or request.from_batch is not None
    if bounded and (past is None or section.kind == "fragments"):
        why = (
            "each batch had the whole source" if past is None else "a document may have fragments in several"
        )
        raise RunError(f"past batches cannot be told apart, because {why}: replay all of them")
    if past is None:
        yield None
        return
    numbers = _asked_for(state.journal, past, request)
    if section.kind == "fragments":
        yield from [tuple(numbers)] if numbers else []
        return
    group: list[int] = []
    files = size = 0
    for batch in numbers:
        more = sum(current_length(place) or 0 for place in past[batch])
        if group and (
            files + len(past[batch]) > section.max_per_batch or size + more > int(MICRO_BATCH_BYTES)
        ):
            yield tuple(group)
            group, files, size = [], 0, 0
        group.append(batch)
        files, size = files + len(past[batch]), size + more
    if group:
        yield tuple(group)


def _asked_for(journal: Journal, past: PastFiles, request: ReplayRequest) -> list[int]:
    """The past batches of a request; raises ``RunError`` if the journal does not know when one began."""
    numbers = [batch for batch in sorted(past) if request.from_batch is None or batch >= request.from_batch]
    if request.since is None:
        return numbers
    since = datetime.fromisoformat(request.since).astimezone()
    times = {batch: entry.time for batch in numbers if (entry := journal.find(batch)) is not None}
    oldest = min(times, default=None)
    if len(times) < len(numbers) and (oldest is None or since < times[oldest]):
        known = (
            ""
            if oldest is None
            else f" before batch {oldest}, of {times[oldest].astimezone():%Y-%m-%dT%H:%M}"
        )
        raise RunError(
            f"the journal does not have the times of the batches{known} any more: name a batch with"
            " --from-batch (from_batch=) instead"
        )
    return [batch for batch, time in times.items() if time >= since]


def _finish(
    spark: SparkSession,
    state: RunState,
    source: DocumentSource,
    past: PastFiles | None,
    plan: ReplayPlan,
    done: Replay,
    on_batch: OnBatch | None,
) -> None:
    """Run the batches of a plan that are not finished."""
    sinks = _telling_sinks(spark, state.pipeline, plan.request, done)
    for number, chunk in zip(plan.numbers(), plan.chunks, strict=True):
        if state.journal.is_finished(number):
            continue
        state.begin(number, is_replay=True)
        documents = None
        if chunk is None:
            documents = source.open(source.list(spark, streaming=False))
        else:
            asked = [place for batch in chunk for place in (past or {}).get(batch, ())]
            places = present(spark, asked)
            left = {place.path for place in places}
            done.missing += [
                place.path for place in asked if place.refusal is None and place.path not in left
            ]
            if places:
                documents = source.open(source.at(spark, places))
        if documents is not None:
            scope = DeliveryScope(
                sinks,
                plan.request.subscriber,
                once=not plan.request.again,
                letters=read_letters(spark, state.pipeline),
                is_replay=True,
            )
            metrics = run_batch(state, documents, number, ends=True, scope=scope)
            done.batches.append(metrics)
            if on_batch is not None:
                on_batch(metrics)
        state.journal.finish(number)


def _telling_sinks(
    spark: SparkSession, pipeline: Pipeline, request: ReplayRequest, done: Replay
) -> tuple[SinkSection, ...]:
    """The sinks that can be replayed to without giving them a delivery twice; all of them with ``again``."""
    sinks = chosen_sinks(pipeline, request.sink)
    if request.again:
        return sinks
    silent = [sink for sink in sinks if not says_what_it_has(spark, sink)]
    names = [sink_name(sink) for sink in silent]
    done.left_out += [name for name in names if name not in done.left_out]
    if len(silent) == len(sinks):
        raise RunError(
            f"{', '.join(names)} cannot say which deliveries it has, so it would get some of them twice: "
            "replay with --again (again=True) to send all of them"
        )
    return tuple(sink for sink in sinks if sink not in silent)
