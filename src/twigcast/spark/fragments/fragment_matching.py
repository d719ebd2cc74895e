"""Matches documents in fragments: what ``match`` is for whole documents."""

from __future__ import annotations

from functools import partial

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from twigcast.document import DocumentLimits
from twigcast.errors import StageError
from twigcast.spark.columns import of_document_types, require
from twigcast.spark.fragments.completing import (
    hits_of_files,
    hits_with_bodies,
    hits_without_bodies,
    kept_fragments,
)
from twigcast.spark.fragments.evaluating import VersionChoice, evaluate
from twigcast.spark.fragments.fragment_columns import EVALUATED
from twigcast.spark.fragments.huge_files import CutFiles
from twigcast.spark.fragments.joining import JoinRules, joined
from twigcast.spark.jvm.workers import prepare_workers
from twigcast.spark.sources.documents import Documents, as_dataframe
from twigcast.spark.stages.delivering import ContentMode
from twigcast.spark.stages.shipping import Indexes, Ship, index_limits, shipped


def match_fragments(
    fragments: DataFrame | Documents,
    index: Indexes,
    *,
    ship: Ship = "path",
    limits: DocumentLimits | None = None,
    content: ContentMode = "inline",
    checked: bool = True,
) -> DataFrame:
    """Match documents in fragments; one row for each document, as ``match`` would give for the whole.

    ``fragments`` has the columns ``doc_id``, ``number``, ``header`` (see ``encode_header``) and ``body``, or
    only ``body``, which is then a whole ``.tcf`` file; or it is what ``read`` gives for the format
    ``huge``.  Fragments of a document come in any order and place, and may come several times; each is
    evaluated once for all subscriptions, and its body does not move.
    The columns are ``doc_id``, ``matches``, ``index_version``, ``error``, ``fragment`` (the number of the one
    with the error), ``size`` and ``body``, for ``deliveries`` and ``dead_letters``.  The ``body`` is the
    whole document, and null if no delivery needs it: with ``content="reference"`` that is so unless a
    subscription asks for parts or can be decided only on the whole document.  Huge files have references
    only.
    Without ``checked``, fragments whose headers show that they make no difference are not parsed.
    A document of which fragments are missing has an error with the code ``fragments-missing``.
    """
    is_cut = isinstance(fragments, CutFiles)
    limits = limits or index_limits(index)
    spark = as_dataframe(fragments).sparkSession
    prepare_workers(spark)
    (one,) = shipped(index, ship, spark.sparkContext)
    choice = VersionChoice(one.version, {one.version: one})
    rules = JoinRules(choice, limits, checked, "reference" if is_cut else content, bounded=not is_cut)
    found = joined(evaluated(fragments, choice, limits, checked=checked), rules)
    if isinstance(fragments, CutFiles):
        return hits_of_files(found, rules, fragments.links)
    whole = found.where((F.col("status") == "complete") & F.col("whole"))
    return hits_without_bodies(found, rules).unionByName(whole_hits(whole, fragments, rules))


def evaluated(
    fragments: DataFrame | Documents, choice: VersionChoice, limits: DocumentLimits, *, checked: bool
) -> DataFrame:
    """The evaluated fragments of a table or of files, in the columns ``EVALUATED``."""
    reading = fragments.worker_reading() if isinstance(fragments, Documents) else None
    is_cut = isinstance(fragments, CutFiles)
    stage = partial(evaluate, choice=choice, limits=limits, checked=checked, is_cut=is_cut)
    if reading is not None:
        return reading.places.mapInArrow(reading.followed_by(stage), EVALUATED)
    return fragment_rows(fragments).mapInArrow(stage, EVALUATED)


def whole_hits(
    whole: DataFrame,
    fragments: DataFrame | Documents,
    rules: JoinRules,
    earlier: DataFrame | None = None,
) -> DataFrame:
    """The hits of documents that are needed as a whole; ``earlier`` are fragments of batches before."""
    if isinstance(fragments, CutFiles):
        return hits_of_files(whole, rules, fragments.links)
    bodies = kept_fragments(fragments if isinstance(fragments, Documents) else fragment_rows(fragments))
    if earlier is not None:
        bodies = bodies.unionByName(earlier)
    return hits_with_bodies(whole, bodies, rules)


def fragment_rows(fragments: DataFrame | Documents) -> DataFrame:
    """The columns of a table of fragments; raises ``StageError`` if they are not those of fragments."""
    table = as_dataframe(fragments)
    require(table, ("body",), "match_fragments")
    if "doc_id" not in table.columns:
        table = table.withColumn("doc_id", F.lit(None).cast("string"))
    table = of_document_types(table)
    columns = ["doc_id", "body"]
    if "header" in table.columns:
        kind = table.schema["header"].dataType.simpleString()
        if kind not in ("binary", "string"):
            raise StageError(f"expected bytes or text as header, found {kind}", code="columns")
        table = table.withColumn("header", F.col("header").cast("binary"))
        columns.append("header")
        if "number" in table.columns:
            table = table.withColumn("number", F.col("number").cast("int"))
            columns.append("number")
    if "error" in table.columns:
        columns.append("error")
    return table.select(*columns)
