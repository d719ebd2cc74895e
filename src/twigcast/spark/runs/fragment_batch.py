"""Puts one batch of fragments through all stages, so that it can be run again at any time.

    journal, open documents ──► evaluate ──► join ──► hits ──► deliveries, dead letters, metrics
                                  ▲            │ └──► states of documents that are still open
                                  └────────────┴────── the index version of a document's first fragment

Invariant: the fragments of the batch, its entry in the journal, and the documents that were open before it
determine every output and every state, and each of them replaces what an earlier attempt left.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from contextlib import ExitStack
from functools import reduce
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from twigcast.spark.fragments.completing import hits_without_bodies, kept_fragments
from twigcast.spark.fragments.evaluating import FRAGMENT_FAULTS, VersionChoice
from twigcast.spark.fragments.fragment_columns import EVALUATED
from twigcast.spark.fragments.fragment_matching import evaluated, fragment_rows, whole_hits
from twigcast.spark.fragments.joining import JoinRules, joined
from twigcast.spark.fragments.open_documents import OpenDocumentLog, OpenDocuments
from twigcast.spark.outputs.batch_folders import write_batch
from twigcast.spark.outputs.dead_letters import write_letters
from twigcast.spark.outputs.delivery_scope import DeliveryScope
from twigcast.spark.outputs.metrics import BatchMetrics, write_metrics
from twigcast.spark.outputs.sinks import write_deliveries
from twigcast.spark.runs.batch import RunState, cached
from twigcast.spark.sources.documents import Documents, as_dataframe
from twigcast.spark.stages.delivering import attempts, delivered, delivers_parts, refused
from twigcast.spark.stages.shipping import shipped
from twigcast.subscriptions import IndexVersion

OUTCOMES = ("complete", "broken", "incomplete")


def run_fragment_batch(
    state: RunState, fragments: DataFrame | Documents, batch: int, *, ends: bool, scope: DeliveryScope
) -> BatchMetrics:
    """Run a batch of fragments; with ``ends`` no later batch can bring fragments of the same documents.

    ``scope`` says which outputs are written.
    """
    began = time.monotonic()
    pipeline = state.pipeline
    spark = as_dataframe(fragments).sparkSession
    entry = state.begin(batch)
    log = OpenDocumentLog(spark, pipeline)
    before = OpenDocuments() if ends else log.before(batch)
    indexes = {each: state.versions.at(each)[0] for each in {entry.version, *before.versions()}}
    ship = pipeline.subscriptions.ship
    choice = VersionChoice(
        entry.version,
        {name: shipped(index, ship, spark.sparkContext)[0] for name, index in indexes.items()},
        {doc_id: each.version for doc_id, each in before.entries.items()},
        frozenset(before.ended),
    )
    source = pipeline.source
    expiring = before.expiring(batch, source.max_age, source.max_open)
    rules = JoinRules(
        choice,
        pipeline.limits,
        checked=source.checked,
        content=pipeline.content,
        bounded=source.kind == "fragments",
        ends=ends,
        early=source.early,
        expiring=tuple(expiring.items()),
    )
    with ExitStack() as stack:
        found = evaluated(fragments, choice, pipeline.limits, checked=source.checked)
        if before.entries:
            stack.enter_context(cached(found))
            found = _with_states(found, before, expiring, log)
        documents = joined(found, rules)
        stack.enter_context(cached(documents))
        rows = documents.where(F.col("status") != "waiting").drop("facts", "partial", "fragment", "digest")
        outcomes = [row.asDict() for row in rows.collect()]
        opened = {row["doc_id"]: row["index_version"] for row in outcomes if row["status"] == "open"}
        if not ends:
            _keep(documents, fragments, log, batch, opened, needs_bodies(rules, indexes.values()))
        hits = hits_without_bodies(documents, rules)
        whole = {row["doc_id"] for row in outcomes if row["whole"]}
        if whole:
            needed = documents.where((F.col("status") == "complete") & F.col("whole"))
            earlier = [
                number for each in whole & set(before.entries) for number in before.entries[each].batches
            ]
            hits = hits.unionByName(whole_hits(needed, fragments, rules, log.read_bodies(earlier)))
        stack.enter_context(cached(hits))
        used = {row["index_version"] for row in outcomes if row["matches"] or row["whole"]}
        used = used or {entry.version}
        made = reduce(DataFrame.unionByName, (_attempts(state, hits, indexes[each]) for each in sorted(used)))
        made = scope.chosen(made)
        stack.enter_context(cached(made))
        outgoing = delivered(made)
        counts = [
            write_deliveries(scope.for_sink(outgoing, sink, batch), sink, batch) for sink in scope.sinks
        ]
        matches = sum(len(row["matches"] or ()) for row in outcomes)
        errors = sum(row["error"] is not None for row in outcomes)
        refusals = 0
        if whole:  # only such documents have parts, or are decided in the second pass
            refusals = made.where(F.col("refusal").isNotNull()).count()
            figures = hits.agg(F.count("error"), F.sum(F.size("matches"))).collect()[0]
            errors, matches = figures[0], figures[1] or 0
        more = refused(made) if refusals else None
        path = pipeline.dead_letters.path
        letters = write_letters(hits, path, batch, entry.time, errors + refusals, more, scope)
        metrics = BatchMetrics(
            batch=batch,
            documents=sum(row["status"] in OUTCOMES for row in outcomes),
            bytes=sum(row["size"] or 0 for row in outcomes if row["status"] in OUTCOMES),
            matches=matches,
            deliveries=counts[0],
            dead_letters=letters,
            parse_and_match_seconds=sum(row["seconds"] or 0.0 for row in outcomes),
            seconds=time.monotonic() - began,
            index_version=entry.version,
        )
    write_metrics(spark, metrics, pipeline.metrics.path)
    if not ends:
        ended = [row["doc_id"] for row in outcomes if row["status"] in OUTCOMES]
        log.write(batch, before.after(batch, opened, ended))
    state.versions.release(
        lambda: {*state.journal.needed_versions(), *before.versions(), *log.newest().versions()}
    )
    return metrics


def needs_bodies(rules: JoinRules, indexes: Iterable[IndexVersion]) -> bool:
    """Whether a document that becomes complete may be needed as a whole."""
    if rules.content == "inline":
        return True
    return any(delivers_parts(each) or not each.open_index().partials().is_exact for each in indexes)


def _with_states(
    found: DataFrame, before: OpenDocuments, expiring: dict[str, str], log: OpenDocumentLog
) -> DataFrame:
    """Evaluated fragments, and the states of their documents and of those that expire."""
    counted = F.col("error").isNull() | ~F.col("error.code").isin(*FRAGMENT_FAULTS)
    touched = {row["doc_id"] for row in found.where(counted).select("doc_id").distinct().collect()}
    wanted = {
        doc_id: entry.last
        for doc_id, entry in before.entries.items()
        if doc_id in touched or doc_id in expiring
    }
    return found.unionByName(log.read_states(wanted)) if wanted else found


def _keep(
    documents: DataFrame,
    fragments: DataFrame | Documents,
    log: OpenDocumentLog,
    batch: int,
    opened: dict[str, str],
    with_bodies: bool,
) -> None:
    """Write the states, and if need be the fragments, of documents that are open after the batch."""
    if not opened:
        return
    states = documents.where(F.col("status").isin("open", "waiting"))
    states = states.withColumn("seconds", F.lit(None).cast("double"))
    write_batch(states.select(*EVALUATED.names), log.states, batch)
    if with_bodies:
        source = fragments if isinstance(fragments, Documents) else fragment_rows(fragments)
        ids = documents.where(F.col("status") == "open").select("doc_id")
        write_batch(kept_fragments(source).join(ids, "doc_id", "left_semi"), log.bodies, batch)


def _attempts(state: RunState, hits: DataFrame, index: IndexVersion) -> DataFrame:
    """The attempted deliveries of the hits of one index version."""
    pipeline: Any = state.pipeline
    return attempts(
        hits.where(F.col("index_version") == index.version),
        index,
        ship=pipeline.subscriptions.ship,
        content=pipeline.content,
        parts=pipeline.deliveries.parts,
        limits=pipeline.limits,
    )
