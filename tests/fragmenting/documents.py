"""Random documents that are hard to cut: tags that are hidden, namespaces, entities, recursion, encodings."""

from __future__ import annotations

from random import Random

from hypothesis import strategies as st

_NAMES = ("a", "b", "c", "p:a", "q:b", "é", "a-b.c", "_long_name_of_an_element")
_HIDDEN = (
    "<!-- <a> </b> -->",
    "<!---->",
    "<!-- - ' \" > -->",
    "<?pi <a> ?>",
    "<?pi?>",
    "<![CDATA[<a>]]>",
    "<![CDATA[]] > ]]>",
    "<![CDATA[]]]]>",
)
_TEXTS = ("x", " ", "\n", "\r\n", "é", "&t;", "&m;", "&lt;a&gt;", "&#60;", "a > b", "'\"", "]]", "€")
_ATTRIBUTES = (' x="1"', " y='a>b'", ' z="/>"', ' w = "it\'s"', "\n v='&lt;'", ' é="ü"', ' x1="]]>"')
_DECLARATIONS = (
    ' xmlns="u"',
    ' xmlns=""',
    ' xmlns:p="v"',
    " xmlns:q='w'",
    ' xmlns:r = "&t;&#65;"',
    ' xmlns:s="a\tb"',
)
_DOCTYPE = """<!DOCTYPE a [<!ENTITY t "5"> <!-- ]> --> <!ENTITY m "x<b x='5'>5<c/></b>">
<!ATTLIST b xmlns:d CDATA "default" x CDATA ">"> <?pi ]> ?>] >"""


def hard_documents() -> st.SearchStrategy[bytes]:
    """Well-formed documents in UTF-8 and ISO-8859-1, with a document type declaration."""
    return st.randoms(use_true_random=False).map(hard_document)


def hard_document(random: Random) -> bytes:
    """One such document."""
    encoding = random.choice(["utf-8", "utf-8", "iso-8859-1"])
    head = "".join(
        part
        for part in (
            f'<?xml version="1.0" encoding="{encoding}"?>',
            random.choice(["", "\n", "<!-- <a> -->"]),
            _DOCTYPE,
            random.choice(["", "\n<?pi <a> ?>\n"]),
        )
    )
    tail = random.choice(["", "\n", "<!-- <a> -->\n", "<?pi?>"])
    text = head + _element(random, random.randint(0, 5)) + tail
    return text.encode(encoding, "xmlcharrefreplace")


def _element(random: Random, depth: int) -> str:
    name = random.choice(_NAMES)
    attributes = [random.choice(_DECLARATIONS)] if random.random() < 0.3 else []
    attributes += random.sample(_ATTRIBUTES, random.choice([0, 0, 1, 3]))
    random.shuffle(attributes)
    tag = f"<{name}{''.join(attributes)}{random.choice(['', '', ' '])}"
    content = []
    if depth:
        for _ in range(random.choice([0, 1, 1, 2, 3, 4])):
            kind = random.random()
            if kind < 0.6:
                content.append(_element(random, depth - 1))
            else:
                content.append(random.choice(_HIDDEN if kind < 0.75 else _TEXTS))
    if not content and random.random() < 0.5:
        return f"{tag}/>"
    return f"{tag}>{''.join(content)}</{name}{random.choice(['', '', chr(10)])}>"


def all_cuts() -> st.SearchStrategy[object]:
    """Every rule with small sizes."""
    from twigcast.fragmenting import Cuts, Spans, Subtrees

    few = st.integers(1, 6)
    nodes = st.lists(st.integers(1, 20), max_size=6).map(tuple)
    return st.one_of(
        few.map(lambda count: Spans(elements=count)),
        st.integers(1, 60).map(lambda count: Spans(bytes=count)),
        st.builds(lambda count, size: Spans(elements=count, bytes=size), few, st.integers(1, 60)),
        nodes.filter(bool).map(lambda each: Spans(nodes=each)),
        few.map(Subtrees),
        nodes.map(Cuts),
    )
