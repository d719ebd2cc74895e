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
from twigcast.rewriting.documents import ELEMENT_COST, Image
from twigcast.rewriting.image_automaton import image_automaton
from twigcast.rewriting.image_text import write_document
from twigcast.rewriting.labels import (
    PathStep,
    QName,
    is_made,
    parent_key,
    parse_label,
    parse_path,
    shown_path,
)
from twigcast.rewriting.mapping import Mapping, rewrite
from twigcast.rewriting.mapping_files import parse_operator, shown_operator
from twigcast.rewriting.mappings import Mappings, mapping_paths
from twigcast.rewriting.operators import (
    AppliedOperator,
    Downgrade,
    Exchange,
    Hide,
    Insert,
    InsertAll,
    InsertEach,
    Operator,
    Rename,
    ToElement,
    Upgrade,
    UpgradeAll,
    apply,
    apply_all,
    apply_in_order,
    made_keys,
    was_attribute_of,
)
from twigcast.rewriting.places import NamedPlace, named_places
from twigcast.rewriting.schema_tree import SchemaNode, SchemaTree
from twigcast.rewriting.xslt import to_xslt
from twigcast.system import lazy_names

if TYPE_CHECKING:
    from twigcast.rewriting.mapping_files import (
        CheckedMapping,
        Growth,
        MappingFile,
        MappingFinding,
        MappingRow,
        MappingTest,
        ProposedPair,
        check_mapping,
        check_together,
        grow_schema,
        grown_dtd,
        mapping_rows,
        mapping_svg,
        outside_schema,
        read_mapping,
        read_mapping_file,
        update_mapping_file,
        write_proposal,
    )
    from twigcast.rewriting.matching import (
        Agreement,
        Matching,
        PairEvidence,
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
    "ELEMENT_COST",
    "Agreement",
    "AppliedOperator",
    "CheckedMapping",
    "Downgrade",
    "Exchange",
    "Growth",
    "Hide",
    "Image",
    "Insert",
    "InsertAll",
    "InsertEach",
    "Mapping",
    "MappingFile",
    "MappingFinding",
    "MappingRow",
    "MappingTest",
    "Mappings",
    "Matching",
    "NamedPlace",
    "Operator",
    "PairEvidence",
    "PathStep",
    "ProposedPair",
    "QName",
    "Rename",
    "SchemaNode",
    "SchemaTree",
    "Thesaurus",
    "ToElement",
    "Upgrade",
    "UpgradeAll",
    "ValueProfile",
    "apply",
    "apply_all",
    "apply_in_order",
    "check_mapping",
    "check_together",
    "delivery_agreement",
    "derive",
    "grow_schema",
    "grown_dtd",
    "image_automaton",
    "is_made",
    "made_keys",
    "mapping_paths",
    "mapping_rows",
    "mapping_svg",
    "match_schemas",
    "named_places",
    "outside_schema",
    "pair_agreement",
    "parent_key",
    "parse_label",
    "parse_operator",
    "parse_path",
    "pooled_names",
    "pooled_profiles",
    "profile_documents",
    "read_mapping",
    "read_mapping_file",
    "rewrite",
    "shown_operator",
    "shown_path",
    "to_xslt",
    "update_mapping_file",
    "was_attribute_of",
    "write_document",
    "write_proposal",
]

__getattr__ = lazy_names(
    __name__,
    {
        "twigcast.rewriting.mapping_files": (
            "CheckedMapping",
            "Growth",
            "MappingFile",
            "MappingFinding",
            "MappingRow",
            "MappingTest",
            "ProposedPair",
            "check_mapping",
            "check_together",
            "grow_schema",
            "grown_dtd",
            "mapping_rows",
            "mapping_svg",
            "outside_schema",
            "read_mapping",
            "read_mapping_file",
            "update_mapping_file",
            "write_proposal",
        ),
        "twigcast.rewriting.matching": (
            "Agreement",
            "Matching",
            "PairEvidence",
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
