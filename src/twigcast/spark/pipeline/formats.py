"""Which formats of tables Spark knows, as far as that can be told without starting it.

A format is a short name of Spark, the name of a Java class, which has a dot, or a short name that a connector
brings.  Connectors come in jars, and which names a jar brings is only known when Spark runs.  So any name is
accepted if there is a jar that is not Spark's own: in the settings of the pipeline file, in
``spark-defaults.conf``, in ``PYSPARK_SUBMIT_ARGS``, or among the jars of Spark; or a Python package whose
name begins with ``pyspark_``, in which Spark also looks.  Without any, a name that is not known is a mistake.
"""

from __future__ import annotations

import os
import pkgutil
import re
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from zipfile import BadZipFile, ZipFile

from twigcast.config import nearest

BUILT_IN = (
    *("parquet", "orc", "json", "csv", "text", "xml", "binaryFile", "image", "libsvm", "jdbc"),
    *("rate", "rate-micro-batch", "socket", "console", "noop", "statestore", "state-metadata"),
)
CONNECTORS = {
    "kafka": "org.apache.spark:spark-sql-kafka-0-10_2.13",
    "avro": "org.apache.spark:spark-avro_2.13",
    "delta": "io.delta:delta-spark_2.13",
    "iceberg": "org.apache.iceberg:iceberg-spark-runtime",
    "hudi": "org.apache.hudi:hudi-spark-bundle_2.13",
}
"""Formats that come with a package of their own."""

_SERVICE = "META-INF/services/org.apache.spark.sql.sources.DataSourceRegister"
_ADDS_JARS = re.compile(r"spark\.(jars|\w+\.extraClassPath)\b|--(jars|packages|driver-class-path)\b")


def is_built_in(format: str) -> bool:
    """Whether Spark itself has a format, under a short name."""
    return format.lower() in {name.lower() for name in BUILT_IN}


def may_exist(format: str, settings: Mapping[str, str]) -> bool:
    """Whether a session with these settings may have a format."""
    return is_built_in(format) or "." in format or has_connectors(settings)


def has_connectors(settings: Mapping[str, str]) -> bool:
    """Whether a session with these settings has jars or Python packages that may bring formats."""
    texts = [*settings, os.environ.get("PYSPARK_SUBMIT_ARGS", ""), _spark_defaults()]
    return any(_ADDS_JARS.search(text) for text in texts) or _has_packages() or _has_foreign_jars(_home())


def missing_format(message: str) -> str | None:
    """The format that Spark has not found, if that is what an error message of Spark says."""
    found = re.search(r"Failed to find (?:the )?data source: (\S+?)[.,]?(?:\s|$)", message)
    return None if found is None else found[1]


def without_format(format: str) -> str:
    """A sentence about a format that Spark does not have, with what to do."""
    sentence = f"Spark has no format {format!r}"
    package = CONNECTORS.get(format.lower())
    if package is None and (near := nearest(format, [*BUILT_IN, *CONNECTORS])) is not None:
        return f"{sentence}; did you mean {near}?"
    jar = f'"{package}:…"' if package else '"group:artifact:version"'
    needs = "it" if package else "that of a connector"
    return f'{sentence}: {needs} needs its jar, in [spark] as conf = {{ "spark.jars.packages" = {jar} }}'


def _home() -> Path | None:
    """The folder of Spark, as PySpark finds it."""
    if home := os.environ.get("SPARK_HOME"):
        return Path(home)
    spec = find_spec("pyspark")
    return None if spec is None or spec.origin is None else Path(spec.origin).parent


def _spark_defaults() -> str:
    home = _home()
    folder = os.environ.get("SPARK_CONF_DIR") or (home and home / "conf")
    try:
        lines = (Path(folder or "") / "spark-defaults.conf").read_text(errors="replace").splitlines()
    except OSError:
        return ""
    return "\n".join(line for line in lines if not line.lstrip().startswith("#"))


def _has_packages() -> bool:
    return any(module.name.startswith("pyspark_") for module in pkgutil.iter_modules())


@cache
def _has_foreign_jars(home: Path | None) -> bool:
    """Whether a jar in the folder of Spark brings formats that are not those of Spark."""
    return home is not None and any(map(_is_foreign, (home / "jars").glob("*.jar")))


def _is_foreign(jar: Path) -> bool:
    try:
        with ZipFile(jar) as file:
            lines: Iterable[str] = file.read(_SERVICE).decode(errors="replace").splitlines()
    except KeyError:
        return False
    except (OSError, BadZipFile):
        return True
    classes = [line.strip() for line in lines if line.strip() and not line.startswith("#")]
    return any(not name.startswith("org.apache.spark.") for name in classes) or "sql-kafka" in jar.name
