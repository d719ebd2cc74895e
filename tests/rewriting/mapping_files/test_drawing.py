"""Drawings of mappings."""

from __future__ import annotations

from pathlib import Path

from lxml import etree

from tests.rewriting.mapping_files.publisher import publisher
from twigcast.rewriting import mapping_rows, mapping_svg, read_mapping_file
from twigcast.rewriting.mapping_files.drawing import MappingRow


def rows(path: Path, *, everything: bool = False) -> list[MappingRow]:
    file = read_mapping_file(path)
    mapping, target = file.mapping(), file.target_tree()
    pairs, prefixes = file.keys(mapping.source, target), file.prefixes(mapping.source, target)
    return mapping_rows(mapping, pairs, prefixes, everything=everything)


def test_each_matched_place_has_a_row(tmp_path: Path) -> None:
    """With its line of the tree, its operators, and its image, in which made elements are in parentheses."""
    found = [
        (row.branches + row.name, " · ".join(row.operators), row.image) for row in rows(publisher(tmp_path))
    ]
    assert found == [
        ("cmu", "rename", "catalogue"),
        ("└─ Course+", "rename", "catalogue/course"),
        ("   ├─ Code?", "rename", "catalogue/course/code"),
        ("   ├─ Lecturer*", "insert · rename", "catalogue/course/(instructor)/name"),
        ("   ├─ Day_?", "insert · rename", "catalogue/course/(schedule)/days"),
        ("   ├─ Time_?", "insert · rename", "catalogue/course/(schedule)/time"),
        ("   └─ name?", "hide", ""),
    ]


def test_all_places_can_be_shown(tmp_path: Path) -> None:
    """Also those that are not matched, without an image."""
    found = rows(publisher(tmp_path), everything=True)
    assert [row.name for row in found if not row.is_matched] == ["@nr?", "Notes?", "name?"]


def test_a_drawing_is_xml_with_a_line_for_each_pair(tmp_path: Path) -> None:
    """Names are escaped."""
    svg = etree.fromstring(mapping_svg(rows(publisher(tmp_path)), "a < b").encode())
    space = {"s": "http://www.w3.org/2000/svg"}
    assert len(svg.findall("s:path", space)) == 6
    assert svg.findtext("s:title", namespaces=space) == "a < b"
    assert "catalogue/course/(instructor)/name" in {each.text for each in svg.findall("s:text", space)}
