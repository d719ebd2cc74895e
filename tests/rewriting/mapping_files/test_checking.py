"""What ``check`` says about mapping files."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.rewriting.mapping_files.publisher import MAPPING, SOURCE, TARGET, publisher
from twigcast.pattern import parse
from twigcast.rewriting import (
    check_mapping,
    check_together,
    mapping_paths,
    outside_schema,
    read_mapping_file,
)
from twigcast.schema import read_dtd

EXAMPLES = Path(__file__).parents[3] / "examples"


def findings(path: Path) -> list[tuple[str, str, str]]:
    checked = check_mapping(read_mapping_file(path))
    assert checked.is_good == all(finding.level != "error" for finding in checked.findings)
    return [(finding.level, finding.code, finding.place) for finding in checked.findings]


def test_a_good_file_has_no_findings(tmp_path: Path) -> None:
    """Everything is matched, kept or hidden, and its test passes."""
    assert findings(publisher(tmp_path)) == []


@pytest.mark.parametrize(
    "path", mapping_paths([EXAMPLES / "catalogues", EXAMPLES / "invoices"]), ids=lambda p: p.stem
)
def test_the_examples_are_good(path: Path) -> None:
    """Each mapping of the examples can be used, and passes its own tests."""
    checked = check_mapping(read_mapping_file(path))
    assert checked.is_good
    assert checked.file.tests


def test_every_unknown_place_is_reported(tmp_path: Path) -> None:
    """Not only the first one."""
    text = MAPPING.replace('"cmu/Course/Code"', '"cmu/Course/Cod"').replace('schedule/days"', 'schedule/day"')
    assert findings(publisher(tmp_path, text)) == [
        ("error", "place", "cmu/Course/Cod"),
        ("error", "place", "catalogue/course/schedule/day"),
    ]


def test_a_changed_source_is_reported_but_checked(tmp_path: Path) -> None:
    """The rest of the file is checked as well."""
    path = publisher(tmp_path, MAPPING.replace("[match]", 'reviewed = "12345678"\n[match]'))
    assert findings(path) == [("error", "drift", "cmu.dtd")]


def test_changed_operators_are_reported(tmp_path: Path) -> None:
    """The hash of the operators is that of another list."""
    path = publisher(tmp_path, MAPPING.replace("[match]", 'derived = "12345678"\n[match]'))
    assert findings(path) == [("warning", "changed", "")]


def test_a_name_of_the_global_schema_is_a_collision(tmp_path: Path) -> None:
    """Trap 16: the course's own name is neither matched nor hidden."""
    path = publisher(tmp_path, MAPPING.replace('hide = ["cmu/Course/name"]', ""))
    assert findings(path) == [("warning", "collision", "cmu/Course/name"), ("note", "undecided", "")]


def test_elements_that_move_into_text_are_reported(tmp_path: Path) -> None:
    """Trap 17: the code would go into the lecturer, which has text."""
    target = TARGET.replace("<!ELEMENT name (#PCDATA)>", "<!ELEMENT name (#PCDATA|code)*>")
    text = MAPPING.replace('"catalogue/course/code"', '"catalogue/course/instructor/name/code"')
    assert ("warning", "text", "cmu/Course/Lecturer") in findings(publisher(tmp_path, text, target=target))


def test_repeated_elements_that_are_taken_apart_are_reported(tmp_path: Path) -> None:
    """Trap 38: day and time of one section would be joined with those of another."""
    source = SOURCE.replace("Day_?, Time_?", "Section*").replace(
        "<!ELEMENT Code", "<!ELEMENT Section (Day_?, Time_?)><!ELEMENT Code"
    )
    text = MAPPING.replace("Course/Day_", "Course/Section/Day_").replace(
        "Course/Time_", "Course/Section/Time_"
    )
    found = findings(publisher(tmp_path, text, source))
    assert ("warning", "dissolved", "cmu/Course/Section") in found
    assert ("warning", "gathered", "cmu/Course/Section/Day_") in found


def test_a_repeated_element_with_one_matched_place_is_fine(tmp_path: Path) -> None:
    """Nothing stood together."""
    source = SOURCE.replace("Day_?, Time_?", "Section*, Time_?").replace(
        "<!ELEMENT Code", "<!ELEMENT Section (Day_?)><!ELEMENT Code"
    )
    text = MAPPING.replace("Course/Day_", "Course/Section/Day_")
    assert [code for _, code, _ in findings(publisher(tmp_path, text, source))] == ["gathered"]


def test_attributes_that_stay_on_top_are_reported(tmp_path: Path) -> None:
    """Trap 15: the root becomes a course inside of the catalogue, its attributes do not."""
    source = "<!ELEMENT Course (Code?)><!ATTLIST Course nr CDATA #IMPLIED><!ELEMENT Code (#PCDATA)>"
    text = """mapping = "one"
source = "cmu.dtd"
target = "catalogue.dtd"
[match]
"Course" = "catalogue/course"
"Course/Code" = "catalogue/course/code"
[unmatched]
keep = ["Course/@nr"]
"""
    assert findings(publisher(tmp_path, text, source)) == [("warning", "attributes", "Course")]


def test_a_failing_test_is_an_error(tmp_path: Path) -> None:
    """Both what should match and what should not."""
    text = MAPPING.replace("name='Ailamaki'", "name='Zhang'").replace("not(code)", "code")
    assert [code for _, code, _ in findings(publisher(tmp_path, text))] == ["test", "test"]


def test_the_document_of_a_test_may_be_a_file(tmp_path: Path) -> None:
    """Relative to the mapping file; a missing or malformed one is an error of the test."""
    text = MAPPING.replace('xml = "<cmu>', 'document = "cmu.xml" # "<cmu>')
    path = publisher(tmp_path, text)
    assert [code for _, code, _ in findings(path)] == ["test"]
    (tmp_path / "cmu.xml").write_text("<cmu><Course>")
    assert [code for _, code, _ in findings(path)] == ["test"]
    (tmp_path / "cmu.xml").write_text("<cmu><Course><Code/><Lecturer>Ailamaki</Lecturer></Course></cmu>")
    assert findings(path) == []


def test_a_schema_that_cannot_be_read_is_one_error(tmp_path: Path) -> None:
    """Nothing else can be said then."""
    path = publisher(tmp_path)
    (tmp_path / "catalogue.dtd").unlink()
    assert findings(path) == [("error", "mapping-file", "target")]


def test_mappings_that_cannot_be_told_apart_are_reported(tmp_path: Path) -> None:
    """Two with one name, and two with one root element."""
    one, other = (
        publisher(tmp_path / "a"),
        publisher(tmp_path / "b", MAPPING.replace('"cmu"\n', '"cmu2"\n', 1)),
    )
    checked = [check_mapping(read_mapping_file(path)) for path in (one, other)]
    assert [finding.code for finding in check_together(checked)] == ["same-root"]
    twice = [checked[0], check_mapping(read_mapping_file(one))]
    assert [finding.code for finding in check_together(twice)] == ["duplicate-mapping", "same-root"]


@pytest.mark.parametrize(
    ("xpath", "reason"),
    [
        ("//course[code]", ""),
        ("//course[instructor/name='x'][not(schedule)]", ""),
        ("//course[Lecturer]", "no document of the global schema can match it"),
        ("/course", "no document of the global schema can match it"),
        ("//course[@code]", "the global schema has no attribute 'code'"),
        ("//course[name or @nr='7']/code", "the global schema has no attribute 'nr'"),
        ("//course/@*", ""),
    ],
)
def test_subscriptions_outside_of_the_global_schema_are_found(xpath: str, reason: str) -> None:
    """Trap 23: written against a source, they match no image."""
    assert outside_schema(parse(xpath), read_dtd(TARGET.encode())) == reason
