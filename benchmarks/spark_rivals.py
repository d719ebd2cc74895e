"""Measures the alternatives on Spark on a sample of documents, scaled to all subscriptions.

xpath_boolean   Spark's own function, a column for each expression: parses the document for each of them
lxml            a pandas UDF with compiled expressions: parses once, then takes one expression after the other

The time of the same query without expressions is subtracted before scaling, but never more than half of the
time, since the fixed cost of a query does not grow with the number of expressions.  The answers are compared
with those of the index.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING, Any

from benchmarks.sparking import CORES
from twigcast import Index

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True, slots=True)
class Sample:
    """Documents, all subscriptions in random order, and the matches of each document."""

    bodies: tuple[bytes, ...]
    texts: tuple[str, ...]
    order: tuple[int, ...]
    found: tuple[frozenset[int], ...]

    @classmethod
    def of(cls, array: Any, texts: Sequence[str], index: Index) -> Sample:
        order = tuple(Random("sample").sample(range(len(texts)), len(texts)))
        found = tuple(frozenset(row) for row in index.match_batch(array).matches.to_pylist())
        return cls(tuple(array.to_pylist()), tuple(texts), order, found)

    def __len__(self) -> int:
        return len(self.bodies)

    def table(self, spark: SparkSession) -> DataFrame:
        """The documents on both cores, in memory, as text."""
        rows = [(number, body.decode()) for number, body in enumerate(self.bodies)]
        table = spark.createDataFrame(rows, "number int, text string").repartition(CORES).persist()
        table.count()
        return table


@dataclass(frozen=True, slots=True)
class Scaled:
    """The speed of a rival, scaled to all subscriptions, and its wrong answers."""

    documents_per_second: float
    pairs: int
    wrong: tuple[str, ...]


def by_xpath_boolean(spark: SparkSession, sample: Sample, count: int, passes: int) -> Scaled:
    """Spark's ``xpath_boolean``, an array of answers for each document."""
    from pyspark.sql import functions as F

    chosen = sample.order[:count]
    table = sample.table(spark)
    answers = F.array(*(F.xpath_boolean("text", F.lit(sample.texts[number])) for number in chosen))
    return _scaled(
        "xpath_boolean",
        sample,
        chosen,
        passes,
        lambda: table.select("number", F.length("text")).collect(),
        lambda: table.select("number", answers).collect(),
    )


def by_lxml(spark: SparkSession, sample: Sample, count: int, passes: int) -> Scaled:
    """A pandas UDF, an array of answers for each document."""
    import pandas  # type: ignore[import-untyped]
    from pyspark.sql.pandas.functions import pandas_udf
    from pyspark.sql.types import ArrayType, BooleanType

    chosen = sample.order[:count]
    table = sample.table(spark)

    def udf(expressions: list[str]) -> Callable[..., Any]:
        def answer(texts: Any) -> Any:
            return texts.map(lambda text: _asked(text, expressions))

        answer.__annotations__ = {"texts": pandas.Series, "return": pandas.Series}  # Spark looks at these
        return pandas_udf(answer, ArrayType(BooleanType()))  # type: ignore[call-overload,no-any-return]

    asking, idle = udf([sample.texts[number] for number in chosen]), udf([])
    return _scaled(
        "lxml",
        sample,
        chosen,
        passes,
        lambda: table.select("number", idle("text")).collect(),
        lambda: table.select("number", asking("text")).collect(),
    )


_compiled: dict[str, Any] = {}


def _asked(text: str, expressions: Sequence[str]) -> list[bool]:
    """lxml's answers, in a worker; expressions are compiled once."""
    from lxml import etree

    if not expressions:
        return []
    document = etree.ElementTree(etree.fromstring(text.encode()))
    for each in expressions:
        if each not in _compiled:
            _compiled[each] = etree.XPath(f"boolean({each})")
    return [_compiled[each](document) for each in expressions]


def _scaled(
    name: str,
    sample: Sample,
    chosen: Sequence[int],
    passes: int,
    without: Callable[[], list[Any]],
    with_expressions: Callable[[], list[Any]],
) -> Scaled:
    bare, _ = _best(without, passes)
    best, rows = _best(with_expressions, passes)
    own = max(best - bare, best / 2)  # the difference of two similar times is mostly noise
    seconds_per_document = own / len(sample) * len(sample.texts) / len(chosen)
    wrong = tuple(
        f"{name}: sampled document {row}, {sample.texts[number]}: {answer}, but the index has {not answer}"
        for row, answers in rows
        for number, answer in zip(chosen, answers, strict=True)
        if answer != (number in sample.found[row])
    )
    return Scaled(1 / seconds_per_document, len(sample) * len(chosen), wrong)


def _best(query: Callable[[], list[Any]], passes: int) -> tuple[float, list[Any]]:
    """The shortest time of several passes after an untimed one, and the rows."""
    rows = query()
    times = []
    for _ in range(passes):
        began = time.perf_counter()
        query()
        times.append(time.perf_counter() - began)
    return min(times), rows
