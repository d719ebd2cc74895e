"""Projection: a document with things left out, as copied byte ranges, in one streaming pass.

A caller says for each label path how much of the elements there stays (``Keep``), for several outputs at
once.  ``Projector`` writes the bytes block by block, in memory that does not grow with the document.  A
``SourceMap`` leads from an output back to the document.
"""

from twigcast.document.projection.decisions import Decisions, Keep, LabelPath
from twigcast.document.projection.projector import PART_BYTES, Projected, Projector, Slice
from twigcast.document.projection.source_map import SourceMap

__all__ = ["PART_BYTES", "Decisions", "Keep", "LabelPath", "Projected", "Projector", "Slice", "SourceMap"]
