"""Schemas: which elements and attributes documents can have, read from a DTD or XSD.

A schema is a graph of elements:

    graph = read_dtd("nitf.dtd")   or read_xsd("catalogue.xsd")
    graph.root                     'nitf'
    graph.children("nitf")         head once, body once
    graph.recursive                elements that can contain themselves
    write_dtd(graph)               the text of a DTD
"""

from twigcast.schema.dtd import read_dtd
from twigcast.schema.files import read_schema
from twigcast.schema.graph import (
    AttributeDeclaration,
    AttributeKind,
    Child,
    Choice,
    ContentKind,
    ElementDeclaration,
    ElementGraph,
    Particle,
    Presence,
    Sequence,
    element_graph,
    particle_height,
)
from twigcast.schema.label_paths import label_children, label_path_counts
from twigcast.schema.limits import SchemaLimits
from twigcast.schema.writing import write_dtd
from twigcast.schema.xsd import read_xsd

__all__ = [
    "AttributeDeclaration",
    "AttributeKind",
    "Child",
    "Choice",
    "ContentKind",
    "ElementDeclaration",
    "ElementGraph",
    "Particle",
    "Presence",
    "SchemaLimits",
    "Sequence",
    "element_graph",
    "label_children",
    "label_path_counts",
    "particle_height",
    "read_dtd",
    "read_schema",
    "read_xsd",
    "write_dtd",
]
