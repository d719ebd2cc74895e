"""What documents can look like.

graph = read_dtd("nitf.dtd")
graph.root                     'nitf'
graph.children("nitf")         head once, body once
graph.recursive                elements that can contain themselves
"""

from twigcast.schema.dtd import read_dtd
from twigcast.schema.graph import (
    Attribute,
    AttributeKind,
    Cardinality,
    Child,
    Choice,
    Content,
    Element,
    ElementGraph,
    Particle,
    Presence,
    Sequence,
    element_graph,
    particle_height,
)

__all__ = [
    "Attribute",
    "AttributeKind",
    "Cardinality",
    "Child",
    "Choice",
    "Content",
    "Element",
    "ElementGraph",
    "Particle",
    "Presence",
    "Sequence",
    "element_graph",
    "particle_height",
    "read_dtd",
]
