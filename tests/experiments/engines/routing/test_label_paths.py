"""The label paths of a schema."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given, settings

from experiments.engines.routing.label_paths import count_label_paths, label_paths
from tests.analysis.schemas import graphs
from twigcast.schema import ElementGraph, read_dtd

LIST = read_dtd(b"<!ELEMENT list (title?, item+)><!ELEMENT title (#PCDATA)><!ELEMENT item (#PCDATA | list)*>")


def test_paths_end_at_leaves_or_are_cut() -> None:
    """A path ends where an element can stand without children, and at the depth."""
    assert list(label_paths(LIST, 3)) == [("list", "title"), ("list", "item"), ("list", "item", "list")]


def test_an_element_that_needs_children_ends_no_path() -> None:
    """An element whose content cannot be empty is a leaf in no document."""
    graph = read_dtd(b"<!ELEMENT a (b)><!ELEMENT b EMPTY>")
    assert list(label_paths(graph, 5)) == [("a", "b")]


def test_elements_without_a_valid_tree_stand_on_no_path() -> None:
    """An element that needs itself is part of no document."""
    graph = read_dtd(b"<!ELEMENT a (b?, c)*><!ELEMENT b (b)><!ELEMENT c EMPTY>")
    assert list(label_paths(graph, 3)) == [("a",), ("a", "c")]


def test_depth_zero_has_no_paths() -> None:
    """Nothing is counted or listed where there is no level."""
    assert list(label_paths(LIST, 0)) == []
    assert count_label_paths(LIST, 0) == 0


@given(graphs())
@settings(max_examples=60, deadline=None)
def test_counting_agrees_with_enumeration(graph: ElementGraph) -> None:
    """The count is the number of the paths, which are distinct."""
    for depth in range(6):
        paths = list(label_paths(graph, depth))
        assert count_label_paths(graph, depth) == len(paths) == len(set(paths))


def test_nitf_is_counted_without_enumeration(data: Path) -> None:
    """The recursive NITF has hundreds of thousands of paths to depth 10, and too many to list to depth 40."""
    graph = read_dtd(data / "nitf" / "nitf-2-5.dtd")
    assert count_label_paths(graph, 10) == 787_128
    assert count_label_paths(graph, 40) > 10**20
