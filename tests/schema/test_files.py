"""A schema from a file, whatever its language."""

from __future__ import annotations

from pathlib import Path

import pytest

from twigcast.errors import SchemaError
from twigcast.schema import read_schema

XSD = """<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">
<xs:element name="a"><xs:complexType><xs:sequence><xs:element name="b" type="xs:string"/></xs:sequence>
</xs:complexType></xs:element></xs:schema>"""


@pytest.mark.parametrize(
    ("name", "text"), [("s.dtd", "<!ELEMENT a (b)><!ELEMENT b (#PCDATA)>"), ("s.xsd", XSD)]
)
def test_the_name_says_the_language(tmp_path: Path, name: str, text: str) -> None:
    """The same schema in both gives the same elements."""
    (tmp_path / name).write_text(text)
    graph = read_schema(tmp_path / name)
    assert (graph.root, [child.name for child in graph.children("a")]) == ("a", ["b"])


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    """With the reason of the system."""
    with pytest.raises(SchemaError, match=r"gone\.dtd cannot be read: No such file"):
        read_schema(tmp_path / "gone.dtd")
