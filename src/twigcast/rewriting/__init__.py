"""Rewriting: documents of many schemas, matched as if they had been written in one global schema.

The names in the order in which they are used:

    tree = SchemaTree.of(read_schema("cmu.xsd"))                    each element type at each place
    mapping = Mapping("cmu", tree, (Rename("cmu", …), …))           an ordered list of operators
    image = rewrite(read(body), mapping)                            a Document in the global schema
    image.sources(node)                                             the publisher's own nodes behind a node
    to_xslt(mapping)                                                a stylesheet that does the same
    derive(tree, target, pairs)                                     the operators of a matching
    Mappings.load("mappings")["cmu"]                                mappings from files that a person reviews
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from twigcast.rewriting.deriving import derive
from twigcast.rewriting.documents import Image
from twigcast.rewriting.image_automaton import image_automaton
from twigcast.rewriting.image_text import write_document
from twigcast.rewriting.labels import shown_path
from twigcast.rewriting.mapping import Mapping, rewrite
from twigcast.rewriting.mapping_files import shown_operator
from twigcast.rewriting.mappings import Mappings, mapping_paths
from twigcast.rewriting.operators import (
    Downgrade,
    Exchange,
    Hide,
    Insert,
    InsertEach,
    Operator,
    Rename,
    ToElement,
    Upgrade,
    apply,
)
from twigcast.rewriting.schema_tree import SchemaTree
from twigcast.rewriting.xslt import to_xslt
from twigcast.system import lazy_names

if TYPE_CHECKING:
    from twigcast.rewriting.mapping_files import (
        CheckedMapping,
        MappingFile,
        MappingFinding,
        ProposedPair,
        check_mapping,
        check_together,
        grow_schema,
        grown_dtd,
        mapping_rows,
        mapping_svg,
        outside_schema,
        read_mapping_file,
        update_mapping_file,
        write_proposal,
    )
    from twigcast.rewriting.matching import (
        Agreement,
        Matching,
        Thesaurus,
        ValueProfile,
        delivery_agreement,
        match_schemas,
        pair_agreement,
        pooled_names,
        pooled_profiles,
        profile_documents,
    )

__all__ = [
    "Agreement",
    "CheckedMapping",
    "Downgrade",
    "Exchange",
    "Hide",
    "Image",
    "Insert",
    "InsertEach",
    "Mapping",
    "MappingFile",
    "MappingFinding",
    "Mappings",
    "Matching",
    "Operator",
    "ProposedPair",
    "Rename",
    "SchemaTree",
    "Thesaurus",
    "ToElement",
    "Upgrade",
    "ValueProfile",
    "apply",
    "check_mapping",
    "check_together",
    "delivery_agreement",
    "derive",
    "grow_schema",
    "grown_dtd",
    "image_automaton",
    "mapping_paths",
    "mapping_rows",
    "mapping_svg",
    "match_schemas",
    "outside_schema",
    "pair_agreement",
    "pooled_names",
    "pooled_profiles",
    "profile_documents",
    "read_mapping_file",
    "rewrite",
    "shown_operator",
    "shown_path",
    "to_xslt",
    "update_mapping_file",
    "write_document",
    "write_proposal",
]

__getattr__ = lazy_names(
    __name__,
    {
        "twigcast.rewriting.mapping_files": (
            "CheckedMapping",
            "MappingFile",
            "MappingFinding",
            "ProposedPair",
            "check_mapping",
            "check_together",
            "grow_schema",
            "grown_dtd",
            "mapping_rows",
            "mapping_svg",
            "outside_schema",
            "read_mapping_file",
            "update_mapping_file",
            "write_proposal",
        ),
        "twigcast.rewriting.matching": (
            "Agreement",
            "Matching",
            "Thesaurus",
            "ValueProfile",
            "delivery_agreement",
            "match_schemas",
            "pair_agreement",
            "pooled_names",
            "pooled_profiles",
            "profile_documents",
        ),
    },
    extra="schemas",
)
