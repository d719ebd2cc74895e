"""Mapping files: one TOML file for each publisher, which a person reviews.

file = read_mapping_file("mappings/cmu.toml")        what the file says
file.mapping()                                       its mapping: operators derived from the pairs
check(file)                                          findings: errors and warnings, each a sentence
shown_operator(operator)                             Insert cmu/Course schedule {Day_, Time_}
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from twigcast.rewriting.mapping_files.operator_text import parse_operator, shown_operator
from twigcast.system import lazy_names

if TYPE_CHECKING:
    from twigcast.rewriting.mapping_files.mapping_file import (
        MappingFile,
        MappingTest,
        read_mapping,
        read_mapping_file,
    )

__all__ = [
    "MappingFile",
    "MappingTest",
    "parse_operator",
    "read_mapping",
    "read_mapping_file",
    "shown_operator",
]

__getattr__ = lazy_names(
    __name__,
    {
        "twigcast.rewriting.mapping_files.mapping_file": (
            "MappingFile",
            "MappingTest",
            "read_mapping",
            "read_mapping_file",
        ),
    },
    extra="schemas",
)
