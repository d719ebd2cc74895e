"""Names of delivered files are those of the documents, and every file system takes them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twigcast.spark.outputs.file_names import FILE_NAME, NAME_BYTES, FileNameTemplate, document_name

ID = "0123456789abcdef0123456789abcdef"


def name(doc_id: str, template: str = FILE_NAME, **columns: object) -> str:
    return FileNameTemplate.parse(template).name({"doc_id": doc_id, "delivery_id": ID, **columns})


@pytest.mark.parametrize(
    ("doc_id", "expected"),
    [
        ("/data/feed/invoice 7.xml", "invoice 7"),
        ("/data/feed/Rechnung-ü.XML.gz", "Rechnung-ü"),
        ("s3a://bucket/a.b.xml", "a.b"),
        ("/data/a.zip!in/b.xml", "b"),
        ("/data/dump.xml#1234", "dump-1234"),
        ("news/0/17", "17"),
        ("a#b.xml", "a#b"),
        (".xml", ".xml"),
        ("", ""),
    ],
)
def test_the_name_of_a_document_is_the_end_of_its_id(doc_id: str, expected: str) -> None:
    """Folders, archives and the suffixes of XML are left out; a record keeps its offset."""
    assert document_name(doc_id) == expected


@pytest.mark.parametrize(
    ("doc_id", "expected"),
    [
        ("feed/a.xml", "a-0123456789abcdef.xml"),
        ("..", "0123456789abcdef.xml"),
        ("_hidden", "hidden-0123456789abcdef.xml"),
        ("urn:x?y\n", "urn_x_y_-0123456789abcdef.xml"),
        ("", "0123456789abcdef.xml"),
    ],
)
def test_unsafe_names_are_made_safe(doc_id: str, expected: str) -> None:
    """No name is hidden, leaves its folder, or has characters that a file system refuses."""
    assert name(doc_id) == expected


def test_fields_are_columns_of_the_delivery() -> None:
    """A value that is missing is empty; names of devices get a mark."""
    assert name("d", "{subscriber}.{part}.{delivery_id}", subscriber="con", part=None) == f"con-..{ID}"
    assert name("d", "x{open}{id}", open=True) == f"xtrue{ID[:16]}"


@given(st.lists(st.text(max_size=300), min_size=2, max_size=2), st.sampled_from([FILE_NAME, "{a}{b}~{id}"]))
def test_any_name_is_one_that_every_file_system_takes(values: list[str], template: str) -> None:
    """It is short, is not hidden, ends well, and has the whole id."""
    made = name(values[0], template, a=values[0], b=values[1])
    assert len(made.encode()) <= NAME_BYTES + 1
    assert ID[:16] in made
    assert made[0] not in "._ "
    assert made[-1] not in ". "
    assert not set(made) & set('/\\:*?"<>|\0\n')


@pytest.mark.parametrize(
    ("template", "sentence"),
    [
        ("{name}.xml", "expected {id} or {delivery_id} in it, so that no two deliveries share a file"),
        ("{subscriber}/{id}.xml", "partition_by makes folders"),
        ("{id}{", "expected fields in braces"),
        ("{id!r}", "without a format"),
        ("{id:>20}", "without a format"),
        (".{id}", "not hidden"),
        ("{id}" + "x" * 61, "at most 60 bytes"),
        ("{id}:", "characters that every file system takes"),
    ],
)
def test_a_bad_template_is_refused(template: str, sentence: str) -> None:
    """The sentence says what was expected."""
    with pytest.raises(ValueError, match=sentence):
        FileNameTemplate.parse(template)
