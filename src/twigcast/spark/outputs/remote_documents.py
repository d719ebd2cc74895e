"""Documents for remote sites: a table for each site, which the pipeline of the site reads as a stream.

    <to>/.batch=12/…  ──rename──►  <to>/batch=12/part-….parquet

A folder appears complete, in one step, and never changes: a stream takes each file once, under its name.  So
a batch that is run again leaves its folder as it is.  Its content would be the same, but Spark would give the
files other names, and the site would read the documents twice.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from twigcast.spark.outputs.batch_folders import batch_folder
from twigcast.system import sync_folder


def write_remote(rows: DataFrame, to: Path, batch: int) -> int:
    """Write the documents of a batch for a site, unless they are there; returns the bytes of annotations."""
    final = Path(batch_folder(str(to), batch))
    if not final.exists():
        to.mkdir(parents=True, exist_ok=True)
        unfinished = final.with_name(f".{final.name}")
        shutil.rmtree(unfinished, ignore_errors=True)
        rows.write.parquet(f"file://{unfinished}")
        unfinished.rename(final)
        sync_folder(to)
    found = rows.sparkSession.read.schema(rows.schema).parquet(f"file://{final}")
    row = found.agg(F.sum(F.octet_length("annotations")).alias("bytes")).first()
    return int(row["bytes"] or 0) if row is not None else 0
