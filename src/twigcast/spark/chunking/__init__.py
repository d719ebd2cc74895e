"""Large documents in chunks: workers cut a document by what queries ask for, and run them on what they cut.

    files ──► cut points ──► pieces ──► cut and run, in one stage ──► answers
                                └── slices of chunks that are one document ──► joined, run ──► answers

``chunks`` is a value that ``answers`` has the workers read themselves; as a table it has a row for each part.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from twigcast.system import lazy_names

if TYPE_CHECKING:
    from twigcast.spark.chunking.answering import answers
    from twigcast.spark.chunking.chunk_files import Chunks, chunks

__all__ = ["Chunks", "answers", "chunks"]

__getattr__ = lazy_names(
    __name__,
    {
        "twigcast.spark.chunking.answering": ["answers"],
        "twigcast.spark.chunking.chunk_files": ["Chunks", "chunks"],
    },
)
