"""Records are cut out exactly, wherever the pieces of the file begin and end."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from twigcast.document import Document, Element, Node, descendants, read, string_value
from twigcast.document.prolog import joined
from twigcast.document.record_outside import RecordOutside
from twigcast.document.record_splitter import Record, RecordSplitter
from twigcast.errors import DocumentError


def split(
    data: bytes, name: str = "r", *, piece: int = 0, limit: int = 1 << 20, depth: int = 1000
) -> list[Record]:
    splitter = RecordSplitter(name, limit=limit, depth=depth)
    found: list[Record] = []
    for start in range(0, len(data), piece or len(data) or 1):
        found += splitter.feed(data[start : start + (piece or len(data))])
    return [*found, *splitter.finish()]


def bodies(data: bytes, name: str = "r", **options: int) -> list[bytes | None]:
    found = split(data, name, **options)
    assert [record.error for record in found if record.error] == []
    for record in found:
        assert record.body == data[record.start : record.end]
    return [record.body for record in found]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"<f><r>1</r><r/></f>", [b"<r>1</r>", b"<r/>"]),
        (b"<f><r><r/>1<r>2</r></r></f>", [b"<r><r/>1<r>2</r></r>"]),
        (b"<f><r a=\"/>\" b='>'>1</r ></f>", [b"<r a=\"/>\" b='>'>1</r >"]),
        (b"<f><!-- <r> --><r>1<!-- </r> --></r></f>", [b"<r>1<!-- </r> --></r>"]),
        (b"<f><r><![CDATA[</r>]]]]></r><![CDATA[<r/>]]></f>", [b"<r><![CDATA[</r>]]]]></r>"]),
        (b"<f><?x <r>?><r><?y </r>??></r></f>", [b"<r><?y </r>??></r>"]),
        (b'<!DOCTYPE f [<!ENTITY e "<r>]>"><!-- ]> <r> --><?p ]>?>]><f><r/></f>', [b"<r/>"]),
        (b"<!DOCTYPE f SYSTEM 'a>b' [<!ELEMENT f ANY>] ><f><r/></f>", [b"<r/>"]),
        (b"<f><rr/><r-x/><r:x xmlns:r='u'/><r\n/></f>", [b"<r\n/>"]),
        ("<f><r>é€😀</r></f>".encode(), ["<r>é€😀</r>".encode()]),
        (b"\xef\xbb\xbf<f><r/></f>", [b"<r/>"]),
        (b"<r>1</r>", [b"<r>1</r>"]),
        (b"<f/>", []),
    ],
)
@pytest.mark.parametrize("piece", [0, 1, 2, 7])
def test_records_are_the_outermost_elements_of_their_name(
    data: bytes, expected: list[bytes], piece: int
) -> None:
    """Whatever can hide a tag hides it, and nothing else does."""
    assert bodies(data, piece=piece) == expected


def test_namespaces_are_inherited() -> None:
    """A record is bound to what its ancestors declare, but for what it declares itself."""
    data = b"""<f xmlns="u" xmlns:p="v&amp;&quot;"><g xmlns:p="w" xmlns:q="x">"""
    data += b"""<r xmlns:q="y" p:a=''>q:b</r></g><r>p:c</r></f>"""
    first, second = split(data)
    assert first.prolog == b'<r xmlns="u" xmlns:p="w"'
    assert second.prolog == b'<r xmlns="u" xmlns:p="v&amp;&quot;"'
    whole = joined(first.prolog, first.body or b"")
    assert whole == b"""<r xmlns="u" xmlns:p="w" xmlns:q="y" p:a=''>q:b</r>"""


def test_what_is_not_needed_is_not_inherited() -> None:
    """Without namespaces, entities or another encoding there is no prolog; text is no declaration."""
    (record,) = split(
        b'<?xml version="1.0" encoding="UTF-8"?><!DOCTYPE f [<!ENTITY e "x">]><f><r>&amp;</r></f>'
    )
    assert record.prolog is None
    (record,) = split(b"<f xmlns:p='u'><r a=' xmlns:p=\"\" p:'/></f>")
    assert record.prolog == b'<r xmlns:p="u"'
    (record,) = split(b"<f xmlns:p='u' xmlns:q='v'><r>q :p/r</r></f>")
    assert record.prolog is None


def test_a_record_inherits_what_it_uses_alone() -> None:
    """Also through entities and defaults of attributes; an external entity stays one."""
    subset = b"<!ENTITY a '&b;'><!ENTITY b '<p:x q:y=\"\"/>'><!ENTITY c 'x'><!ENTITY d SYSTEM 'd.txt'>"
    subset += b"<!ATTLIST r k CDATA 's:v'><!ATTLIST t k CDATA 't:v'>"
    spaces = b" ".join(b"xmlns:%c='urn:%c'" % (each, each) for each in b"opqst")
    records = split(b"<!DOCTYPE f [" + subset + b"]><f " + spaces + b"><r>&a;</r><r>&d;</r></f>")
    assert records[0].prolog == (
        b'<!DOCTYPE r [<!ENTITY a "&#38;b;"><!ENTITY b "<p:x q:y=&#34;&#34;/>">'
        b'<!ATTLIST r k CDATA "s:v">]>'
        b'<r xmlns:p="urn:p" xmlns:q="urn:q" xmlns:s="urn:s"'
    )
    with pytest.raises(DocumentError) as caught:
        read(joined(records[1].prolog, records[1].body or b""))
    assert caught.value.code == "external-entity"


DECLARATIONS = {
    "namespaces": lambda n: b"<f " + b" ".join(b"xmlns:p%d='urn:%d'" % (i, i) for i in range(n)) + b">",
    "entities": lambda n: (
        b"<!DOCTYPE f [" + b"".join(b"<!ENTITY e%d 'x'>" % i for i in range(n)) + b"]><f xmlns:p1='u'>"
    ),
    "attributes": lambda n: (
        b"<!DOCTYPE f [" + b"".join(b"<!ATTLIST r%d k CDATA 'x'>" % i for i in range(n)) + b"]><f>"
    ),
}


@pytest.mark.parametrize("kind", DECLARATIONS)
def test_what_a_record_does_not_use_costs_it_nothing(kind: str) -> None:
    """With n, 2n and 4n declarations and records, the prologs grow with the file, not by its square."""
    sizes = []
    for n in (100, 200, 400):
        data = DECLARATIONS[kind](n) + b"<r>p1:x &amp;</r>" * n + b"</f>"
        sizes.append(sum(len(record.prolog or b"") for record in split(data)))
    assert sizes[1] <= 2 * sizes[0]
    assert sizes[2] <= 4 * sizes[0]


def test_a_feed_with_declarations_works_for_any_number_of_records() -> None:
    """Twenty namespaces that every record uses, and a subset of two kilobytes with an entity."""
    spaces = b" ".join(b"xmlns:p%d='http://example.org/schema/%d'" % (i, i) for i in range(20))
    subset = b"".join(b"<!ENTITY e%d 'some text that is used now and then'>" % i for i in range(40))
    record = b"<r " + b" ".join(b"p%d:a=''" % i for i in range(20)) + b">&e3;</r>"
    data = b"<!DOCTYPE f [" + subset + b"]><f " + spaces + b">" + record * 20_000 + b"</f>"
    assert sum(record.error is not None for record in split(data)) == 0


@pytest.mark.parametrize(
    "data",
    [
        b"<!DOCTYPE f [<!ENTITY e '" + b"x" * 500_000 + b"'>]><f>" + b"<r>&e;</r>" * 50_000 + b"</f>",
        b"<!DOCTYPE f [<!ATTLIST r k CDATA '" + b"x" * 500_000 + b"'>]><f>" + b"<r/>" * 100_000 + b"</f>",
        b"<f xmlns='" + b"u" * 500_000 + b"'>" + b"<r/>" * 100_000 + b"</f>",
    ],
)
def test_declarations_that_all_records_use_are_limited(data: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """Together they are at most a hundred times the file; records after that are errors and cost nothing."""
    asked = 0
    usual = RecordOutside.prolog

    def counted(outside: RecordOutside, body: bytes) -> bytes | None:
        nonlocal asked
        asked += 1
        return usual(outside, body)

    monkeypatch.setattr(RecordOutside, "prolog", counted)
    records = split(data)
    assert len(records) >= 50_000
    good = [record for record in records if record.error is None]
    assert good
    assert sum(len(record.prolog or b"") for record in good) <= 100 * len(data)
    errors = {record.error for record in records} - {None}
    assert [error.code for error in errors if error] == ["entity-expansion"]
    assert asked <= len(good) + 1


def test_entities_and_encoding_are_inherited() -> None:
    """A record that refers to an entity brings its declaration, and its encoding if it is not UTF-8."""
    data = '<?xml version="1.0" encoding="ISO-8859-1"?><!DOCTYPE f [<!ENTITY e "x">]><f><r>é&e;</r></f>'
    (record,) = split(data.encode("latin-1"))
    whole = joined(record.prolog, record.body or b"")
    assert read(whole).root.children[0].value == "éx"  # type: ignore[union-attr]


def test_namespaces_from_the_document_type_are_inherited() -> None:
    """An ancestor whose declaration is a default hands it down; a record's own default wins."""
    subset = b'<!ATTLIST f xmlns CDATA "u"><!ATTLIST r xmlns:p CDATA "own">'
    (record,) = split(b"<!DOCTYPE f [" + subset + b"]><f xmlns:p='v'><r><p:x/></r></f>")
    root = read(joined(record.prolog, record.body or b"")).root
    assert (root.namespace, root.children[0].namespace) == ("u", "own")  # type: ignore[union-attr]


def test_a_nested_record_keeps_the_binding_between() -> None:
    """Inherited namespaces are bound at the record itself, not at records nested in it."""
    (record,) = split(b'<f xmlns:p="a"><r><x xmlns:p="b"><r><p:y/></r></x></r></f>')
    document = read(joined(record.prolog, record.body or b""))
    assert [e.namespace for e in descendants(document) if e.local == "y"] == ["b"]


@pytest.mark.parametrize("piece", [0, 1, 3])
def test_a_record_without_end_costs_itself(piece: int) -> None:
    """Up to the next start tag it is an error; the next ones are records."""
    found = split(b"<f><r>1</r><r><b><r><c/></r><r>2</r></f>", piece=piece)
    assert [(r.body, r.error and r.error.code) for r in found] == [
        (b"<r>1</r>", None),
        (b"<r><b>", "truncated"),
        (b"<r><c/></r>", None),
        (b"<r>2</r>", None),
    ]


@pytest.mark.parametrize("piece", [0, 1, 3])
def test_many_broken_records_cost_themselves(piece: int) -> None:
    """Within the limit or beyond it, each broken record is one error, however many there are."""
    good, bad = b"<r>" + b"x" * 20 + b"</r>", b"<r>" + b"y" * 20
    found = split(b"<f>" + (good + bad + good) * 10 + b"</f>", piece=piece, limit=100)
    assert [r.body for r in found if r.error is None] == [good] * 20
    assert [r.body for r in found if r.error is not None and r.body] == [bad] * 10


@pytest.mark.parametrize("piece", [0, 1, 3])
def test_a_comment_that_is_none_hides_nothing(piece: int) -> None:
    """A comment with two hyphens in it is not well-formed, and its record is the only one to suffer."""
    found = split(b"<f><r><!-- 1</r><r>2</r><!-- x --><r>3</r></f>", piece=piece)
    assert [r.body for r in found] == [b"<r><!-- 1</r>", b"<r>2</r>", b"<r>3</r>"]


@pytest.mark.parametrize("piece", [0, 1, 3])
def test_a_broken_start_tag_costs_its_record(piece: int) -> None:
    """A quote that is not closed ends where the next tag begins."""
    found = split(b'<f><r a="1><b/></r><r c="2">3</r></f>', piece=piece)
    assert [r.body for r in found] == [b'<r a="1><b/></r>', b'<r c="2">3</r>']


@pytest.mark.parametrize("piece", [0, 1, 64])
def test_a_record_beyond_the_limit_is_not_kept(piece: int) -> None:
    """It is one error, and the next record is a record."""
    found = split(b"<f><r>" + b"x" * 200 + b"</r><r>1</r></f>", piece=piece, limit=50)
    assert [(r.start, r.end, r.body, r.error and r.error.code) for r in found] == [
        (3, 210, None, "too-large"),
        (210, 218, b"<r>1</r>", None),
    ]


def test_an_end_tag_alone_is_an_error() -> None:
    """An end tag without its start tag is reported, and the records after it are found."""
    found = split(b"<f>1</r><r>2</r></f>")
    assert [(r.body, r.error and r.error.code) for r in found] == [
        (b"</r>", "malformed"),
        (b"<r>2</r>", None),
    ]


def test_a_file_that_is_no_xml_is_an_error() -> None:
    """It is reported once, and yields no record."""
    (record,) = split(b"PK\x03\x04 nothing here")
    assert (record.body, record.error and record.error.code) == (None, "malformed")
    (record,) = split(b"<f><r/>")[1:]
    assert record.error is not None
    assert record.error.code == "truncated"


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be"])
def test_a_file_in_wide_characters_is_an_error(encoding: str) -> None:
    """One, which says why and what to do."""
    (record,) = split("<f><r/><r/></f>".encode(encoding))
    assert (record.body, record.error and record.error.code) == (None, "encoding")
    assert "UTF-16" in str(record.error)


@pytest.mark.parametrize("data", [b"", b" \n", b"\xef\xbb\xbf"])
def test_a_file_of_nothing_is_empty(data: bytes) -> None:
    """The code is ``empty``, and not that of a truncated file."""
    (record,) = split(data)
    assert (record.body, record.error and record.error.code) == (None, "empty")


def test_another_splitter_can_go_on() -> None:
    """With the preamble of a settled one, a second gives what the first would have given."""
    data = (
        b'<?xml version="1.0" encoding="ISO-8859-1"?><!DOCTYPE f [<!ENTITY e "x">]>'
        b'<f xmlns="u"><p:g xmlns:p="v&lt;\xe9"><r>&e;</r><r/></p:g><g xmlns=""><r/></g><r/></f>'
    )
    whole = split(data)
    splitter = RecordSplitter("r")
    cuts = [
        (record.end, splitter.preamble())
        for start in range(len(data))
        for record in splitter.feed(data[start : start + 1])
        if splitter.settled
    ]
    assert len(cuts) == 4
    for number, (at, preamble) in enumerate(cuts):
        second = RecordSplitter("r", start=at, preamble=preamble)
        assert [*second.feed(data[at:]), *second.finish()] == whole[number + 1 :]


# Random documents

names = st.sampled_from(["r", "rr", "a", "p:r", "p:a"])
hidden = st.sampled_from(["<r>", "</r>", "<r/>", "]]", "-", "?", ">", "<p:r", "x", "é", "\n", " "])


def hiding(begin: str, end: str) -> st.SearchStrategy[str]:
    texts = st.lists(hidden, max_size=4).map("".join)
    safe = texts.filter(lambda t: end[:2] not in t and end not in t + end[:-1] and "--" not in t + "-")
    return safe.map(lambda t: begin + t + end)


def element(children: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    quoted = st.sampled_from(["", ' a=">"', " b='/>'", ' c="é"', "\n", ' d="&#60;r>"'])
    bound = st.sampled_from(["", "", ' xmlns:p="u"', ' xmlns:p="w"', ' xmlns="d"', ' xmlns=""'])
    parts = st.tuples(names, quoted, bound, st.lists(children, max_size=4).map("".join), st.booleans())
    return parts.map(
        lambda p: f"<{p[0]}{p[1]}{p[2]}/>" if p[4] and not p[3] else f"<{p[0]}{p[1]}{p[2]}>{p[3]}</{p[0]} >"
    )


text = st.sampled_from(["x", "é€", "&e;", "&lt;r&gt;", "]", ">", " ", "\r\n", "😀"])
leaf = st.one_of(text, hiding("<!--", "-->"), hiding("<![CDATA[", "]]>"), hiding("<?x ", "?>"))
content = st.recursive(leaf, element, max_leaves=25)
heads = st.sampled_from(["", '<?xml version="1.0" encoding="utf-8"?>\n', "\ufeff", "<!-- <r> -->"])
types = st.sampled_from(
    [
        "<!DOCTYPE f [<!ENTITY e '<r>&#233;</r>'>]>",
        '<!DOCTYPE f [<!-- \' ]> --><!ENTITY e "]><r>]</r>">\n]\n>',
    ]
)
files = st.tuples(heads, types, st.lists(content, max_size=6).map("".join)).map(
    lambda f: f"{f[0]}{f[1]}<f xmlns:p='v'>{f[2]}</f>".encode()
)


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(files, st.sampled_from(["r", "p:r", "rr"]), st.integers(1, 40))
def test_records_are_those_of_a_parser(data: bytes, name: str, piece: int) -> None:
    """The ranges are those of the outermost elements of that name, and a record read alone is what it is in
    its file; where the pieces end does not matter, nor where one splitter hands over to another."""
    document = read(data)
    found = split(data, name, piece=piece)
    assert [(r.start, r.end) for r in found if not r.error] == ranges(document, name)
    assert [r for r in found if r.error] == []
    inside = {e.start: e for e in descendants(document) if not data.startswith(b"&", e.start)}
    for record in found:
        assert record.body == data[record.start : record.end]
        alone = read(joined(record.prolog, record.body or b""))
        assert shape(alone.root) == shape(inside[record.start])
    assert handed_over(data, name, piece) == found


def ranges(document: Document, name: str) -> list[tuple[int, int]]:
    """The outermost elements written with this name, as expat sees them."""
    found: list[tuple[int, int]] = []
    written = name.encode()
    for each in descendants(document):
        tag = document.body[each.start + 1 :]
        if tag.startswith(written) and tag[len(written) :][:1] in (b" ", b"/", b">", b"\n"):
            if document.body.startswith(b"&", each.start):
                continue
            if not found or each.start >= found[-1][1]:
                found.append((each.start, each.end))
    return found


def shape(node: Node) -> object:
    if not isinstance(node, Element):
        return type(node), string_value(node)
    attributes = [(a.namespace, a.local, a.value) for a in node.attributes]
    return node.namespace, node.local, attributes, [shape(child) for child in node.children]


def handed_over(data: bytes, name: str, piece: int) -> list[Record]:
    """The records when every settled place is handed over to a new splitter."""
    found: list[Record] = []
    start, preamble = 0, b""
    while True:
        splitter = RecordSplitter(name, start=start, preamble=preamble)
        for place in range(start, len(data), piece):
            record = next(iter(splitter.feed(data[place : place + piece])), None)
            if record is not None:
                break
        else:
            return found + list(splitter.finish())
        assert splitter.settled
        found.append(record)
        start, preamble = record.end, splitter.preamble()


def test_errors_are_document_errors() -> None:
    """Errors have the codes of document errors."""
    assert isinstance(split(b"<f><r></f>")[0].error, DocumentError)


# Hostile files


def seconds(data: bytes, piece: int, **options: int) -> float:
    """The least time of three runs."""
    times = []
    for _ in range(3):
        began = time.process_time()
        split(data, piece=piece, **options)
        times.append(time.process_time() - began)
    return min(times)


HOSTILE = {
    "records without an end": lambda n: b"<f>" + b"<r>" * n,
    "records without an end, one in another": lambda n: b"<f>" + b"<r>" * 900 + b"<r/>" * n,
    "instructions without an end": lambda n: b"<f><r>" + b"<?" * n,
    "sections without an end": lambda n: b"<f><r>" + b"<![CDATA[" * n,
    "comments without an end": lambda n: b"<f><r>" + b"<!-- " * n,
    "a tag without an end": lambda n: b"<f><r " + b"a='b' " * n,
    "a tag without an end, outside": lambda n: b"<f " + b"a='b' " * n,
    "a document type without an end": lambda n: b"<!DOCTYPE f [" + b"<!-- a -->" * n,
    "text without an end": lambda n: b"<f><r>" + b"text & " * n,
    "end tags": lambda n: b"<f>" + b"</r>" * n,
}


@pytest.mark.parametrize("shape", HOSTILE)
def test_the_time_is_linear_in_the_length(shape: str) -> None:
    """Eight times the bytes take about eight times as long, whatever a file repeats."""
    size = 20_000 // (len(HOSTILE[shape](2)) - len(HOSTILE[shape](1)))
    small, large = HOSTILE[shape](size), HOSTILE[shape](8 * size)
    assert seconds(large, 1024) < 24 * max(seconds(small, 1024), 0.002)


def test_records_that_are_nested_too_deep_are_counted_only() -> None:
    """A record that is deeper than the limit is one record; without ends, each of the first is an error."""
    deep = b"<r>" * 50 + b"</r>" * 50
    assert bodies(b"<f>" + deep + b"<r/></f>", depth=10) == [deep, b"<r/>"]
    found = split(b"<f>" + b"<r>" * 50, depth=10)
    assert [record.error.code for record in found if record.error] == ["truncated"] * 11
    assert found[9].body == b"<r>" * 41


def test_the_outside_has_a_depth() -> None:
    """Records before the element that is too deep are found."""
    found = split(b"<f><r/>" + b"<g>" * 20 + b"<r/>", depth=10)
    assert (found[0].body, found[0].error) == (b"<r/>", None)
    assert [record.error.code for record in found if record.error] == ["too-deep"]


def test_markup_of_the_outside_has_a_size() -> None:
    """A tag outside of records that does not end within the limit is an error; records after it are found."""
    found = split(b"<f><r/><g " + b"a " * 100 + b"><r/></f>", piece=7, limit=50)
    assert [record.body for record in found if record.error is None] == [b"<r/>"] * 2
    assert [record.error.code for record in found if record.error] == ["too-large"]
