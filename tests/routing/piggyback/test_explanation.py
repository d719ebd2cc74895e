"""``Router.explain``: what was claimed, what that decides, and what is left open."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from tests.routing.piggyback.link import Line, annotated
from twigcast.errors import RoutingError
from twigcast.routing import Router, Strategy
from twigcast.routing.messages import Envelope
from twigcast.routing.piggyback import AnnotationKind, Annotations, DocumentFigures

BODY = b'<r><a><y n="7"/></a></r>'
ROWS = {
    "k": {"s": "//a/y", "t": "//a/z"},
    "l": {"u": "//a/*[@n < 3]"},
    "c": {"v": "//a[count(y) = 1]", "w": "//a"},
}


def test_the_text_says_what_each_claim_decides() -> None:
    """One line for each claim, with the ids that it proves or refutes, then the links."""
    line = Line("L-sdr", ROWS)
    explained = line.j.explain(line.annotated(BODY), "i")
    lines = str(explained).splitlines()
    assert lines[0] == f"d: {explained.annotation_bytes} bytes of annotations"
    at = lines.index("  negative subscriptions: matches //a")
    assert lines[at + 1] == "    proves w"
    at = lines.index("  negative data: does not match //a/z")
    assert lines[at + 1] == "    refutes t"
    assert lines[-4:] == [
        "  link k: 1 proven, 1 refuted, 0 open",
        "  link l: 0 proven, 0 refuted, 1 open",
        "  link c: 1 proven, 0 refuted, 1 open",
        "  the document is parsed",
    ]


def test_ranges_are_named() -> None:
    """Each attribute with its values."""
    line = Line("L-r", {"k": {"u": "//y[@n < 3]"}, "l": {"t": "//y"}})
    (statement,) = line.j.explain(line.annotated(BODY), "i").statements
    assert (statement.kind, statement.text, statement.refuted) == ("ranges", "y/@n is one of '7'", ("u",))
    many = b"<r>" + b"".join(b'<y n="%d"/>' % n for n in range(4, 40)) + b'<y n="x"/></r>'
    (statement,) = line.j.explain(line.annotated(many), "i").statements
    assert statement.text == "y/@n is between 4 and 39, or no number (1 times)"


def test_an_unread_document_and_its_structure() -> None:
    """The structure is one claim; the explanation is plain JSON."""
    line = Line("L+t", {"k": {"s": "//a/y", "t": "//a/z"}})
    explained = line.j.explain(line.annotated(BODY + b" " * 4000), "i")
    (statement,) = explained.statements
    assert (statement.text, statement.proven, statement.refuted) == (
        "the element tree is known",
        ("s",),
        ("t",),
    )
    assert explained.rows == {"k": {"s": "proven", "t": "refuted"}, "c": {}}
    assert not explained.is_parsed
    assert str(explained).endswith("the document is sent on unread")
    assert json.loads(json.dumps(explained.to_json()))["rows"] == explained.rows


def test_a_name_that_no_row_mentions_is_readable() -> None:
    """A binding does not say which name it is."""
    line = Line("L+s", {"k": {"s": "//a/y"}, "l": {"t": "//a/*"}})
    (statement,) = line.j.explain(line.annotated(b"<a><x/></a>"), "i").statements
    assert statement.text == "matches //a/*"
    assert str(statement.text).isprintable()


def test_problems_are_said() -> None:
    """No annotations, altered ones, malformed ones, contradictions, limits: the rows are open."""
    line = Line("L+a-s", ROWS)
    sent = line.annotated(BODY)
    said = Annotations.decode(sent.annotations, sent)
    answers = {**said.sections, int(AnnotationKind.ANSWERS): b"\7"}
    no_told = {**said.sections, int(AnnotationKind.NEGATIVE_SUBSCRIPTIONS): b"\0\xff"}
    deep = DocumentFigures(1, 1 << 20, 0)
    for envelope, problem in (
        (Envelope("d", BODY), "has no annotations"),
        (sent.with_annotations(b"?"), "truncated, altered, or of another document"),
        (annotated(sent, replace(said, sections=answers)), "flags"),
        (annotated(sent, replace(said, sections=no_told)), "contradict each other"),
        (annotated(sent, replace(said, figures=deep)), "beyond the limits"),
    ):
        explained = line.j.explain(envelope, "i")
        assert problem in str(explained.problem)
        assert explained.is_parsed
        assert str(explained.problem) in str(explained)


def test_what_cannot_be_explained() -> None:
    """A client's documents have no annotations, nor have those of a router without piggyback."""
    line = Line("L", ROWS)
    for router, link in ((line.j, "c"), (Router("r", ["n"], strategy=Strategy()), "n")):
        with pytest.raises(RoutingError, match="takes no annotations"):
            router.explain(Envelope("d", BODY), link)
    with pytest.raises(RoutingError, match="no link"):
        line.j.explain(Envelope("d", BODY), "nobody")
