"""Documents in fragments: each fragment is evaluated where it is, and only partials move.

    fragments ──► evaluate ──► doc_id, partial ──group by doc_id──► join ──► hits, dead letters
        └── second pass: the documents that are needed as a whole ───────────┘

A folder of ``.tcf`` files and a table are read by the sources that read documents; ``HugeFilesSource`` cuts
large files into spans.  ``OpenDocuments`` has the documents of a stream that are not complete.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from twigcast.system import lazy_names

if TYPE_CHECKING:
    from twigcast.spark.fragments.fragment_matching import match_fragments
    from twigcast.spark.fragments.huge_files import HugeFilesSource
    from twigcast.spark.fragments.open_documents import OpenDocuments

__all__ = ["HugeFilesSource", "OpenDocuments", "match_fragments"]

__getattr__ = lazy_names(
    __name__,
    {
        "twigcast.spark.fragments.fragment_matching": ["match_fragments"],
        "twigcast.spark.fragments.huge_files": ["HugeFilesSource"],
        "twigcast.spark.fragments.open_documents": ["OpenDocuments"],
    },
)
