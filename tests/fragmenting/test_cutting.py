"""Cutting agrees with its definition, and the pieces are the document, whatever it contains."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fragmenting.documents import all_cuts, hard_documents
from tests.oracles.naive_cutting import cut_naively
from tests.oracles.reduced_headers import reduced
from tests.pattern.strategies import documents
from twigcast.document import DocumentLimits
from twigcast.errors import DocumentError
from twigcast.fragmenting import (
    CutRule,
    Cuts,
    Cutter,
    Fragment,
    HeaderKind,
    Spans,
    Subtrees,
    assemble,
    fragment,
)
from twigcast.fragmenting.fragments import HEADER_KINDS
from twigcast.fragmenting.headers import PathDictionary


def label_paths(parts: list[Fragment]) -> list[frozenset[tuple[str, ...] | None]]:
    """The label paths of each fragment as names."""
    known = PathDictionary()
    for part in parts:
        assert part.paths is not None
        known.add(part.paths)
    return [frozenset(known.names(number) for number in part.paths.numbers) for part in parts if part.paths]


@given(hard_documents(), all_cuts())
@settings(max_examples=250, deadline=None)
def test_cutting_agrees_with_its_definition(body: bytes, cut: CutRule) -> None:
    """Runs, holes, ids, contexts, namespaces, roots, heights and label paths are those of the tree."""
    expected = cut_naively(body, cut)
    parts = list(fragment(body, cut=cut, header="prefix+paths"))
    assert [part.body for part in parts] == [each.body for each in expected]
    assert [part.runs for part in parts] == [each.runs for each in expected]
    assert [part.holes for part in parts] == [each.holes for each in expected]
    assert [part.elements for part in parts] == [each.elements for each in expected]
    assert label_paths(parts) == [each.paths for each in expected]
    assert assemble(parts) == body


@given(st.one_of(hard_documents(), documents()), all_cuts(), st.sampled_from(HEADER_KINDS), st.randoms())
@settings(max_examples=200, deadline=None)
def test_a_stream_is_cut_as_the_whole(body: bytes, cut: CutRule, kind: HeaderKind, random: object) -> None:
    """The blocks in which a document comes change nothing, in any encoding; headers can be reduced."""
    whole = list(fragment(body, cut=cut, header=kind, doc_id="d"))
    cutter = Cutter(cut, header=kind, doc_id="d")
    streamed = []
    at = 0
    while at < len(body):
        size = random.choice([1, 1, 2, 7, 100])  # type: ignore[attr-defined]
        streamed += cutter.feed(body[at : at + size])
        at += size
    streamed += cutter.finish()
    assert streamed == whole
    full = fragment(body, cut=cut, header="prefix+paths", doc_id="d")
    assert [reduced(part, kind) for part in full] == whole
    random.shuffle(streamed)  # type: ignore[attr-defined]
    assert assemble(streamed + streamed[:2]) == body


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("cut", [Spans(elements=2), Subtrees(2)])
def test_utf_16_is_cut(encoding: str, cut: CutRule) -> None:
    """Offsets and places are those of the document's own bytes, also beyond the basic plane."""
    text = '<?xml version="1.0" encoding="UTF-16"?><a>é<b x="𝄞"/>𝄞<ü>€</ü><b/><c><d/></c></a>'
    body = text.encode(encoding)
    parts = list(fragment(body, cut=cut))
    assert len(parts) > 2
    assert assemble(parts) == body
    for part in parts:
        for run in part.runs:
            own = part.body[
                run.start : min([run.end, *(h.offset for h in part.holes if h.offset > run.start)])
            ]
            assert body[run.place :].startswith(own)


def test_a_cut_is_before_a_start_tag_only() -> None:
    """What looks like a tag in a comment, a CDATA section, an instruction or a value is none."""
    body = b"<a y='>'><!-- <b/> --><![CDATA[<b/>]]><?p <b/> ?>t<b z=\"/>\">u</b></a>"
    assert [part.body for part in fragment(body, cut=Spans(elements=1))] == [
        b"<a y='>'><!-- <b/> --><![CDATA[<b/>]]><?p <b/> ?>t",
        b'<b z="/>">u</b></a>',
    ]


def test_the_opening_goes_with_every_fragment() -> None:
    """Trap 23: entities, default attributes and the encoding; a long one is named by its digest."""
    doctype = b'<!DOCTYPE a [<!ATTLIST b x CDATA "1"><!ENTITY e "f">]>'
    body = b'<?xml version="1.0" encoding="ISO-8859-1"?>\n<!-- x -->' + doctype + b"\n<a><b>\xe9</b><b/></a>"
    parts = list(fragment(body, cut=Spans(elements=1)))
    for part in parts:
        assert part.opening.text == b'<?xml version="1.0" encoding="ISO-8859-1"?>' + doctype
        assert part.opening.codec == "latin_1"
    assert parts[0].prolog == body.index(b"<a>")
    long = b"<!DOCTYPE a [<!-- " + b"x" * 2000 + b" -->]><a><b/></a>"
    assert [part.opening.text for part in fragment(long, cut=Spans(elements=1))] == [None, None]
    assert [part.opening.text for part in fragment(b"<a><b/></a>", cut=Spans(elements=1))] == [b"", b""]


def test_a_run_knows_the_namespaces_in_scope() -> None:
    """Trap 22: a namespace that another fragment declares is in the header, and so is its absence."""
    body = b'<r xmlns="u" xmlns:p="&#118;"><s xmlns="" xmlns:p="w"><a/></s><b/></r>'
    parts = list(fragment(body, cut=Spans(elements=1)))
    assert [part.runs[0].namespaces for part in parts] == [
        {},
        {"": "u", "p": "v"},
        {"p": "w"},
        {"": "u", "p": "v"},
    ]
    assert [part.runs[0].closes for part in parts] == [0, 0, 1, 1]
    edge = list(fragment(body, cut=Spans(elements=1), header="edge"))
    assert [part.runs[0].namespaces for part in edge] == [part.runs[0].namespaces for part in parts]
    assert edge[2].runs[0].context is None
    assert edge[2].runs[0].parent == parts[2].runs[0].parent


def test_elements_of_entities_have_no_number() -> None:
    """The bytes of a fragment decide which elements are counted, so every reader counts alike."""
    body = b'<!DOCTYPE a [<!ENTITY e "<x/><y/>">]><a>&e;<b><c/></b></a>'
    parts = list(fragment(body, cut=Spans(elements=2)))
    assert [element.id & 0xFFFF for element in parts[1].runs[0].context or ()] == [1, 2]


def test_a_chain_is_not_cut_into_subtrees() -> None:
    """Where the separator has no left siblings, no fragment is made and the walk goes on."""
    assert len(list(fragment(b"<a><b><c><d/></c></b></a>", cut=Subtrees(1)))) == 1
    parts = list(fragment(b"<a><b><c><d/></c></b><e/></a>", cut=Subtrees(1)))
    assert [part.body for part in parts] == [b"<b><c><d/></c></b>", b"<a><e/></a>"]


def test_deep_documents_are_cut() -> None:
    """A header has the whole path; the limit is that of documents."""
    depth = 900
    body = b"<a>" * depth + b"x" + b"</a>" * depth
    parts = list(fragment(body, cut=Spans(elements=100)))
    assert len(parts) == 9
    assert parts[8].runs[0].depth == 800
    assert parts[8].runs[0].closes == 800
    assert assemble(parts) == body
    with pytest.raises(DocumentError) as failed:
        list(fragment(body, limits=DocumentLimits(depth=899)))
    assert failed.value.code == "too-deep"


@pytest.mark.parametrize(
    ("body", "code", "offset"),
    [
        (b"", "empty", 0),
        (b"  ", "empty", 2),
        (b"<a>", "truncated", 3),
        (b"<a><b></a>", "malformed", 8),
        (b"<a></a><b/>", "malformed", 7),
        (b"<a></a>x", "malformed", 7),
        (b"<a><!-- -- --></a>", "malformed", 8),
        (b"<a><b x='<'/></a>", "malformed", 9),
        (b"<a><b x=1/></a>", "malformed", 8),
        (b"<a><b x='1'y='2'/></a>", "malformed", 11),
        (b"<a>< b/></a>", "malformed", 3),
        (b"<a><!DOCTYPE a></a>", "malformed", 3),
        (b"<a><![CDATA[x]]</a>", "truncated", None),
        (b"<a><!-- x</a>", "truncated", None),
        (b"<a></a", "truncated", 3),
        (b"<a></b>", "malformed", 5),
        (b"<a></ab>", "malformed", 5),
        (b"<!DOCTYPE a [<!FOO>]><a/>", "malformed", None),
        (b'<?xml version="1.0" encoding="nowhere"?><a/>', "encoding", None),
        (b"<\0a\0>\0<\0", "truncated", None),
        (b"<\0a\0>\0\0\xd8<\0/\0a\0>\0", "malformed", None),
    ],
)
@pytest.mark.parametrize("cut", [Spans(elements=1), Subtrees(1)])
def test_a_malformed_document_is_refused(body: bytes, code: str, offset: int | None, cut: CutRule) -> None:
    """What the scanner does not understand is an error with its place, never a guess."""
    for run in (lambda: list(fragment(body, cut=cut)), lambda: _streamed(body, cut)):
        with pytest.raises(DocumentError) as failed:
            run()
        assert failed.value.code == code
        if offset is not None:
            assert failed.value.offset == offset


def _streamed(body: bytes, cut: CutRule) -> list[Fragment]:
    cutter = Cutter(cut)
    parts = [part for at in range(len(body)) for part in cutter.feed(body[at : at + 1])]
    return parts + cutter.finish()


def test_an_error_has_its_line_and_column() -> None:
    """The line counts from the beginning of the document, also where that is no longer kept."""
    body = b"<a>\n" + b"<b/>\n" * 100 + "é</c>".encode()
    for run in (
        lambda: list(fragment(body, cut=Spans(elements=5))),
        lambda: _streamed(body, Spans(elements=5)),
    ):
        with pytest.raises(DocumentError) as failed:
            run()
        assert (failed.value.line, failed.value.column) == (102, 4)


def test_a_name_in_another_encoding_is_refused() -> None:
    """The scanner does not decode names; the header of the first fragment that needs one does."""
    body = b"<a>\n<\xe9>\n<b/></\xe9></a>"
    with pytest.raises(DocumentError, match="start tag before this place") as failed:
        list(fragment(body, cut=Spans(elements=1)))
    assert (failed.value.code, failed.value.line) == ("malformed", 3)


def test_a_large_tag_that_comes_in_small_blocks() -> None:
    """Its cost is in proportion to its length."""
    body = b"<a><b x='" + b"y" * 300_000 + b"'/><!--" + b"z" * 300_000 + b"--></a>"
    cutter = Cutter(Spans(elements=1))
    parts = [part for at in range(0, len(body), 100) for part in cutter.feed(body[at : at + 100])]
    assert assemble(parts + cutter.finish()) == body


@pytest.mark.parametrize("wrong", [{"elements": -1}, {}, {"nodes": (0,)}])
def test_a_rule_without_meaning_is_refused(wrong: dict[str, object]) -> None:
    """A span needs a size."""
    with pytest.raises(ValueError, match=r"Spans|numbered"):
        Spans(**wrong)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="Subtrees"):
        Subtrees(0)
    with pytest.raises(ValueError, match="header"):
        Cutter(header="paths")  # type: ignore[arg-type]


def ten_times(body: bytes) -> bytes:
    """The XMark document with the children of its sections ten times over."""
    for name in re.findall(rb"<(africa|asia|australia|europe|[ns]america|categories|catgraph)>", body):
        body = _repeated(body, name)
    for name in (b"people", b"open_auctions", b"closed_auctions"):
        body = _repeated(body, name)
    return body


def _repeated(body: bytes, name: bytes) -> bytes:
    start = body.index(b"<" + name + b">") + len(name) + 2
    end = body.index(b"</" + name + b">")
    return body[:start] + 10 * body[start:end] + body[end:]


@pytest.mark.data
def test_the_thesis_fragments_of_xmark(data: Path) -> None:
    """T 5.5: 34 fragments at t = 5000 of a document of factor 0.1; ours has 171,193 elements."""
    body = ten_times((data / "xmark" / "auction.xml").read_bytes())
    parts = list(fragment(body, cut=Subtrees(5000)))
    assert sum(part.elements for part in parts) == 171_193
    assert abs(len(parts) - 34) <= 2
    assert assemble(parts) == body


@pytest.mark.data
@pytest.mark.parametrize(
    "cut",
    [
        Spans(elements=1),
        Spans(elements=50),
        Spans(bytes=64_000),
        Subtrees(3),
        Subtrees(500),
        Cuts((7, 99, 100)),
    ],
    ids=str,
)
def test_published_documents_are_cut_and_assembled(data: Path, cut: CutRule) -> None:
    """Identity on documents of each collection: ISO-8859-1, namespaces, DOCTYPE, entities."""
    paths = sorted(path for path in data.rglob("*.xml") if path.stat().st_size)
    most = 500_000 if cut in (Spans(elements=1), Subtrees(3)) else 8 << 20
    chosen: dict[Path, list[Path]] = {}
    for path in paths:
        chosen.setdefault(path.relative_to(data).parents[-2], []).append(path)
    for members in chosen.values():
        for path in members[:3]:
            body = path.read_bytes()
            if len(body) > most:
                continue
            try:
                parts = list(fragment(body, cut=cut, header="prefix+paths"))
            except DocumentError:
                assert not is_well_formed(body), path
                continue
            assert assemble(reversed(parts)) == body, path


def is_well_formed(body: bytes) -> bool:
    from xml.parsers import expat

    try:
        expat.ParserCreate().Parse(body, True)
    except expat.ExpatError:
        return False
    return True
