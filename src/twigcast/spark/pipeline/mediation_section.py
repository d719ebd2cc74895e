"""The section of a pipeline file that says how documents of other schemas are matched."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field

from twigcast.config import ConfigSection
from twigcast.spark.pipeline.values import AnyPath, LocalPath


class MediationSection(ConfigSection):
    """Mappings from the schemas of publishers to the global schema, against which subscribers write.

    ``mappings`` is a folder of mapping files, or one file.  ``by`` says how a document finds its mapping: by
    the name of its ``root`` element, or by its column ``publisher``, which has the name of a mapping.
    ``unknown`` says what becomes of a document without a mapping: a ``dead-letter``, or matched ``as-is``.
    ``schema`` is the global schema; ``twigcast check`` reports subscriptions that are outside of it.
    """

    schema_path: LocalPath | None = Field(default=None, alias="schema")
    mappings: LocalPath = Path("mappings")
    by: Literal["root", "publisher"] = "root"
    unknown: Literal["dead-letter", "as-is"] = "dead-letter"
    metrics: AnyPath = "out/mappings"
