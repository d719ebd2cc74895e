"""What a sink cannot do is refused before Spark starts, with the key and a suggestion."""

from __future__ import annotations

from typing import Any

import pytest

from twigcast.errors import PipelineError
from twigcast.spark.pipeline import Pipeline

TABLE = {"kind": "table", "path": "feed"}
FILES = {"kind": "files", "path": "files"}


@pytest.mark.parametrize(
    ("sink", "sentence"),
    [
        ({"path": "o", "partition": "x"}, "sink[0].partition: unknown key; did you mean partition_by?"),
        (
            {"path": "o", "options": {"compresion": "zstd"}},
            "sink[0].options.compresion: unknown option of parquet; did you mean compression?",
        ),
        (
            {"path": "o", "format": "csv", "options": {"headers": True}},
            "sink[0].options.headers: unknown option of csv; did you mean header?",
        ),
        (
            {"path": "o", "partition_by": "subscribers"},
            "sink[0].partition_by: unknown column 'subscribers'; did you mean subscriber?",
        ),
        ({"path": "o", "partition_by": ["part", "part"]}, "sink[0].partition_by: expected each column once"),
        (
            {"format": "jdbc", "options": {"url": "x"}, "partition_by": "subscriber"},
            "sink[0].partition_by: expected a table with partitions, and jdbc has none",
        ),
        (
            {"kind": "jsonl", "path": "o", "partition_by": "subscriber"},
            'sink[0].partition_by: expected only with kind "format" or "files", not "jsonl"',
        ),
        (FILES | {"file_name": "{nam}-{id}"}, "sink[0].file_name: unknown field 'nam'; did you mean name?"),
        (FILES | {"file_name": "{name}.xml"}, "sink[0].file_name: expected {id} or {delivery_id} in it"),
        (FILES | {"partition_by": "index_version"}, "sink[0].partition_by: unknown column 'index_version'"),
    ],
)
def test_a_wrong_sink_is_refused(sink: dict[str, Any], sentence: str) -> None:
    """The message names the key, and the name that is nearest."""
    with pytest.raises(PipelineError) as caught:
        Pipeline.of({"sink": [sink]})
    assert sentence in str(caught.value)


@pytest.mark.parametrize(
    "sink",
    [
        {"path": "o", "options": {"Compression": "zstd", "parquet.block.size": 1, "maxRecordsPerFile": 9}},
        {"format": "jdbc", "options": {"url": "x", "a property of the driver": "y"}},
        {"path": "o", "partition_by": ["region", "subscriber"]},
        {"format": "delta", "options": {"path": "o"}, "partition_by": "subscriber"},
        FILES | {"file_name": "{region}-{part}-{delivery_id}.xml", "partition_by": []},
    ],
)
def test_what_a_sink_can_do_is_accepted(sink: dict[str, Any]) -> None:
    """Options of connectors and of Hadoop are not known here, and are passed on."""
    Pipeline.of({"source": TABLE, "sink": [sink], "deliveries": {"columns": ["region"]}})


@pytest.mark.parametrize(
    ("tables", "sentence"),
    [
        ({"deliveries": {"columns": ["x"]}}, "deliveries.columns: expected a source with columns"),
        (
            {"source": TABLE, "deliveries": {"columns": ["Subscriber"]}},
            "deliveries.columns: expected other columns: deliveries have Subscriber already",
        ),
        ({"deliveries": {"copies": "document"}}, "deliveries.copies: expected one of"),
        (
            {"deliveries": {"copies": "subscriber"}, "sink": [FILES | {"file_name": "{subscription}{id}"}]},
            'sink[0].file_name: expected no subscription, since deliveries.copies is "subscriber"',
        ),
    ],
)
def test_wrong_deliveries_are_refused(tables: dict[str, Any], sentence: str) -> None:
    """Columns and copies must go together with the source and the sinks."""
    with pytest.raises(PipelineError) as caught:
        Pipeline.of(tables)
    assert sentence in str(caught.value)
