"""Tables with a folder for each batch, ``<path>/batch=12/…``; a batch that is run again replaces its folder.

When Spark reads the table, the number of the folder is the column ``batch``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow as pa
from pyarrow import parquet
from pyspark.sql import DataFrame, SparkSession

from twigcast.spark.jvm.filesystem import is_local, local_path, remove
from twigcast.system import atomic_file

FILE = "part-0.parquet"


def batch_folder(path: str, batch: int) -> str:
    """The folder of a batch in a table."""
    return f"{path.rstrip('/')}/batch={batch}"


def write_batch(
    rows: DataFrame,
    path: str,
    batch: int,
    *,
    format: str = "parquet",
    partition_by: Sequence[str] = (),
    options: Mapping[str, str] | None = None,
) -> None:
    """Write the rows of a batch to its folder, replacing what an earlier attempt left there.

    Values of the columns ``partition_by`` are folders in it, such as ``subscriber=ada``.
    """
    writer = rows.write.format(format).options(**(options or {})).mode("overwrite")
    if partition_by:
        # with the mode dynamic, folders of values that are gone would stay
        writer = writer.option("partitionOverwriteMode", "static").partitionBy(*partition_by)
    writer.save(batch_folder(path, batch))


def write_small_batch(spark: SparkSession, rows: pa.Table, path: str, batch: int) -> None:
    """Write rows that are in the driver's memory; a local table is written without a Spark job."""
    if not is_local(spark, path):
        data = spark.createDataFrame(rows.to_pandas())
        write_batch(data.coalesce(1), path, batch)
        return
    folder = local_path(batch_folder(path, batch))
    folder.mkdir(parents=True, exist_ok=True)
    with atomic_file(folder / FILE) as file:
        parquet.write_table(rows, file)
    for other in folder.iterdir():  # files that Spark wrote in an earlier attempt
        if other.name != FILE:
            other.unlink()


def remove_batch(spark: SparkSession, path: str, batch: int) -> None:
    """Remove the folder of a batch, if it exists; raises ``MissingApi`` if a remote one cannot be removed."""
    remove(spark, batch_folder(path, batch))
