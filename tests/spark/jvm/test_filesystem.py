"""Files and folders at paths as Spark understands them are found and removed."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from twigcast.spark.jvm.filesystem import exists, is_file, remove


@pytest.mark.parametrize("scheme", ["", "file://"])
def test_what_is_there_is_found(spark: SparkSession, tmp_path: Path, scheme: str) -> None:
    """A path and a pattern are found, and a file is distinguished from a folder."""
    (tmp_path / "batch=7").mkdir()
    (tmp_path / "batch=7" / "a b.xml").write_bytes(b"")
    here = f"{scheme}{tmp_path}"
    assert exists(spark, here)
    assert not exists(spark, f"{here}/none")
    assert exists(spark, here, "batch=[0-9]*")
    assert not exists(spark, here, "batch=[a-z]*")
    assert [is_file(spark, f"{here}/{name}") for name in ("batch=7/a b.xml", "batch=7", "none", "b*/*")] == [
        True,
        False,
        False,
        False,
    ]


def test_what_is_removed_is_gone(spark: SparkSession, tmp_path: Path) -> None:
    """Everything below it is removed; removing what does not exist is no error."""
    (tmp_path / "a" / "b").mkdir(parents=True)
    remove(spark, str(tmp_path / "a"))
    remove(spark, str(tmp_path / "a"))
    assert list(tmp_path.iterdir()) == []
