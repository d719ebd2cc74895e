"""The text of an image, as SDR sends it."""

from __future__ import annotations

from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.pattern.strategies import NAMESPACES
from tests.rewriting.sources import mapping_of
from tests.rewriting.strategies import Case, cases, random_pattern
from twigcast.document import read
from twigcast.errors import DocumentError, PatternError
from twigcast.pattern import matches, parse
from twigcast.rewriting import Exchange
from twigcast.rewriting.image_text import write_document


def test_text_is_escaped_and_namespaces_are_declared_anew() -> None:
    """Prefixes of the source do not matter; what XML would change is written as a reference."""
    body = b'<p:a xmlns:p="urn:p" p:x="&quot;&#10;"><b>&lt;&amp;&#13;</b><!--c--><?pi x?></p:a>'
    assert write_document(read(body)) == (
        b'<a xmlns="urn:p" xmlns:n0="urn:p" n0:x="&quot;&#10;">'
        b'<b xmlns="">&lt;&amp;&#13;</b><!--c--><?pi x?></a>'
    )


def test_several_roots_have_no_text() -> None:
    """Exchange of the root makes as many roots as there are holders: trap 5."""
    mapping = mapping_of(
        "<!ELEMENT article (author*)> <!ELEMENT author EMPTY>", Exchange("article", "article/author")
    )
    assert write_document(mapping.apply(read(b"<article><author/><author/></article>"))) is None
    assert write_document(mapping.apply(read(b"<article/>"))) == b"<author><article/></author>"


@given(cases(), st.randoms(use_true_random=False))
@settings(deadline=None, max_examples=60)
def test_the_text_is_matched_as_the_image_is(case: Case, random: Random) -> None:
    """Read again, it is the same document to every pattern."""
    try:
        image = case.mapping.apply(read(case.body))
    except DocumentError:
        return
    text = write_document(image)
    if text is None:
        return
    again = read(text)
    for _ in range(8):
        try:
            pattern = parse(random_pattern(random).ours, NAMESPACES)
        except PatternError:
            continue
        assert matches(pattern, again) == matches(pattern, image)
