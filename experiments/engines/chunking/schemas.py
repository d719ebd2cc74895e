"""The two schemas of the paper on chunking, as they are in this folder.

university()          five kinds of members, one kind after the other, as the paper's appendix has it
mixed_university()    the same members in any order, as its text says
deployment()          a deployment descriptor of Enterprise JavaBeans, in which a method can be recursive
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from twigcast.schema import ElementGraph, read_dtd

MEMBERS = ("student", "professor", "assistant", "secretary", "lecturer")
"""The kinds of records of the university."""


@cache
def university(root: str = "db") -> ElementGraph:
    """The members of a university, or what a member of one kind has if the root is its name."""
    return read_dtd(_shipped("university.dtd"), root)


@cache
def mixed_university() -> ElementGraph:
    """The members of a university in any order."""
    in_sequence = ", ".join(f"{kind}+" for kind in MEMBERS)
    mixed = f"({' | '.join(MEMBERS)})+"
    return read_dtd(_shipped("university.dtd").replace(in_sequence.encode(), mixed.encode()), "db")


@cache
def deployment(root: str = "ejb-jar") -> ElementGraph:
    """A deployment descriptor, or one of its elements."""
    return read_dtd(_shipped("deployment.dtd"), root)


def _shipped(name: str) -> bytes:
    return Path(__file__).with_name(name).read_bytes()
