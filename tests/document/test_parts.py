"""A part can be read by itself, and is then the node that was selected; the oracle is lxml's copy of it."""

from __future__ import annotations

import copy
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lxml import etree

from twigcast.document import (
    Document,
    DocumentLimits,
    Element,
    Node,
    PartCutter,
    descendants,
    joined,
    read,
)
from twigcast.errors import DocumentError


def parser() -> Any:
    return etree.XMLParser(attribute_defaults=True, resolve_entities=True, no_network=True)


def canonical(element: Any) -> str:
    """The canonical form (C14N 2.0) of an element without what follows it; comments are in it.

    Prefixes are rewritten, since lxml's copy has one prefix for two that are bound to one namespace.
    """
    alone = copy.deepcopy(element)
    alone.tail = None
    return str(etree.canonicalize(alone, with_comments=True, rewrite_prefixes=True))


def tree(element: Element) -> Any:
    """An element by expanded names and values."""
    attributes = {(each.namespace, each.local): each.value for each in element.attributes}
    children = [tree(child) if isinstance(child, Element) else repr(child) for child in element.children]
    return element.namespace, element.local, attributes, children


def is_from_entity(document: Document, element: Element) -> bool:
    return document.body[element.start : element.start + 2].strip(b"\0").startswith(b"&")


def check(body: bytes) -> int:
    """All elements of a document as parts: equal to lxml's copies, and otherwise their bytes."""
    document = read(body)
    nodes: list[Node] = list(descendants(document))
    parts = list(PartCutter(document).cut(nodes))
    oracle = list(etree.fromstring(body, parser()).iter(etree.Element))
    assert len(parts) == len(oracle)
    for node, part, theirs in zip(nodes, parts, oracle, strict=True):
        assert isinstance(node, Element)
        assert tree(read(part).root) == tree(node)
        if not is_from_entity(document, node):  # libxml2 forgets the default namespace in an entity
            assert canonical(etree.fromstring(part, parser())) == canonical(theirs)
            written = body[node.start : node.end]
            after_name = min(written.index(sign) for sign in (b">", b"/", b" ") if sign in written)
            assert part.endswith(written[after_name + 1 :])
    return len(parts)


def part_of(body: bytes, name: str) -> bytes:
    document = read(body)
    nodes: list[Node] = [each for each in descendants(document) if each.local == name]
    (part,) = PartCutter(document).cut(nodes)
    return part


@pytest.mark.parametrize(
    ("body", "part"),
    [
        (b"<a><b x='1'>t</b></a>", b"<b x='1'>t</b>"),
        (b"<a xmlns:p='urn:p' xmlns:q='urn:q'><p:b/></a>", b'<p:b xmlns:p="urn:p"/>'),
        (b"<a xmlns='urn:d'><b/></a>", b'<b xmlns="urn:d"/>'),
        (b"<a xmlns='urn:d'><b xmlns=''/></a>", b"<b xmlns=''/>"),
        (b"<a xmlns='urn:d'><c xmlns=''><b/></c></a>", b"<b/>"),
        (b"<a xmlns:p='urn:p'><b xmlns:p='urn:q' p:x='1'/></a>", b"<b xmlns:p='urn:q' p:x='1'/>"),
        (b"<a xmlns:p='urn:p'><b p:x='1'>t</b></a>", b"<b xmlns:p=\"urn:p\" p:x='1'>t</b>"),
        (b"<a xmlns:p='urn:p'><b x='p:t'/></a>", b"<b xmlns:p=\"urn:p\" x='p:t'/>"),
        (b"<a xmlns:p='urn:p'><b>p:t</b></a>", b'<b xmlns:p="urn:p">p:t</b>'),
        (b"<a xmlns:p='urn:p'><b>p</b></a>", b"<b>p</b>"),
        (b"<a xmlns='urn:d' xmlns:p='urn:p'><p:b/></a>", b'<p:b xmlns="urn:d" xmlns:p="urn:p"/>'),
        (b"<a xmlns='http://x/?y=&quot;&amp;z'><b/></a>", b'<b xmlns="http://x/?y=&quot;&amp;z"/>'),
        (b"<a xml:lang='en'><b/></a>", b"<b/>"),
        ("<a xmlns:é='urn:é'><é:b/></a>".encode(), '<é:b xmlns:é="urn:é"/>'.encode()),
    ],
)
def test_a_part_declares_the_namespaces_that_it_uses(body: bytes, part: bytes) -> None:
    """Prefixes of names and before any colon, the default namespace, and nothing that it declares itself."""
    assert part_of(body, "b") == part


@pytest.mark.parametrize(
    ("subset", "inside", "part"),
    [
        ("<!ENTITY e 'x'>", "<b>y</b>", "<b>y</b>"),
        ("<!ENTITY e 'x'><!ENTITY f 'y'>", "<b>&e;</b>", '<!DOCTYPE b [<!ENTITY e "x">]><b>&e;</b>'),
        (
            "<!ENTITY e '&f;&#37;\"'><!ENTITY f 'y'>",
            "<b c='&e;'/>",
            '<!DOCTYPE b [<!ENTITY e "&#38;f;&#37;&#34;"><!ENTITY f "y">]><b c=\'&e;\'/>',
        ),
        (
            "<!ATTLIST b c CDATA '&lt;d&quot;'><!ATTLIST e f CDATA 'g'>",
            "<b/>",
            '<!DOCTYPE b [<!ATTLIST b c CDATA "&lt;d&quot;">]><b/>',
        ),
        (
            "<!ATTLIST b c CDATA #IMPLIED d ID #IMPLIED>",
            "<b/>",
            "<!DOCTYPE b [<!ATTLIST b d ID #IMPLIED>]><b/>",
        ),
        ("<!ENTITY e '<b c=\"1\">x&amp;y</b>'>", "&e;", '<b c="1">x&amp;y</b>'),
        (
            '<!ENTITY e \'<p:b xmlns:p="urn:p" p:c="p:d" xml:lang="en"><d/></p:b>\'>',
            "&e;",
            '<b xmlns:p="urn:p" xmlns="urn:p" xmlns:ns2="urn:p" ns2:c="p:d" xml:lang="en"><d xmlns=""/></b>',
        ),
    ],
)
def test_a_part_has_the_declarations_of_the_internal_subset_that_it_needs(
    subset: str, inside: str, part: str
) -> None:
    """Entities that it refers to, defaults of its attributes; an element of an entity is written anew."""
    body = f"<!DOCTYPE a [{subset}]><a>{inside}</a>".encode()
    assert part_of(body, "b").decode() == part
    check(body)


def test_prefixes_in_entities_and_namespaces_by_default_count() -> None:
    """What an entity brings in may use a prefix, and an attribute default may declare one."""
    subset = (
        b"<!ATTLIST c xmlns:q CDATA #FIXED 'urn:q' q:x CDATA 'y'>"
        b"<!ENTITY e '<p:b q:x=\"1\"/>'><!ENTITY uri 'urn:r'>"
    )
    inside = b"<d>&e;</d><c><q:f/></c><g xmlns:r='&uri;' r:x='1'><r:h/></g>"
    document = read(b"<!DOCTYPE a [%s]><a xmlns:p='urn:p' xmlns:q='urn:other'>%s</a>" % (subset, inside))
    nodes = list(descendants(document))
    assert [tree(read(part).root) for part in PartCutter(document).cut(nodes)] == list(map(tree, nodes))


@pytest.mark.parametrize(
    ("encoding", "head"),
    [
        ("utf-8", b""),
        ("utf-8-sig", b""),
        ("iso-8859-1", b'<?xml version="1.0" encoding="iso-8859-1"?>'),
        ("windows-1252", b'<?xml version="1.0" encoding="windows-1252"?>'),
        ("utf-16-le", '\ufeff<?xml version="1.0" encoding="UTF-16"?>'.encode("utf-16-le")),
        ("utf-16-be", '\ufeff<?xml version="1.0" encoding="UTF-16"?>'.encode("utf-16-be")),
    ],
)
def test_a_part_has_the_encoding_of_its_document(encoding: str, head: bytes) -> None:
    """Its bytes stay as they are; an encoding other than UTF-8 is declared."""
    declared = "utf-16" if "16" in encoding else encoding.removesuffix("-sig")
    mark = "\ufeff" if "16" in encoding else ""
    text = f"{mark}<?xml version='1.0' encoding='{declared}'?><a xmlns:p='urn:p'>é<p:b ü='é'>ö</p:b></a>"
    body = text.encode(encoding)
    part = part_of(body, "b")
    codec = encoding.removesuffix("-sig")
    assert part == head + "<p:b xmlns:p=\"urn:p\" ü='é'>ö</p:b>".encode(codec)
    check(body)
    document = read(body)
    (text,) = PartCutter(document).texts([next(each for each in descendants(document) if each.local == "b")])
    assert text == "<p:b xmlns:p=\"urn:p\" ü='é'>ö</p:b>"


def test_a_bare_range_is_what_was_written() -> None:
    """The form ``range`` adds nothing; attributes and text are ranges in both forms."""
    body = b"<!DOCTYPE a [<!ENTITY e 'x'>]><a xmlns:p='urn:p'><p:b c='&e;'>p:t</p:b></a>"
    document = read(body)
    (b,) = [each for each in descendants(document) if each.local == "b"]
    nodes = [b, b.attributes[0], b.children[0]]
    assert list(PartCutter(document, "range").cut(nodes)) == [b"<p:b c='&e;'>p:t</p:b>", b"c='&e;'", b"p:t"]
    assert list(PartCutter(document).cut(nodes))[1:] == [b"c='&e;'", b"p:t"]


@pytest.mark.parametrize(
    ("prolog", "whole"),
    [
        (b'<r xmlns:p="urn:p"', b'<r xmlns:p="urn:p" x="1"><p:b/></r>'),
        (
            b'<!DOCTYPE r [<!ENTITY e "y">]><r xmlns:p="urn:p" xmlns:q="urn:q"',
            b'<r xmlns:p="urn:p" xmlns:q="urn:q" x="1"><p:b/></r>',
        ),
    ],
)
def test_a_part_of_a_record_has_what_the_record_inherits(prolog: bytes, whole: bytes) -> None:
    """Namespaces of the prolog are namespaces in scope; a bare range is one of the record."""
    body = b'<r x="1"><p:b/></r>'
    document = read(joined(prolog, body))
    nodes: list[Node] = list(descendants(document))
    assert list(PartCutter(document, prolog=prolog, body=body).cut(nodes)) == [
        whole,
        b'<p:b xmlns:p="urn:p"/>',
    ]
    assert list(PartCutter(document, "range", prolog=prolog, body=body).cut(nodes)) == [body, b"<p:b/>"]


# Limits


def nested(depth: int) -> bytes:
    return b"<a>" * depth + b"</a>" * depth


@pytest.mark.parametrize(
    "body",
    [
        nested(900),
        b"<r xmlns:p='" + b"u" * 2_000 + b"'>" + b"<p:a/>" * 900 + b"</r>",
        b"<!DOCTYPE r [<!ENTITY e '" + b"x" * 2_000 + b"'>]><r>" + b"<a>&e;</a>" * 900 + b"</r>",
        b"<!DOCTYPE r [<!ENTITY e '<a>" + b"x" * 2_000 + b"</a>'>]><r>" + b"&e;" * 900 + b"</r>",
        b"<!DOCTYPE r [<!ATTLIST a x CDATA '" + b"x" * 2_000 + b"'>]><r>" + b"<a/>" * 900 + b"</r>",
    ],
    ids=["nested", "namespace", "entity", "from-entity", "default"],
)
def test_the_parts_together_are_limited(body: bytes) -> None:
    """Whatever makes them large, they are refused before a part is copied, with the name of the limit."""
    document = read(body)
    nodes: list[Node] = [each for each in descendants(document) if each.local == "a"]
    limits = DocumentLimits(part_amplification=4.0, part_threshold=1000)
    with pytest.raises(DocumentError, match="part_amplification") as caught:
        PartCutter(document, limits=limits).cut(nodes)
    assert caught.value.code == "parts-too-large"
    assert 0 < caught.value.offset < len(body)
    larger = DocumentLimits(part_amplification=4000.0)
    assert sum(1 for _ in PartCutter(document, limits=larger).cut(nodes)) == len(nodes)


def test_small_documents_may_have_parts_of_any_depth() -> None:
    """Below the threshold the limit does not apply."""
    document = read(nested(300))
    nodes: list[Node] = list(descendants(document))
    parts = list(PartCutter(document).cut(nodes))
    assert sum(map(len, parts)) > 100 * len(document.body)


def test_no_memory_is_taken_for_parts_that_are_refused() -> None:
    """207 KB of nested elements would be 190 MB of parts; nothing of that is allocated."""
    import tracemalloc

    document = read(b"".join(b"<%s>" % (b"a" * 100) for _ in range(980)) + (b"</%s>" % (b"a" * 100)) * 980)
    nodes: list[Node] = list(descendants(document))
    tracemalloc.start()
    try:
        with pytest.raises(DocumentError):
            PartCutter(document).cut(nodes)
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()


def test_many_prefixes_are_found_in_one_search() -> None:
    """With more prefixes than are searched for one by one, the same are found."""
    prefixes = [f"p{number}" for number in range(200)]
    declared = " ".join(f"xmlns:{prefix}='urn:{prefix}'" for prefix in prefixes)
    body = f"<a {declared}><b p7:x='p9:y' c='p11'>(p13:z)</b></a>".encode()
    assert part_of(body, "b") == (
        b'<b xmlns:p13="urn:p13" xmlns:p7="urn:p7" xmlns:p9="urn:p9"' + b" p7:x='p9:y' c='p11'>(p13:z)</b>"
    )


# Random documents, and real ones

URIS = ["urn:a", "urn:b", "http://example.org/?x=1&y='2'"]
PREFIXES = ["p", "q", "r"]
TEXTS = [
    "t",
    "é",
    "p:x",
    "&lt;",
    "&#8364;",
    "<![CDATA[<q:x>&e;]]>",
    "&e;",
    "&m;",
    "&n;",
    "<!-- &m; <p:x> -->",
    "<?pi q:x?>",
    "\r\n",
]
SUBSET = """<!DOCTYPE a [
<!ENTITY e 'x&#38;#38;&#37;"'> <!ENTITY m '<b x="1">&e;</b>y<c xml:lang="en"/>'>
<!ENTITY n "<z:b xmlns:z='urn:z' z:y='&e;'><c xmlns='urn:c'/></z:b>">
<!ATTLIST c d CDATA 'p:d' i NMTOKENS #IMPLIED>]>
"""


@st.composite
def documents(draw: st.DrawFn) -> bytes:
    """Documents with prefixes redeclared, default namespaces undeclared, CDATA, entities and encodings."""
    scopes: list[dict[str, str]] = [{}]

    def element(depth: int) -> Iterator[str]:
        declared = draw(st.dictionaries(st.sampled_from(["", *PREFIXES]), st.sampled_from(URIS), max_size=2))
        if draw(st.integers(0, 5)) == 0:
            declared[""] = ""
        scope = scopes[-1] | declared
        scopes.append(scope)
        prefixes = [prefix for prefix in scope if prefix]
        prefix = draw(st.sampled_from(["", *prefixes]))
        name = f"{prefix}:" * bool(prefix) + draw(st.sampled_from("abc"))
        yield f"<{name}"
        for own, uri in declared.items():
            yield f' xmlns{":" * bool(own)}{own}="{uri.replace("&", "&amp;")}"'
        if prefixes and draw(st.booleans()):
            value = draw(st.sampled_from(["1", "&e;", "p:y", "é"]))
            yield f" {draw(st.sampled_from(prefixes))}:x = '{value}'"
        if draw(st.booleans()):
            yield " i=' k  l '"
        children = draw(st.integers(0, 3 if depth < 4 else 0))
        if not children and draw(st.booleans()):
            yield "/>"
        else:
            yield ">"
            for _ in range(children):
                yield draw(st.sampled_from(TEXTS))
                yield from element(depth + 1)
            yield draw(st.sampled_from(TEXTS))
            yield f"</{name}>"
        scopes.pop()

    encoding = draw(st.sampled_from(["utf-8", "utf-16", "iso-8859-1", "windows-1252"]))
    text = f"<?xml version='1.0' encoding='{encoding}'?>{SUBSET}{''.join(element(0))}"
    return text.encode(encoding)


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(documents())
def test_every_part_is_lxmls_copy_of_the_node(body: bytes) -> None:
    """In canonical form; elements of entities by expanded names."""
    check(body)


@pytest.mark.data
@pytest.mark.parametrize(("folder", "pattern"), [("invoices", "*.xml"), ("newsml-g2", "**/*.xml")])
def test_parts_of_real_documents_are_lxmls_copies(data: Path, folder: str, pattern: str) -> None:
    """More than 400 parts of invoices and of news with namespaces can be read by themselves."""
    files = sorted((data / folder).glob(pattern))
    random.Random(0).shuffle(files)
    count = 0
    for file in files:
        count += check(file.read_bytes())
        if count > 3000:
            break
    assert count > 400
