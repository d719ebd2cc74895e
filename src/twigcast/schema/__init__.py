"""Schemas: which elements and attributes documents can have, read from a DTD or XSD.

A schema is a graph of elements:

    graph = read_dtd("nitf.dtd")   or read_xsd("catalogue.xsd")
    graph.root                     'nitf'
    graph.children("nitf")         head once, body once
    graph.recursive                elements that can contain themselves
    write_dtd(graph)               the text of a DTD
    count_label_paths(graph, 10)   how many paths of names documents have, to a depth
"""

from twigcast.schema.dtd import read_dtd
from twigcast.schema.files import read_schema
from twigcast.schema.graph import (
    AttributeDeclaration,
    AttributeKind,
    Cardinality,
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
from twigcast.schema.label_paths import count_label_paths, label_children, label_path_counts, label_paths
from twigcast.schema.limits import SchemaLimits
from twigcast.schema.writing import write_dtd
from twigcast.schema.xsd import read_xsd

__all__ = [
    "AttributeDeclaration",
    "AttributeKind",
    "Cardinality",
    "Child",
    "Choice",
    "ContentKind",
    "ElementDeclaration",
    "ElementGraph",
    "Particle",
    "Presence",
    "SchemaLimits",
    "Sequence",
    "count_label_paths",
    "element_graph",
    "label_children",
    "label_path_counts",
    "label_paths",
    "particle_height",
    "read_dtd",
    "read_schema",
    "read_xsd",
    "write_dtd",
]
