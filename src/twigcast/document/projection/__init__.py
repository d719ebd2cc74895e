"""Projection: a document with things left out, as copied byte ranges, in one streaming pass.

A caller says for each label path how much of the elements there stays (``Keep``), for several outputs at
once.  ``project`` is the definition, on the tree; ``Projector`` computes the same bytes block by block, in
memory that does not grow with the document.  A ``SourceMap`` leads from an output back to the document.
"""

from twigcast.document.projection.decisions import Decisions, Keep, LabelPath, PathDecisions
from twigcast.document.projection.naive import ProjectedPart, joined_parts, project
from twigcast.document.projection.projector import PART_BYTES, Projected, Projector, Slice
from twigcast.document.projection.source_map import SourceMap

__all__ = [
    "PART_BYTES",
    "Decisions",
    "Keep",
    "LabelPath",
    "PathDecisions",
    "Projected",
    "ProjectedPart",
    "Projector",
    "Slice",
    "SourceMap",
    "joined_parts",
    "project",
]
