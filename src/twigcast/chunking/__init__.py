"""Chunking: one huge document, cut by what its queries ask for, in one pass and in bounded memory.

A plan says where to cut, and is used for any number of documents:

    scheme = plan(queries, read_dtd("auction.dtd"))    where to cut; or plan(queries, profile=profile(blocks))
    print(scheme)                                      a picture of it
    for answer in run_queries(document, scheme): ...           answers with byte ranges of the document
    cut = chunk(document, scheme, "chunks")            the chunks as files
"""

from twigcast.chunking.answers import Answer, PartOfChunk, PartRunner, QueryFailure
from twigcast.chunking.document_pass import DocumentPass, JoinedSlices, piece_depth, too_wide
from twigcast.chunking.folder import chunk
from twigcast.chunking.outline import Pair
from twigcast.chunking.picture import draw, printed_bytes
from twigcast.chunking.planning import plan
from twigcast.chunking.prefixes import CHUNKS, choose
from twigcast.chunking.profile import SAMPLE_BYTES, Profile, profile, sampled
from twigcast.chunking.query import ChunkQuery
from twigcast.chunking.running import MOST_BYTES, in_order, run_queries, settled
from twigcast.chunking.scheme import Chunk, Scheme

__all__ = [
    "CHUNKS",
    "MOST_BYTES",
    "SAMPLE_BYTES",
    "Answer",
    "Chunk",
    "ChunkQuery",
    "DocumentPass",
    "JoinedSlices",
    "Pair",
    "PartOfChunk",
    "PartRunner",
    "Profile",
    "QueryFailure",
    "Scheme",
    "choose",
    "chunk",
    "draw",
    "in_order",
    "piece_depth",
    "plan",
    "printed_bytes",
    "profile",
    "run_queries",
    "sampled",
    "settled",
    "too_wide",
]
