"""Which formats a session may have, told without starting it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
from pyspark.sql import SparkSession

from twigcast.spark.pipeline import Pipeline, missing_format, without_format
from twigcast.spark.pipeline.formats import BUILT_IN, may_exist

SINCE_4 = ("xml", "statestore", "state-metadata")


@pytest.fixture(autouse=True)
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """No jars but those of Spark."""
    monkeypatch.delenv("PYSPARK_SUBMIT_ARGS", raising=False)
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
    return


def messages(**tables: Any) -> list[str]:
    return [error.message for error in Pipeline.of(tables).unknown_formats()]


def test_a_misspelt_format_is_corrected() -> None:
    """The sentence has the key, and the name that is nearest."""
    assert messages(source={"kind": "format", "format": "kafkaa"}) == [
        "source.format: Spark has no format 'kafkaa'; did you mean kafka?"
    ]
    assert messages(sink=[{"path": "a"}, {"path": "b", "format": "Parqet"}]) == [
        "sink[1].format: Spark has no format 'Parqet'; did you mean parquet?"
    ]


def test_a_connector_without_its_jar_is_named() -> None:
    """The sentence says how a pipeline names a jar, and which one if it is known."""
    (excel,) = messages(subscriptions={"format": "excel"})
    assert excel == (
        "subscriptions.format: Spark has no format 'excel': that of a connector needs its jar, in [spark] as "
        'conf = { "spark.jars.packages" = "group:artifact:version" }'
    )
    (kafka,) = messages(source={"kind": "format", "format": "kafka"})
    assert '"spark.jars.packages" = "org.apache.spark:spark-sql-kafka-0-10_2.13:…"' in kafka


def test_spark_has_its_own_formats_in_any_case() -> None:
    """Spark ignores the case of a short name, and looks up a name with a dot as a class."""
    assert may_exist("PARQUET", {})
    assert may_exist("binaryfile", {})
    assert may_exist("com.example.Source", {})


@pytest.mark.parametrize("key", ["spark.jars", "spark.jars.packages", "spark.driver.extraClassPath"])
def test_with_jars_of_the_user_any_format_may_exist(key: str) -> None:
    """Only Spark knows which formats a jar has."""
    source = {"kind": "format", "format": "excel"}
    assert messages(source=source, spark={"conf": {key: "connector.jar"}}) == []
    assert messages(source=source, spark={"conf": {"spark.jarsx": "1"}}) != []


def test_jars_may_come_from_the_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """They are looked for in the arguments and the defaults of Spark, and among its jars."""
    assert not may_exist("excel", {})
    (tmp_path / "spark-defaults.conf").write_text("# spark.jars a.jar\n")
    assert not may_exist("excel", {})
    (tmp_path / "spark-defaults.conf").write_text("spark.jars.packages  a:b:1\n")
    assert may_exist("excel", {})
    (tmp_path / "spark-defaults.conf").unlink()
    with monkeypatch.context() as patch:
        patch.setenv("PYSPARK_SUBMIT_ARGS", "--packages a:b:1 pyspark-shell")
        assert may_exist("excel", {})
    home = tmp_path / "spark"
    (home / "jars").mkdir(parents=True)
    with ZipFile(home / "jars" / "excel.jar", "w") as jar:
        jar.writestr(
            "META-INF/services/org.apache.spark.sql.sources.DataSourceRegister", "com.excel.Source\n"
        )
    monkeypatch.setenv("SPARK_HOME", str(home))
    assert may_exist("excel", {})


@pytest.mark.parametrize("name", BUILT_IN)
def test_spark_knows_the_formats_that_are_built_in(spark: SparkSession, name: str) -> None:
    """A name that Spark has dropped would be accepted by a check, and fail in a run."""
    if name in SINCE_4 and spark.version < "4":
        pytest.skip("since Spark 4.0")
    jvm: Any = spark._jvm
    lookup = jvm.org.apache.spark.sql.execution.datasources.DataSource.lookupDataSource
    assert lookup(name, jvm.org.apache.spark.sql.internal.SQLConf.get()) is not None


@pytest.mark.parametrize("name", ["excel", "kafka", "avro", "no-such"])
def test_the_message_of_spark_is_understood(spark: SparkSession, name: str) -> None:
    """Spark says of each of them in other words that it has not found the format."""
    with pytest.raises(Exception, match="data source") as caught:
        spark.read.format(name).load()
    assert missing_format(str(caught.value)) == name
    assert name in without_format(name)
