"""Sources: list where documents are, and open them.

A ``DocumentSource`` lists places, such as paths of files, and opens the documents at them.
``read`` does both and returns ``Documents``, which can be used like a DataFrame; ``match`` lets the
workers read these documents themselves.  There is a class for whole files, for archives, for files of
records, and for tables of any format of Spark.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from twigcast.system import lazy_names

if TYPE_CHECKING:
    from twigcast.spark.sources.archives import ArchivesSource
    from twigcast.spark.sources.document_source import DocumentSource
    from twigcast.spark.sources.documents import Documents, WorkerReading
    from twigcast.spark.sources.pipeline_source import pipeline_source
    from twigcast.spark.sources.reading import read, source_of
    from twigcast.spark.sources.records import RecordsSource
    from twigcast.spark.sources.spark_subscriptions import SparkSubscriptions
    from twigcast.spark.sources.tables import TableSource
    from twigcast.spark.sources.whole_files import FilesSource

__all__ = [
    "ArchivesSource",
    "DocumentSource",
    "Documents",
    "FilesSource",
    "RecordsSource",
    "SparkSubscriptions",
    "TableSource",
    "WorkerReading",
    "pipeline_source",
    "read",
    "source_of",
]

__getattr__ = lazy_names(
    __name__,
    {
        "twigcast.spark.sources.archives": ["ArchivesSource"],
        "twigcast.spark.sources.documents": ["Documents", "WorkerReading"],
        "twigcast.spark.sources.pipeline_source": ["pipeline_source"],
        "twigcast.spark.sources.reading": ["read", "source_of"],
        "twigcast.spark.sources.records": ["RecordsSource"],
        "twigcast.spark.sources.document_source": ["DocumentSource"],
        "twigcast.spark.sources.spark_subscriptions": ["SparkSubscriptions"],
        "twigcast.spark.sources.tables": ["TableSource"],
        "twigcast.spark.sources.whole_files": ["FilesSource"],
    },
)
