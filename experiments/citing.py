"""Which figure or table of which paper an experiment repeats."""

from __future__ import annotations

import re

THESIS = "Ni Yuan, Content-Based Dissemination of XML Data, National University of Singapore 2007"
PAPERS = {
    "routing": "Li, Hou and Jacobsen, Routing of XML and XPath Queries in Data Dissemination Networks",
    "piggyback": THESIS,
    "fragments": THESIS,
    "rewriting": THESIS,
    "chunking": "Lehner and Irmert, XPath-Aware Chunking of XML-Documents",
}
"""By the topic of an experiment: the paper whose numbers of figures and tables its name has."""
PLACE = re.compile(r"(fig|table)-(?P<number>[a-z]?\d+(?:-\d+)?)(?P<part>[a-z]?)")


def citation(name: str) -> str:
    """The figure or table that an experiment repeats, such as ``Figure 6.7(a) of …``."""
    topic, _, place = name.partition("/")
    found = PLACE.fullmatch(place)
    if found is None:
        return f"No figure of a paper; on the subject of {PAPERS[topic]}"
    kind = "Figure" if place.startswith("fig") else "Table"
    number = found["number"].upper().replace("-", ".")
    part = f"({found['part']})" if found["part"] else ""
    return f"{kind} {number}{part} of {PAPERS[topic]}"
