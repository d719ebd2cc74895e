"""Mapping files."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.rewriting.mapping_files.publisher import DOCUMENT, MAPPING, SOURCE, publisher
from twigcast.document import read
from twigcast.errors import MappingError
from twigcast.pattern import matches, parse
from twigcast.rewriting import read_mapping_file, shown_operator
from twigcast.rewriting.mapping_files.mapping_file import read_mapping
from twigcast.schema import read_dtd


def refusal(path: Path) -> MappingError:
    with pytest.raises(MappingError) as caught:
        read_mapping(path)
    assert caught.value.message.startswith(f"{path}: ")
    assert "\n" not in caught.value.message
    return caught.value


def test_operators_are_derived_from_the_pairs(tmp_path: Path) -> None:
    """And hidden places are taken out at the end."""
    mapping = read_mapping(publisher(tmp_path))
    assert (mapping.name, mapping.version, mapping.target) == ("cmu", 1, "catalogue")
    assert [shown_operator(each) for each in mapping.operators] == [
        "Rename cmu catalogue",
        "Rename cmu/Course course",
        "Rename cmu/Course/Code code",
        "InsertEach cmu/Course instructor {Lecturer}",
        "Rename cmu/Course/Lecturer name",
        "Insert cmu/Course schedule {Day_, Time_}",
        "Rename cmu/Course/Day_ days",
        "Rename cmu/Course/Time_ time",
        "Hide cmu/Course/name",
    ]


def test_a_hidden_place_is_not_in_the_image(tmp_path: Path) -> None:
    """Trap 16: the course's own name would be found by //name."""
    image = read_mapping(publisher(tmp_path)).apply(read(DOCUMENT.encode()))
    assert not matches(parse("//name[.='x']"), image)
    assert matches(parse("//name[.='Ailamaki']"), image)


def test_everything_that_is_not_matched_can_be_hidden(tmp_path: Path) -> None:
    """But for what is kept; elements only."""
    text = MAPPING.replace('keep = ["cmu/Course/Notes", "cmu/Course/@nr"]', 'keep = ["cmu/Course/Notes"]')
    path = publisher(tmp_path, text.replace('hide = ["cmu/Course/name"]', 'hide = ["*"]'))
    assert [str(each.node) for each in read_mapping(path).operators[-1:]] == ["cmu/Course/name"]


def test_a_list_of_operators_replaces_the_derivation(tmp_path: Path) -> None:
    """For those who must."""
    text = MAPPING.replace("[match]", 'operators = ["Rename cmu catalogue"]\n[match]')
    mapping = read_mapping(publisher(tmp_path, text))
    assert [shown_operator(each) for each in mapping.operators] == [
        "Rename cmu catalogue",
        "Hide cmu/Course/name",
    ]


def test_another_global_schema_can_be_given(tmp_path: Path) -> None:
    """The pairs are then places of that schema."""
    path = publisher(tmp_path)
    wrong = read_dtd(b"<!ELEMENT catalogue (course+)><!ELEMENT course (code?)><!ELEMENT code (#PCDATA)>")
    with pytest.raises(MappingError) as caught:
        read_mapping(path, wrong)
    assert caught.value.code == "place"


def test_prefixes_of_the_schemas_and_of_the_file_can_be_used(tmp_path: Path) -> None:
    """The namespace decides, not the prefix."""
    source = """<!ELEMENT u:Invoice (u:ID)><!ATTLIST u:Invoice xmlns:u CDATA #FIXED "urn:u">
        <!ELEMENT u:ID (#PCDATA)>"""
    target = "<!ELEMENT invoice (number)><!ELEMENT number (#PCDATA)>"
    text = """mapping = "u"
source = "cmu.dtd"
target = "catalogue.dtd"
[namespaces]
v = "urn:u"
[match]
"u:Invoice" = "invoice"
"v:Invoice/Q{urn:u}ID" = "invoice/number"
"""
    mapping = read_mapping(publisher(tmp_path, text, source, target))
    image = mapping.apply(read(b'<x:Invoice xmlns:x="urn:u"><x:ID>7</x:ID></x:Invoice>'))
    assert matches(parse("/invoice[number='7']"), image)


@pytest.mark.parametrize(
    ("old", "new", "code", "message"),
    [
        ('"cmu/Course/Code" =', '"cmu/Course/code" =', "place", "has no 'code', did you mean Code?"),
        (
            '"cmu/Course/Code" =',
            '"cmu/Cuorse/Code" =',
            "place",
            "'cmu' has no 'Cuorse', did you mean Course?",
        ),
        ('"cmu/Course/Code" =', '"uni/Code" =', "place", "there is no 'uni/Code'; the root is 'cmu'"),
        ('course/code"', 'course/zzz"', "place", "'catalogue/course' contains code, instructor, schedule"),
        ('"cmu/Course/Code" =', '"x:Code" =', "place", "the prefix 'x' in 'x:Code' is not declared"),
        ('"cmu/Course/Code" =', '"cmu//Code" =', "place", "is not a path of names"),
        ('course/schedule/days"', 'course/schedule"', "matching", None),
        ('source = "cmu.dtd"', 'source = "no.dtd"', "mapping-file", "source: "),
        ('source = "cmu.dtd"', 'source = "cmu.toml"', "mapping-file", "is not a DTD"),
        ('mapping = "cmu"', 'maping = "cmu"', "mapping-file", "maping: unknown key; did you mean mapping?"),
        ('target = "catalogue.dtd"', "", "mapping-file", "target: "),
        ('mapping = "cmu"', "mapping = 7", "mapping-file", "mapping: expected a string, got 7"),
        ("[match]", "[match", "mapping-file", "not TOML"),
        ('xml = "', 'document = "a.xml"\nxml = "', "mapping-file", "expected either document or xml"),
        ('hide = ["cmu/Course/name"]', 'hide = ["cmu/Course/Code"]', "matching", "is matched"),
        (
            'hide = ["cmu/Course/name"]',
            'hide = ["cmu/Course/@nr"]',
            "matching",
            "'cmu/Course/@nr' is also in unmatched.keep",
        ),
        ('hide = ["cmu/Course/name"]', 'hide = ["cmu/Course/nam"]', "place", "did you mean name?"),
        ("[match]", 'reviewed = "00000000"\n[match]', "drift", "has changed since the mapping was reviewed"),
        ("[match]", 'operators = ["Rename cmu"]\n[match]', "mapping-file", "expected Rename PLACE NAME"),
        ("[match]", 'operators = ["Hide cmu/Course/Zzz"]\n[match]', "place", "there is no 'cmu/Course/Zzz'"),
        ("[match]", '[namespaces]\n"" = "urn:x"\n[match]', "mapping-file", "choose a prefix"),
    ],
)
def test_a_wrong_file_is_refused_in_one_line(
    tmp_path: Path, old: str, new: str, code: str, message: str | None
) -> None:
    """With the path of the file, what was expected, and the nearest names."""
    assert old in MAPPING
    text = MAPPING.replace(old, new)
    if code == "matching" and message is None:
        text = text.replace(
            '"cmu/Course/Time_" =', '"cmu/Course/@nr" = "catalogue/course/schedule"\n"cmu/Course/Time_" ='
        )
        text = text.replace(', "cmu/Course/@nr"]', "]")
    error = refusal(publisher(tmp_path, text))
    assert error.code == code
    assert (message or "both lead to 'catalogue/course/schedule'") in error.message


def test_an_element_that_can_contain_itself_is_refused(tmp_path: Path) -> None:
    """A loop in the source: nothing can move out of it."""
    source = SOURCE.replace("Notes?,", "Notes?, Course*,")
    error = refusal(publisher(tmp_path, source=source))
    assert error.code == "recursive"
    assert "can contain itself" in error.message


def test_the_reviewed_hash_is_that_of_the_source(tmp_path: Path) -> None:
    """An unchanged schema is used without a word."""
    path = publisher(tmp_path)
    reviewed = read_mapping_file(path).source_hash()
    path = publisher(tmp_path, MAPPING.replace("[match]", f'reviewed = "{reviewed}"\n[match]'))
    assert read_mapping(path).name == "cmu"
    publisher(tmp_path, path.read_text(), SOURCE.replace("Notes?", "Notes*"))
    assert refusal(path).code == "drift"


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    """In one line."""
    assert "there is no such file" in refusal(tmp_path / "no.toml").message
