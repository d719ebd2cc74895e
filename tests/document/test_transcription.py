"""Documents in encodings of several bytes per character are read like their transcriptions in UTF-8."""

from __future__ import annotations

from itertools import pairwise

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.oracles.path_decisions import PathDecisions
from twigcast import DocumentError, Index, assemble, fragment
from twigcast.chunking import profile
from twigcast.document import Document, Element, Keep, Node, Projector, RecordSplitter, read
from twigcast.document.encodings import _MULTIBYTE, pair_table
from twigcast.document.transcription import Transcriber
from twigcast.fragmenting import Spans

CODECS = sorted(_MULTIBYTE)
KANJI = "一丁七万三上下不世中丹主乃久之予事二五井亡交京人仁今令以仰仲件任企伊仔他代休会伯伴何佐作佳使"
DECLARED = "<?xml version='1.0' encoding='{}'?>"


def letters(codec: str) -> str:
    """Some characters of the encoding; some of them end in the byte of a bracket, a letter or a digit."""
    _points, pairs = pair_table(codec)
    table = memoryview(pairs).cast("H")
    found = [point for first, second in ((0, 0x8000), (0x8000, 0x10000)) for point in table[first:second]]
    usable = [chr(point) for point in found if 0x3400 <= point < 0x9FA0 or 0xAC00 <= point < 0xD7A0]
    brackets = [chr(table[first << 8 | 0x5D]) for first in range(0x80, 256)]
    brackets = [each for each in brackets if each not in "\0\ufffd"]
    rare = "㐂䲟😀" if codec == "gb18030" else ""
    return "".join(usable[:: len(usable) // 40]) + "".join(brackets[:5]) + rare


def written(node: Document | Element) -> str:
    """Texts that ``st`` can vary, as a tree: names, attributes, text, comments, CDATA sections."""
    return repr([(type(each).__name__, getattr(each, "value", "")) for each in nodes(node)])


def nodes(node: Document | Element) -> list[Node]:
    found: list[Node] = []
    for child in node.children:
        found.append(child)
        if isinstance(child, Element):
            found += [*child.attributes, *nodes(child)]
    return found


@st.composite
def documents(draw: st.DrawFn) -> tuple[str, str]:
    """A codec and the text of a document that it can write."""
    codec = draw(st.sampled_from(CODECS))
    known = letters(codec)
    words = st.text(st.sampled_from(known + "ab] \n"), max_size=6)
    names = st.text(
        st.sampled_from([each for each in known if each in KANJI] + ["n"]), min_size=1, max_size=3
    )

    def element(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
        content = st.lists(
            st.one_of(
                words,
                inner,
                words.map(lambda text: f"<!--{text}-->"),
                words.map(lambda text: f"<![CDATA[{text.replace(']', '')}]>&]]>"),
                st.just("&e;"),
                st.just("&#20013;"),
            ),
            max_size=4,
        ).map("".join)
        return st.builds(
            lambda name, value, text: f"<{name} k='{value}'>{text}</{name}>", names, words, content
        )

    body = draw(st.recursive(names.map(lambda name: f"<{name}/>"), element, max_leaves=6))
    return codec, f"<!DOCTYPE r [<!ENTITY e '{draw(words)}'>]>\n<r>{body}</r>"


@settings(max_examples=150, deadline=None)
@given(documents())
def test_a_document_is_read_as_its_transcription(case: tuple[str, str]) -> None:
    """The trees are equal, and each node has the range of the publisher's bytes that have its characters."""
    codec, text = case
    body = (DECLARED.format(codec) + text).encode(codec)
    transcription = (DECLARED.format("utf-8") + text).encode()
    found, expected = read(body), read(transcription)
    assert written(found) == written(expected)
    shift = len(DECLARED.format("utf-8")) - len(DECLARED.format(codec))
    for ours, theirs in zip(nodes(found), nodes(expected), strict=True):
        assert getattr(ours, "local", "") == getattr(theirs, "local", "")
        before = len((DECLARED.format(codec) + text).encode()[: theirs.start - shift].decode().encode(codec))
        assert ours.start == before
        assert body[ours.start : ours.end].decode(codec) == transcription[theirs.start : theirs.end].decode()


@settings(max_examples=100, deadline=None)
@given(documents())
def test_an_index_matches_it_as_its_transcription(case: tuple[str, str]) -> None:
    """One by one, in a batch, by selected parts, in fragments, and by structure."""
    codec, text = case
    body = (DECLARED.format(codec) + text).encode(codec)
    transcription = text.encode()
    values = {getattr(node, "value", "").strip() for node in nodes(read(transcription))} - {""}
    queries = [
        "//n",
        "//@k",
        "//*[@k=*]",
        *(f"//*[text()='{each}' or @k='{each}']" for each in sorted(values)[:5]),
    ]
    index = Index(list(enumerate(queries)))
    expected = index.match(transcription)
    assert expected.error is None
    assert index.match(body).ids == expected.ids
    assert index.count(body) == len(expected.ids)
    batch = index.match_batch(pa.array([transcription, body, b"<a", body]))
    assert [batch.ids(row) for row in (0, 1, 3)] == [expected.ids] * 3
    assert index.structure(body) == index.structure(transcription)
    for number in expected.ids:
        ours, theirs = index.select(body, number), index.select(transcription, number)
        assert [body[each.start : each.end].decode(codec) for each in ours] == [
            transcription[each.start : each.end].decode() for each in theirs
        ]
        for part, same in zip(index.parts(body, number), index.parts(transcription, number), strict=True):
            if part.startswith(b"<?xml"):
                assert written(read(part)) == written(read(same))
    fragments = list(fragment(body, doc_id="d", cut=Spans(elements=2)))
    assert assemble(fragments) == body


def body_of(codec: str, records: int = 6) -> bytes:
    words = [each for each in letters(codec) if each.isalpha()]
    inner = "".join(
        f"<rec n='{n}'><t>{''.join(words[:20])}</t><![CDATA[{words[-1]}]>]]></rec>" for n in range(records)
    )
    return (DECLARED.format(codec) + f"<feed><meta>{words[0]}</meta>{inner}</feed>").encode(codec)


@pytest.mark.parametrize("codec", CODECS)
def test_fragments_are_matched(codec: str) -> None:
    """The pieces that the kernel reads are transcribed as documents are."""
    from twigcast import FragmentIndex

    body = body_of(codec)
    value = read(body).root.children[1].children[0].children[0].value  # type: ignore[union-attr]
    index = Index([("all", f"//rec[t='{value}']"), ("none", "//rec[t='x']")])
    for header in ("edge", "prefix+paths"):
        matching = FragmentIndex(index)
        for each in fragment(body, doc_id="d", cut=Spans(elements=3), header=header):  # type: ignore[arg-type]
            matching.add(each)
        assert matching.finish("d").match.ids == ["all"]


@pytest.mark.parametrize("codec", CODECS)
def test_projected_bytes_are_the_publisher_s(codec: str) -> None:
    """The projector finds the ends of characters by a table of pairs."""
    body = body_of(codec)
    label = ("", "feed"), ("", "rec")
    keeps = {label[:1]: (Keep.ABOVE,), label: (Keep.TREE,)}
    decisions = PathDecisions(lambda path: keeps.get(path, (Keep.DROP,)))
    for size in (7, 1 << 20):
        projector = Projector(decisions, [False])
        slices = [each for at in range(0, len(body), size) for each in projector.feed(body[at : at + size])]
        last = projector.finish()
        assert last.error is None
        made = b"".join(each.body for each in [*slices, *last.slices])
        assert b"<meta>" not in made
        assert body[body.index(b"<rec") : body.index(b"</feed>")] in made


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("size", [5, 1000])
def test_records_and_label_paths_are_found(codec: str, size: int) -> None:
    """The second byte of a character can be that of a bracket, which does not end a CDATA section."""
    body = body_of(codec)
    blocks = [body[at : at + size] for at in range(0, len(body), size)]
    splitter = RecordSplitter("rec")
    records = [each for block in blocks for each in splitter.feed(block)] + list(splitter.finish())
    assert [each.error for each in records] == [None] * 6
    meta = body[body.index(b"<meta>") + 6 : body.index(b"</meta>")].decode(codec)
    index = Index([("t", f"//rec/t[contains(., '{meta}')]")])
    for record in records:
        assert record.body is not None
        assert record.prolog is not None
        assert index.match(record.prolog + record.body).ids == ["t"]
    assert profile(blocks).paths[("", "feed"), ("", "rec")].count == 6


def test_a_bracket_in_a_character_does_not_end_a_section() -> None:
    """In GBK, the bytes of 哴 are those of a byte beyond ASCII and of a bracket."""
    text = "<r><rec><![CDATA[哴]></rec><rec>]]></rec><rec/></r>"
    body = (DECLARED.format("gbk") + text).encode("gbk")
    assert b"]]>" in "哴]>".encode("gbk")
    for size in (1, 1000):
        splitter = RecordSplitter("rec")
        blocks = [body[at : at + size] for at in range(0, len(body), size)]
        records = [each for block in blocks for each in splitter.feed(block)] + list(splitter.finish())
        assert [each.body and each.body.decode("gbk") for each in records] == [
            "<rec><![CDATA[哴]></rec><rec>]]></rec>",
            "<rec/>",
        ]


@pytest.mark.parametrize(
    ("body", "code", "offset", "message"),
    [
        ("中<b>\ud6d0</a>", "malformed", 12, "mismatched tag"),
        (b"\xd6\xd0\n\xff\xff</a>", "encoding", 6, "these bytes are not gb2312"),
        (b"\xd6\xd0&no;</a>", "undeclared-entity", 5, "undefined entity"),
        (b"\xd6\xd0<a>\xd6", "truncated", 8, "partial character"),
        (b"\xd6\xd0" + b"<b>" * 3000, "too-deep", 5 + 999 * 3, "limit depth"),
    ],
)
def test_errors_have_the_place_in_the_publisher_s_bytes(
    body: str | bytes, code: str, offset: int, message: str
) -> None:
    """Both readers give the same error."""
    content = body.replace("\ud6d0", "中").encode("gb2312") if isinstance(body, str) else body
    head = DECLARED.format("gb2312").encode()
    document = head + b"<a>" + content
    with pytest.raises(DocumentError) as caught:
        read(document)
    error = Index([("a", "//a")]).match(document).error
    assert error is not None
    assert (caught.value.code, caught.value.offset) == (code, len(head) + offset)
    assert (error.code, error.line, error.column, error.offset) == (
        caught.value.code,
        caught.value.line,
        caught.value.column,
        caught.value.offset,
    )
    assert message in error.message
    assert message in caught.value.message


@pytest.mark.parametrize("encoding", ["iso-2022-jp", "klingon", "hz", "utf-7"])
def test_an_unknown_encoding_is_named(encoding: str) -> None:
    """Also by the readers of blocks."""
    body = DECLARED.format(encoding).encode() + b"<r><rec/></r>"
    error = Index([("a", "//a")]).match(body).error
    assert error is not None
    errors = [error]
    for reading in (read, lambda each: list(fragment(each)), lambda each: profile([each])):
        with pytest.raises(DocumentError) as caught:
            reading(body)
        errors.append(caught.value)
    splitter = RecordSplitter("rec")
    errors += [each.error for each in [*splitter.feed(body), *splitter.finish()] if each.error]
    assert len(errors) == 5
    for each in errors:
        assert each.code == "encoding"
        assert f"unknown encoding '{encoding}': documents are read in UTF-8, UTF-16," in each.message


@pytest.mark.parametrize("codec", ["utf-32", "utf-32-le", "utf-32-be"])
def test_utf_32_is_named(codec: str) -> None:
    """Expat sees an invalid token in it."""
    body = "<?xml version='1.0' encoding='utf-32'?><a/>".encode(codec)
    error = Index([("a", "//a")]).match(body).error
    assert error is not None
    assert error.code == "encoding"
    assert "UTF-32" in error.message


@given(st.sampled_from(CODECS), st.lists(st.integers(0, 60), max_size=8).map(sorted), st.data())
def test_pieces_are_transcribed_as_the_whole(codec: str, cuts: list[int], data: st.DataObject) -> None:
    """A piece may end in the middle of a character."""
    text = data.draw(st.text(st.sampled_from(letters(codec) + "ab"), max_size=20))
    body = text.encode(codec)
    transcriber = Transcriber(codec)
    ends = [0, *(min(cut, len(body)) for cut in cuts), len(body)]
    made = b"".join(transcriber.utf8(body[a:b]) for a, b in pairwise(ends)) + transcriber.utf8(
        b"", final=True
    )
    assert made.decode() == text
