"""``twigcast schema show``."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from lxml import etree

from tests.rewriting.mapping_files.publisher import DOCUMENT, publisher

RunCommand = Callable[..., Any]


def test_source_and_image_stand_side_by_side(run: RunCommand, tmp_path: Path) -> None:
    """With the operators between them."""
    done = run("schema", "show", publisher(tmp_path))
    assert done.exit_code == 0
    assert [" ".join(line.split()) for line in done.lines] == [
        "cmu rename catalogue",
        "└─ Course+ rename catalogue/course",
        "├─ Code? rename catalogue/course/code",
        "├─ Lecturer* insert · rename catalogue/course/(instructor)/name",
        "├─ Day_? insert · rename catalogue/course/(schedule)/days",
        "├─ Time_? insert · rename catalogue/course/(schedule)/time",
        "└─ name? hide (unmatched)",
    ]


def test_all_places_can_be_shown(run: RunCommand, tmp_path: Path) -> None:
    """Also those that nobody matched."""
    done = run("schema", "show", "--all", publisher(tmp_path))
    assert [line.split()[1] for line in done.lines if line.endswith("(unmatched)")] == [
        "@nr?",
        "Notes?",
        "name?",
    ]


def test_json_has_an_object_for_each_place(run: RunCommand, tmp_path: Path) -> None:
    """With its operators and its image."""
    done = run("schema", "show", "--json", publisher(tmp_path))
    assert json.loads(done.lines[3]) == {
        "place": "cmu/Course/Lecturer",
        "operators": ["insert", "rename"],
        "image": "catalogue/course/(instructor)/name",
    }


def test_a_drawing_is_written(run: RunCommand, tmp_path: Path) -> None:
    """As SVG."""
    path = publisher(tmp_path)
    done = run("schema", "show", path, "--svg", tmp_path / "cmu.svg")
    assert (done.exit_code, done.stdout) == (0, "")
    assert etree.parse(tmp_path / "cmu.svg").getroot().tag.endswith("svg")


def test_a_stylesheet_is_written(run: RunCommand, tmp_path: Path) -> None:
    """It makes the image of a document."""
    path = publisher(tmp_path)
    assert run("schema", "show", path, "--xslt", tmp_path / "cmu.xsl").exit_code == 0
    image = etree.XSLT(etree.parse(tmp_path / "cmu.xsl"))(etree.fromstring(DOCUMENT))
    assert image.xpath("string(/catalogue/course/instructor/name)") == "Ailamaki"
