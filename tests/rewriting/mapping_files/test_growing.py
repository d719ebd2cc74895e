"""Global schemas that grow."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.rewriting.mapping_files.publisher import MAPPING, SOURCE, TARGET, publisher
from twigcast.rewriting import grow_schema, grown_dtd, read_mapping_file
from twigcast.rewriting.mapping_files.growing import snake_case
from twigcast.schema import read_dtd

UNDECIDED = MAPPING.split("[unmatched]")[0]


def test_undecided_places_are_added(tmp_path: Path) -> None:
    """As optional elements, below the image of the element in which they are; attributes as elements."""
    file = read_mapping_file(publisher(tmp_path, UNDECIDED))
    growth = grow_schema(file, read_dtd(TARGET.encode()))
    assert growth.pairs == {
        "cmu/Course/@nr": "catalogue/course/nr",
        "cmu/Course/Notes": "catalogue/course/notes",
        "cmu/Course/name": "catalogue/course/name",
    }
    text = grown_dtd(TARGET, growth)
    assert "<!ELEMENT course (code?, instructor*, schedule?, nr?, notes?, name?)>" in text
    assert text.count("<!ELEMENT name ") == 1
    assert [child.name for child in read_dtd(text.encode()).children("course")][-3:] == [
        "nr",
        "notes",
        "name",
    ]


def test_a_declaration_in_a_comment_is_not_changed(tmp_path: Path) -> None:
    """It is not the one that counts."""
    comment = "<!-- was:\n<!ELEMENT course (code?)> -->\n"
    file = read_mapping_file(publisher(tmp_path, UNDECIDED))
    text = grown_dtd(comment + TARGET, grow_schema(file, read_dtd(TARGET.encode())))
    assert text.startswith(comment)
    assert [child.name for child in read_dtd(text.encode()).children("course")][-1] == "name"


def test_decided_places_are_not_added(tmp_path: Path) -> None:
    """What is kept or hidden was decided."""
    growth = grow_schema(read_mapping_file(publisher(tmp_path)), read_dtd(TARGET.encode()))
    assert growth.pairs == {}
    assert grown_dtd(TARGET, growth) == TARGET


def test_named_places_are_added_with_what_is_below_them(tmp_path: Path) -> None:
    """Elements between a place and the nearest matched element come along."""
    source = SOURCE.replace("Notes?,", "Notes?, Exam*,") + (
        "<!ELEMENT Exam (ExamDate?, Hall?)><!ELEMENT ExamDate (#PCDATA)><!ELEMENT Hall (#PCDATA)>"
    )
    file = read_mapping_file(publisher(tmp_path, source=source))
    growth = grow_schema(file, read_dtd(TARGET.encode()), ["cmu/Course/Exam"])
    assert growth.pairs == {
        "cmu/Course/Exam": "catalogue/course/exam",
        "cmu/Course/Exam/ExamDate": "catalogue/course/exam/exam_date",
        "cmu/Course/Exam/Hall": "catalogue/course/exam/hall",
    }
    grown = read_dtd(grown_dtd(TARGET, growth).encode())
    assert [(child.name, child.most) for child in grown.children("course")][-1] == ("exam", None)
    assert [child.name for child in grown.children("exam")] == ["exam_date", "hall"]


def test_a_place_that_is_there_already_is_not_added(tmp_path: Path) -> None:
    """It should be matched instead."""
    source = SOURCE.replace("Notes?,", "Notes?, schedule?,") + "<!ELEMENT schedule (#PCDATA)>"
    file = read_mapping_file(publisher(tmp_path, source=source))
    growth = grow_schema(file, read_dtd(TARGET.encode()))
    assert growth.skipped == {
        "cmu/Course/schedule": "the global schema has catalogue/course/schedule already"
    }


@pytest.mark.parametrize(
    ("model", "grown"),
    [
        ("EMPTY", "(notes?)"),
        ("(code | schedule)*", "((code | schedule)*, notes?)"),
        ("(code?)", "(code?, notes?)"),
        ("(code, schedule)+", "((code, schedule)+, notes?)"),
    ],
)
def test_content_models_of_all_kinds_grow(tmp_path: Path, model: str, grown: str) -> None:
    """What the model admitted before, it still admits."""
    target = TARGET.replace("(code?, instructor*, schedule?)", model)
    pairs = '"cmu" = "catalogue"\n"cmu/Course" = "catalogue/course"\n'
    file = read_mapping_file(
        publisher(tmp_path, UNDECIDED.split("[match]")[0] + "[match]\n" + pairs, target=target)
    )
    growth = grow_schema(file, read_dtd(target.encode()), ["cmu/Course/Notes"])
    assert f"<!ELEMENT course {grown}>" in grown_dtd(target, growth)


def test_a_model_from_an_entity_is_written_anew(tmp_path: Path) -> None:
    """A declaration that cannot be changed alone: the schema is written as a whole."""
    target = '<!ENTITY % c "(code?, instructor*, schedule?)">' + TARGET.replace(
        "(code?, instructor*, schedule?)", "%c;"
    )
    file = read_mapping_file(publisher(tmp_path, target=target))
    growth = grow_schema(file, read_dtd(target.encode()), ["cmu/Course/Notes"])
    children = read_dtd(grown_dtd(target, growth).encode()).children("course")
    assert [child.name for child in children] == ["code", "instructor", "schedule", "notes"]


@pytest.mark.parametrize(
    ("name", "snake"), [("CourseXListed", "course_x_listed"), ("Day_", "day"), ("CRN", "crn"), ("a-b", "a_b")]
)
def test_names_in_the_style_of_global_schemas(name: str, snake: str) -> None:
    """Small letters and underscores."""
    assert snake_case(name) == snake
