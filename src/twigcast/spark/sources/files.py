"""Files as the workers open them: local ones by their path, others by what Arrow knows of their scheme."""

from __future__ import annotations

import bz2
import gzip
import lzma
import re
from collections.abc import Callable, Mapping
from typing import IO, Any, TypeAlias
from urllib.parse import quote

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from twigcast.spark.jvm.empty_files import FILES, with_empty_files

_COMPRESSED: dict[str, Callable[[Any], Any]] = {
    ".gz": gzip.open,
    ".bz2": bz2.open,
    ".xz": lzma.open,
}

_PIECE_BYTES = 1 << 16

Opener: TypeAlias = Callable[[DataFrame], DataFrame]
"""From a table of files to the documents in them."""


def files(spark: SparkSession, source: str, options: Mapping[str, str], *, streaming: bool) -> DataFrame:
    """The files below ``source`` (a file, a folder, or a pattern of either) as Spark finds them.

    A stream has them without those of no bytes, which its batches have: see ``empty``.
    """
    reader: Any = spark.readStream if streaming else spark.read
    given = {"recursiveFileLookup": "true", **options}
    found: DataFrame = reader.format("binaryFile").schema(FILES).options(**given).load(source)
    return found if streaming else with_empty_files(found)


def plain_path(path: Column) -> Column:
    """Spark's name of a file as people write it: a local one is its path."""
    return F.regexp_replace(path, "^file:/+", "/")


def open_file(path: str) -> IO[bytes]:
    """The bytes of a file, to be read and searched; raises ``OSError``."""
    scheme = re.match(r"([a-z][a-z0-9+.-]+):/", path)
    if scheme is None or scheme[1] == "file":
        return open(path if scheme is None else re.sub("^file:/+", "/", path), "rb")
    from pyarrow import fs

    uri = re.sub("^s3[an]:", "s3:", path)
    system, place = fs.FileSystem.from_uri(quote(uri, safe=":/@%"))
    stream: IO[bytes] = system.open_input_file(place)
    return stream


def read_within(file: IO[bytes], limit: int) -> bytes:
    """The bytes of a file, of one with more than ``limit`` only one more than that.

    Piece by piece: Python sets memory aside for all that it is asked for.
    """
    pieces: list[bytes] = []
    left = limit + 1
    while left > 0 and (piece := file.read(min(left, _PIECE_BYTES))):
        pieces.append(piece)
        left -= len(piece)
    return b"".join(pieces)


def is_compressed(path: str) -> bool:
    """Whether a file is one that ``decompressed`` knows, by its name."""
    return path.lower().endswith(tuple(_COMPRESSED))


def decompressed(path: str, file: IO[bytes]) -> IO[bytes]:
    """What a file contains, decompressed where its name says that it is compressed."""
    for suffix, open_it in _COMPRESSED.items():
        if path.lower().endswith(suffix):
            stream: IO[bytes] = open_it(file)
            return stream
    return file


UNREADABLE = (OSError, EOFError, lzma.LZMAError, ValueError)
"""What reading a broken file raises."""
