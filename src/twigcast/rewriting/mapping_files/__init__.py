"""Mapping files: one TOML file for each publisher, which a person reviews.

file = read_mapping_file("mappings/cmu.toml")        what the file says
file.mapping()                                       its mapping: operators derived from the pairs
check_mapping(file)                                  findings: errors and warnings, each a sentence
mapping_rows(mapping, …)                             the two trees side by side
grow_schema(file, graph)                             what the source has and the global schema lacks
shown_operator(operator)                             Insert cmu/Course schedule {Day_, Time_}
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from twigcast.rewriting.mapping_files.operator_text import parse_operator, shown_operator
from twigcast.system import lazy_names

if TYPE_CHECKING:
    from twigcast.rewriting.mapping_files.checking import (
        CheckedMapping,
        MappingFinding,
        check_mapping,
        check_together,
        outside_schema,
    )
    from twigcast.rewriting.mapping_files.drawing import MappingRow, mapping_rows, mapping_svg
    from twigcast.rewriting.mapping_files.growing import Growth, grow_schema, grown_dtd
    from twigcast.rewriting.mapping_files.mapping_file import (
        MappingFile,
        MappingTest,
        read_mapping,
        read_mapping_file,
    )
    from twigcast.rewriting.mapping_files.proposing import ProposedPair, write_proposal
    from twigcast.rewriting.mapping_files.updating import update_mapping_file

__all__ = [
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
    "parse_operator",
    "read_mapping",
    "read_mapping_file",
    "shown_operator",
    "update_mapping_file",
    "write_proposal",
]

__getattr__ = lazy_names(
    __name__,
    {
        "twigcast.rewriting.mapping_files.checking": (
            "CheckedMapping",
            "MappingFinding",
            "check_mapping",
            "check_together",
            "outside_schema",
        ),
        "twigcast.rewriting.mapping_files.drawing": ("MappingRow", "mapping_rows", "mapping_svg"),
        "twigcast.rewriting.mapping_files.growing": ("Growth", "grow_schema", "grown_dtd"),
        "twigcast.rewriting.mapping_files.mapping_file": (
            "MappingFile",
            "MappingTest",
            "read_mapping",
            "read_mapping_file",
        ),
        "twigcast.rewriting.mapping_files.proposing": ("ProposedPair", "write_proposal"),
        "twigcast.rewriting.mapping_files.updating": ("update_mapping_file",),
    },
    extra="schemas",
)
