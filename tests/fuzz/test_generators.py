"""The generators of the fuzz target: what they make is well-formed, and every construct occurs."""

from __future__ import annotations

import random
import re
from xml.parsers import expat

import pytest

from tests.fuzz import documents, subscriptions
from tests.fuzz.documents import COLLIDING, SHAPES, document, encoded, well_formed
from tests.fuzz.subscriptions import NAMESPACES, broken_expression, expression
from twigcast.errors import PatternError
from twigcast.pattern import parse


def is_well_formed(body: bytes) -> bool:
    parser = expat.ParserCreate(namespace_separator=" ")
    try:
        parser.Parse(body, True)
    except (expat.ExpatError, LookupError, ValueError):
        return False
    return True


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("scale", [1, 2, 20, 500])
def test_shapes_are_well_formed(name: str, scale: int) -> None:
    """A shape is well-formed at every scale, in every encoding."""
    for seed in range(20):
        chance = random.Random(seed)
        body = encoded(chance, SHAPES[name](chance, scale))
        assert is_well_formed(body), body


@pytest.mark.parametrize("name", ["deep", "wide", "repeated", "text_in_pieces", "long_things"])
def test_shapes_grow_with_their_scale(name: str) -> None:
    """A larger scale is a larger document."""
    small, large = (
        sum(len(SHAPES[name](random.Random(seed), scale)) for seed in range(20)) for scale in (5, 100)
    )
    assert large > 4 * small


def test_every_construct_of_xml_occurs() -> None:
    """A few hundred documents have everything that a document can have."""
    chance = random.Random(1)
    text = b"\n".join(well_formed(chance, 20) for _ in range(600)).replace(b"\0", b"").decode("latin-1")
    constructs = [
        *(
            "<!--",
            "<?pi",
            "<![CDATA[]]>",
            "<![CDATA[<a>&]]>",
            "<!DOCTYPE",
            "<!ENTITY",
            "<!ATTLIST",
            "<!NOTATION",
        ),
        *("<!ELEMENT", "<!ENTITY % q", "%q;", "NDATA", " SYSTEM 'none.dtd'", " PUBLIC", "&e", "&#x", "&amp;"),
        *("xmlns=''", "xmlns:p='urn:q'", "xml:lang", "\r\n", "p:k=", "k='&t;x&t;'", "<b/>", "n" * 300),
        *(
            "encoding='utf-16'",
            "encoding='iso-8859-1'",
            "encoding='koi8-r'",
            "\xef\xbb\xbf",
            "\xff\xfe",
            "\xfe\xff",
        ),
        *("x" * 300, COLLIDING[0], " k50=", "1e1", "<a><a><a>"),
    ]
    assert [construct for construct in constructs if construct not in text] == []


def test_documents_are_of_all_kinds() -> None:
    """About half of the documents are well-formed, and the same seed gives the same ones."""
    chance = random.Random(1)
    made = [document(chance, 10) for _ in range(500)]
    assert 0.3 < sum(map(is_well_formed, made)) / len(made) < 0.8
    chance = random.Random(1)
    assert [document(chance, 10) for _ in range(500)] == made


def test_every_construct_of_the_language_occurs() -> None:
    """A few thousand subscriptions have everything that the language has, and most are in it."""
    chance = random.Random(1)
    made = [expression(chance) for _ in range(3000)]
    constructs = [
        *(r"//", r"^/\w", r"^\w", r"\|", r"\*", r"@\*", r"text\(\)", r"\.\.", r"/\.", r"\[\.//", r"\[\.\./"),
        *(
            r"child::",
            r"descendant::",
            r"descendant-or-self::",
            r"self::",
            r"parent::",
            r"p:",
            r"\*:a",
            r"Q\{",
        ),
        *(
            r"\band\b",
            r"\bor\b",
            r"not\(",
            r"boolean\(",
            r"contains\(",
            r"starts-with\(",
            r"string-length\(\w",
        ),
        *(
            r"string-length\(\)",
            r"count\(",
            r"\[\d\]",
            r"position\(\)",
            r"\d [<=] position",
            r"!=",
            r"<=",
            r">=",
        ),
        *(r"'' = |= ''", r"-3", r"2\.5", r"long:", r"(\[[^\]]*){8}", r"(/[^/]*){250}", COLLIDING[0]),
    ]
    assert [
        construct for construct in constructs if not any(re.search(construct, text) for text in made)
    ] == []
    assert sum(map(in_language, made)) > 0.7 * len(made)


def test_broken_expressions_are_mostly_refused() -> None:
    """Some broken expressions are outside the language and some are still in it."""
    chance = random.Random(1)
    made = [broken_expression(chance) for _ in range(300)]
    assert 0.02 < sum(map(in_language, made)) / len(made) < 0.6


def test_colliding_names_are_names() -> None:
    """They are different, of one length, and can be used as names of elements."""
    assert len(set(COLLIDING)) == len(COLLIDING) == 36
    assert {len(name) for name in COLLIDING} == {16}
    assert is_well_formed(f"<a>{''.join(f'<{name}/>' for name in COLLIDING)}</a>".encode())


def test_generators_share_their_names() -> None:
    """Subscriptions ask for the names and namespaces that documents have."""
    assert set(documents.ELEMENTS) <= set(subscriptions.NAME_TESTS)
    assert NAMESPACES["long"] in documents.long_things(random.Random(2), 300)


def in_language(text: str) -> bool:
    try:
        parse(text, NAMESPACES)
    except PatternError:
        return False
    return True
