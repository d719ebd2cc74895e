"""Dialects: source schemas that are made from a global schema, with their true mapping, for experiments.

dialects = make_dialects(graph, 40, seed=1)
dialects[0].graph                             the schema of its documents, for generate_documents
dialects[0].document(body)                    a document of the global schema, as this publisher writes it
dialects[0].mapping.apply(read(…))            the true mapping leads back
dialects[0].pairs                             the true matching
"""

from experiments.engines.mapping.dialects.generating import PROPORTIONS, Dialect, make_dialects
from experiments.engines.mapping.dialects.items import normal_document

__all__ = ["PROPORTIONS", "Dialect", "make_dialects", "normal_document"]
