"""Documents from a grammar and a seed, as adversarial as the grammar allows.

    SHAPES     well-formed documents, one shape for each thing that a reader or matcher must get right
    HOSTILE    documents that are refused, or that are at the edge of being refused
    mutated    any of them after something happened to its bytes

Subscriptions (``subscriptions.py``) have the same few names and words, so that they match.  ``scale`` is
about the number of elements: small where many subscriptions are compared, large where growth is measured.
"""

from __future__ import annotations

import random
from collections.abc import Callable

LONG_URI = 300  # letters after "urn:"; the prefix ``long`` of the subscriptions has this URI
ELEMENTS = ["a", "b", "c", "d", "p:a", "été"]
ATTRIBUTES = ["k", "l", "p:k"]
WORDS = ["x", "y", "xy", "é", "1", "2.5", "-3", "", " ", "a&b", "\U0001f600", "long " * 30]
NUMBERS = ["0", "-0", "1", "2", "2.5", " 2.50 ", "-3", ".5", "5.", "30", "NaN", "1e1", "+1", "1 0", "9" * 30]

# All have one value of the hash that the kernel had before its hash had a secret.
COLLIDING = [
    "BeZpHYfD_cv6ntE3",
    "gehdgoBANOnmA1do",
    "MbZKiGNMp85hQTCG",
    "KYHsSnKg9PY.KrgC",
    "DBgknGBe9A-ygDEb",
    "JGUGGbwDFHeRdwWp",
    "cCLCbGFK-YYGGdnC",
    "UsRGPLpJTBjPMC39",
    "KuLDDaQdLEEK85aa",
    "sSCZwKfE.O2Bx80L",
    "bIFguOmFm1U9PW.i",
    "GnfKJzOGI0M1Ci9G",
    "zbZCKLZoiCinvP3o",
    "WgYzLuEPw-UHPjSM",
    "DVZUgkIMFdZWhos8",
    "AhGptgKJfdLNciEp",
    "jVLlXvSLzQFOuNkA",
    "zGhFMGII4-UKruIa",
    "SEKBDegkWJ2BnMXs",
    "xAqMxRME6cTGnrsS",
    "nJgsqwxWhvWKIc2V",
    "LPBHShwoegx_FEkT",
    "WAwFgLQvNawdXP_O",
    "dLOFBBbPjinwU0l6",
    "GqgtqLhK4iJsGjiN",
    "LpfhzLrcPE1Q_nJl",
    "qpcJqLgp1yO.PrIc",
    "LXIMewyMb8bsBvET",
    "qGYzlJagFNUnFqnu",
    "FTJLjueFIn.L4dkQ",
    "IAHtRKdFIFq89TBN",
    "DZXcBTCEvt0We-Ud",
    "euBcbEvpj55OFJKc",
    "BBnXbwDZM33332nR",
    "JAfrpzAsY4MSfB6_",
    "dwxxHDEJlgvcQwhP",
]

Shape = Callable[[random.Random, int], str]


# Well-formed documents


def mixed(chance: random.Random, scale: int) -> str:
    """Elements, attributes and everything that can stand between tags."""
    declarations = chance.choice(["", "", " xmlns='urn:q'"]) + " xmlns:p='urn:p'"
    return f"<a{declarations}{_attributes(chance)}>{_content(chance, 6, scale)}</a>"


def deep(chance: random.Random, scale: int) -> str:
    """Elements in elements, of one name or of several, with something at the bottom and on the way."""
    names = chance.choice([["a"], ["a", "b"], ["a", "b", "c"]])
    path = [names[i % len(names)] for i in range(min(scale, 190))]
    opened = "".join(f"<{name}{_plain_attributes(chance, 0.2)}>{chance.choice(['', 'x'])}" for name in path)
    closed = "".join(f"{chance.choice(['', '<d/>', 'y'])}</{name}>" for name in reversed(path))
    return f"{opened}<c k='x'>{chance.choice(NUMBERS)}</c>{closed}"


def wide(chance: random.Random, scale: int) -> str:
    """Many siblings of few names, for positions and counts."""
    names = chance.choice([["b"], ["b", "c"], ["b", "c", "d"]])
    children = [_leaf(chance, chance.choice(names)) for _ in range(scale)]
    return f"<a>{chance.choice(['', ' ']).join(children)}</a>"


def repeated(chance: random.Random, scale: int) -> str:
    """One subtree again and again, so that every cache of label paths and values is warm."""
    subtree = f"<b k='x'><c>{chance.choice(NUMBERS)}</c>{_leaf(chance, 'd')}<d><a>x</a></d></b>"
    return f"<a>{subtree * (1 + scale // 5)}</a>"


def values(chance: random.Random, scale: int) -> str:
    """Texts and attributes that are numbers, look like numbers, or do not."""
    leaf = lambda: f"<b k='{chance.choice(NUMBERS)}'>{chance.choice(NUMBERS)}</b>"  # noqa: E731
    return f"<a>{''.join(leaf() for _ in range(scale))}</a>"


def many_attributes(chance: random.Random, scale: int) -> str:
    """Elements with up to a hundred attributes."""
    names = ["k", "l", *(f"k{i}" for i in range(97))]
    elements = []
    for _ in range(1 + scale // 50):
        given = "".join(f" {name}='{_word(chance)}'" for name in names[: chance.randrange(100)])
        elements.append(f"<b{given}/>")
    return f"<a>{''.join(elements)}</a>"


def long_things(chance: random.Random, scale: int) -> str:
    """Long names, values, texts and namespace URIs."""
    size = min(scale * chance.choice([1, 10, 50]), 50_000)
    name, uri = "n" * min(size, 40_000), "urn:" + "x" * chance.choice([LONG_URI, size])
    text = chance.choice(["x", "xy", "é", "long ", "x\n"]) * size
    return f"<a k='{text}' xmlns:long='{uri}'><{name}/><long:a long:k='x'>{text}</long:a><b>{text}</b></a>"


def text_in_pieces(chance: random.Random, scale: int) -> str:
    """One text that the parser delivers in many pieces, or many texts with something between them."""
    between = [
        "",
        "\n",
        "\r\n",
        "&amp;",
        "&#x78;",
        "<![CDATA[]]>",
        "<![CDATA[x]]>",
        "<!--x-->",
        "<?x?>",
        "<c/>",
    ]
    chosen = chance.sample(between, 3)
    return f"<a><b>{''.join(_word(chance) + chance.choice(chosen) for _ in range(scale))}</b></a>"


def sections(chance: random.Random, scale: int) -> str:
    """Comments, instructions and CDATA sections that contain markup, also around the root element."""
    pieces = [
        "<!-- <a> & -->",
        "<?pi <a> & ?>",
        "<?x?>",
        "<![CDATA[<a>&]]>",
        "<![CDATA[]]>",
        "<![CDATA[]]]]>",
        "x",
    ]
    content = "".join(chance.choice([*pieces, "<b/>", "<b>x</b>"]) for _ in range(scale))
    return f"<!--x--><?y z?><a>{content}</a><!--x--><?y z?>\n"


def namespaces(chance: random.Random, scale: int) -> str:
    """Prefixes that are bound, bound again and bound to the same URI, default namespaces set and unset."""
    bindings = ["", " xmlns='urn:p'", " xmlns=''", " xmlns:p='urn:q'", " xmlns:p='urn:p'", " xml:lang='en'"]
    depth = min(1 + scale // 3, 150)
    names = [chance.choice(["a", "b", "p:a", "q:a", "p:b"]) for _ in range(depth)]
    tags = [f"<{name}{chance.choice(bindings)}{_attribute_of(chance)}>" for name in names]
    closed = "".join(f"</{name}>" for name in reversed(names))
    return f"<a xmlns:p='urn:p' xmlns:q='urn:p'>{''.join(tags)}x{closed}<b xmlns:r='urn:r' r:k='x'/></a>"


def entities(chance: random.Random, scale: int) -> str:
    """Internal entities in chains, with text and markup, in content and in attributes."""
    last = chance.choice(["x", "é", "1", "<b k='x'>y</b>", "<b/><c>x</c>", "&#38;#60;", "<![CDATA[x]]>", ""])
    chain = "".join(
        f"<!ENTITY e{i} 'x&e{i - 1};{chance.choice(['', 'y'])}'>" for i in range(1, min(scale, 40))
    )
    top = f"&e{min(scale, 40) - 1};" if scale > 1 else "&e0;"
    attribute = " k='&t;x&t;'" if chance.random() < 0.5 else ""
    content = chance.choice(["{0}", "x{0}y", "<c>{0}</c>{0}", "{0}<c/>{0}", "<c>&lt;{0}</c>"]).format(top)
    quoted = last.replace("'", '"')
    declared = f"<!ENTITY t 'x&#38;#38;y'><!ENTITY e0 '{quoted}'>{chain}"
    return f"<!DOCTYPE a [{declared}]><a{attribute}><b>{content}</b></a>"


def expansions(chance: random.Random, scale: int) -> str:
    """Entities that make a document larger, well within the limit."""
    times = chance.randrange(2, 8)
    levels = range(1, chance.randrange(2, 5))
    declared = "".join(f"<!ENTITY e{i} '{f'&e{i - 1};' * times}'>" for i in levels)
    first = chance.choice(["x", "<b>y</b>", "<b k='x'/>"]).replace("'", '"')
    return f"<!DOCTYPE a [<!ENTITY e0 '{first}'>{declared}]><a><b>&e{len(levels)};</b>{'<c/>' * scale}</a>"


def declarations(chance: random.Random, scale: int) -> str:
    """A DTD with everything that an internal subset can have, and that changes attributes."""
    pieces = [
        "<!ELEMENT a (b|c)*>",
        "<!ATTLIST b k CDATA 'x'>",
        "<!ATTLIST b l NMTOKENS #IMPLIED>",
        "<!ATTLIST c xmlns CDATA 'urn:p'>",
        "<!ATTLIST c k CDATA #FIXED '1'>",
        "<!NOTATION n SYSTEM 'n'>",
        "<!ENTITY u SYSTEM 'u' NDATA n>",
        "<!ENTITY e SYSTEM 'none'>",
        "<!ENTITY % q '<!ATTLIST d k CDATA \"y\">'>",
        "%q;",
        "<!-- <a> -->",
        "<?pi?>",
        "\n",
    ]
    subset = "".join(piece for piece in pieces if chance.random() < 0.6)
    subset = subset if "% q" in subset else subset.replace("%q;", "")
    external = chance.choice(["", "", " SYSTEM 'none.dtd'", " PUBLIC '-//x' 'none.dtd'"])
    content = "".join(chance.choice(["<b/>", "<b l=' x  y '/>", "<c/>", "<d/>", "x"]) for _ in range(scale))
    return f"<!DOCTYPE a{external} [{subset}]><a>{content}</a>"


def collisions(chance: random.Random, scale: int) -> str:
    """Names that are alike for a hash that can be foreseen."""
    elements = chance.choices(COLLIDING, k=1 + scale // 3)
    attributes = chance.choices(COLLIDING, k=1 + scale // 3)
    return "<a>" + "".join(map("<{} {}='x'/>".format, elements, attributes)) + "</a>"


SHAPES: dict[str, Shape] = {
    shape.__name__: shape
    for shape in (
        *(mixed, deep, wide, repeated, values, many_attributes, long_things, text_in_pieces, sections),
        *(namespaces, entities, expansions, declarations, collisions),
    )
}


def well_formed(chance: random.Random, scale: int) -> bytes:
    """A well-formed document of any shape, in any encoding."""
    return encoded(chance, chance.choice(list(SHAPES.values()))(chance, scale))


ENCODINGS = {  # codec of Python: the names that a document in it may declare
    "utf-8": ["utf-8", "UTF-8"],
    "utf-8-sig": ["utf-8"],
    "utf-16": ["utf-16", "UTF-16"],
    "utf-16-le": ["utf-16"],
    "utf-16-be": ["utf-16"],
    "iso-8859-1": ["iso-8859-1", "ISO-8859-1"],
    "us-ascii": ["us-ascii", "utf-8", "iso-8859-1"],
    "windows-1252": ["windows-1252"],
    "koi8-r": ["koi8-r"],
}


def encoded(chance: random.Random, text: str) -> bytes:
    """The text in one of the encodings that a parser knows, which it declares unless it need not."""
    codec = chance.choice(UNICODE if "<!" in text or "<?" in text else list(ENCODINGS))
    if chance.random() < 0.5:
        codec = "utf-8"
    if codec == "utf-8" and chance.random() < 0.7:
        return text.encode()
    text = f"<?xml version='1.0' encoding='{chance.choice(ENCODINGS[codec])}'?>{text}"
    if codec in UNICODE:
        mark = "\ufeff" if codec in ("utf-16-le", "utf-16-be") and chance.random() < 0.5 else ""
        return (mark + text).encode(codec)
    return _ascii_names(text).encode(codec, "xmlcharrefreplace")


# In the others a character may need a reference, which sections, names and declarations cannot have.
UNICODE = ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"]


def _ascii_names(text: str) -> str:
    return text.replace("<été", "<ete").replace("</été", "</ete")


# Documents that are refused, and those at the edge


def hostile(chance: random.Random, scale: int) -> bytes:
    """A document that wants too much of its reader, or that is wrong in one way."""
    text = chance.choice([*_too_much(chance, scale), *REFUSED, *REFUSED])
    return text.encode("utf-8" if chance.random() < 0.8 else "utf-16", "surrogatepass")


def _too_much(chance: random.Random, scale: int) -> list[str]:
    size = scale * chance.choice([1, 3, 10])
    bomb = "".join(f"<!ENTITY e{n} '{f'&e{n - 1};' * 10}'>" for n in range(1, chance.randrange(5, 9)))
    quadratic = f"<!DOCTYPE a [<!ENTITY e '{'x' * size * 10}'>]><a>{'&e;' * size}</a>"
    defaults = " ".join(map("k{} CDATA 'x'".format, range(min(size, 120))))
    parameters = "".join(f"<!ENTITY % p{n} '{f'&#37;p{n - 1};' * 10}'>" for n in range(1, 8))
    return [
        "<a>" * size + "</a>" * size,
        "<a>" * size,
        "<a" + "".join(map(" k{}=''".format, range(size))) + "/>",
        f"<!DOCTYPE a [<!ENTITY e0 'x'>{bomb}]><a><b>&e4;</b></a>",
        f"<!DOCTYPE a [<!ENTITY e0 '<b k=\"x\">y</b>'>{bomb}]><a>&e4;</a>",
        f"<!DOCTYPE a [<!ENTITY e0 'x'>{bomb}]><a k='&e4;'/>",
        f"<!DOCTYPE a [<!ENTITY % p0 'x'>{parameters}<!ENTITY e '&#37;p7;'>]><a>&e;</a>",
        quadratic,
        f"<!DOCTYPE a [<!ATTLIST b {defaults}>]><a>{'<b/>' * min(size, 2000)}</a>",
        "<a" + "".join(map(" xmlns:p{0}='u{0}'".format, range(size))) + "/>",
    ]


REFUSED = [
    "<!DOCTYPE a [<!ENTITY e '&f;'><!ENTITY f '&e;'>]><a>&e;</a>",
    "<!DOCTYPE a [<!ENTITY e SYSTEM 'file:///dev/null'>]><a>&e;</a>",
    "<!DOCTYPE a SYSTEM 'none.dtd'><a><b>&e;</b></a>",
    "<!DOCTYPE a SYSTEM 'none.dtd'><a><b k='&e;'/></a>",
    "<!DOCTYPE a [<!ENTITY % p SYSTEM 'none'> %p;]><a><b/></a>",
    "<!DOCTYPE a [<!ENTITY % p SYSTEM 'none'> %p;]><a>&e;</a>",
    "<!DOCTYPE a [<!ENTITY e '<b>'>]><a>&e;</b></a>",
    "<!DOCTYPE a [<!ENTITY e '<b k=\"&#60;\"/>'>]><a>&e;</a>",
    "<a xmlns:p='urn:p' xmlns:q='urn:p'><b p:k='x' q:k='y'/></a>",
    "<a><p:b/></a>",
    "<a><b p:k=''/></a>",
    "<a xmlns:p=''/>",
    "<a xmlns:xml='urn:x'/>",
    "<a xmlns='http://www.w3.org/2000/xmlns/'/>",
    "<p:q:a xmlns:p='u'/>",
    "<a><?x:y z?></a>",
    "<!DOCTYPE a [<!ENTITY x:y 'z'>]><a>&x:y;</a>",
    "<!DOCTYPE a [<!NOTATION x:y SYSTEM 'z'>]><a/>",
    "<!DOCTYPE a SYSTEM 'none.dtd' [<!ENTITY é 'x'>]><a k='&é;'/>",
    "<!DOCTYPE a SYSTEM 'none.dtd'><a k='&lt;&#233;'>&amp;</a>",
    "<a>\ufffe</a>",
    "<a>\ud800</a>",
    "<a>]]></a>",
    "<a><b></a></b>",
    "<a/><a/>",
    "<a k='' k=''/>",
    " <?xml version='1.0'?><a/>",
    "<?xml version='1.1'?><a/>",
    "<?xml version='1.0' encoding='windows-1252'?><a>\x80</a>",
    "<?xml version='1.0' encoding='utf-16'?><a/>",
    "<?xml version='1.0' encoding='no-such'?><a/>",
    "<?xml version='1.0' encoding='utf-7'?><a/>",
    "<?xml version='1.0' encoding='shift_jis'?><a/>",
    "",
    " ",
    "\ufeff",
]


def mutated(chance: random.Random, body: bytes, scale: int) -> bytes:
    """The bytes with one thing done to them."""
    at = chance.randrange(len(body) + 1)
    to = min(len(body), at + chance.choice([1, 1, 2, 8, 64]))
    match chance.randrange(11):
        case 0:
            return body[:at] + bytes([chance.randrange(256)]) + body[at + 1 :]
        case 1:
            return body[:at] + bytes(byte ^ (1 << chance.randrange(8)) for byte in body[at:to]) + body[to:]
        case 2:
            return body[:at]
        case 3:
            return body[at:]
        case 4:
            return body[:at] + body[to:]
        case 5:
            return body[:to] + body[at:]
        case 6:
            return body[:at] + chance.randbytes(chance.randrange(1, 9)) + body[at:]
        case 7:
            other = well_formed(chance, scale)
            return body[:at] + other[chance.randrange(len(other)) :]
        case 8:
            return body[:at] + chance.choice(TOKENS) + body[at:]
        case 9:
            return body[:at] + chance.choice(TOKENS) + body[to:]
        case _:
            return body.replace(chance.choice(TOKENS), chance.choice(TOKENS), 1)


TOKENS = [
    *b"< > /> </ </a> <a> <b/> & ; &lt; &#0; &#x110000; &e1; &e0; <![CDATA[ ]]> <!-- --> <? ?> ]> '".split(),
    *b"= : p: %q; <?x:y?> xmlns= \0 \xff \xfe\xff \xef\xbb\xbf \xc3 \xed\xa0\x80 \xf4\x90\x80\x80".split(),
    *[b"<!DOCTYPE a [", b" k='x'", b" k='&e0;'", b" xmlns='urn:q'", b" xmlns:p=''", b" xmlns:xml='urn:x'"],
    *[b"<?xml version='1.0'?>", b"<!ENTITY e0 'y'>", b"<!ENTITY x:y 'y'>", b"a" * 5000, b"\r", b"\x01", b'"'],
]


def document(chance: random.Random, scale: int) -> bytes:
    """A document of some kind: as it should be, hostile, altered, or noise."""
    kind = chance.random()
    if kind < 0.45:
        return well_formed(chance, scale)
    if kind < 0.6:
        return hostile(chance, scale)
    if kind < 0.97:
        body = well_formed(chance, scale) if chance.random() < 0.8 else hostile(chance, scale)
        for _ in range(chance.choice([1, 1, 2, 5, 20])):
            body = mutated(chance, body, scale)
        return body
    return chance.randbytes(chance.randrange(200))


# Parts of documents


def _content(chance: random.Random, depth: int, scale: int) -> str:
    most = max(2, min(scale // 4, 40)) if depth == 6 else 5
    return "".join(_item(chance, depth, scale) for _ in range(chance.randrange(most)))


def _item(chance: random.Random, depth: int, scale: int) -> str:
    if depth and chance.random() < 0.6:
        name = chance.choice(ELEMENTS)
        if chance.random() < 0.05:
            return f"<{name} xmlns='urn:p'>{_content(chance, depth - 1, scale)}</{name}>"
        if chance.random() < 0.2:
            return f"<{name}{_attributes(chance)}/>"
        return f"<{name}{_attributes(chance)}>{_content(chance, depth - 1, scale)}</{name}>"
    word = _word(chance)
    others = ["&#233;", "&lt;", "\r\n", "&#x1F600;", chance.choice(NUMBERS)]
    return chance.choice([word, word, word, *others])


def _leaf(chance: random.Random, name: str) -> str:
    return f"<{name}{_plain_attributes(chance, 0.4)}>{_word(chance)}</{name}>"


def _word(chance: random.Random) -> str:
    return chance.choice(WORDS).replace("&", "&amp;")


def _attributes(chance: random.Random) -> str:
    names = chance.sample(ATTRIBUTES, chance.choice([0, 0, 1, 2]))
    return "".join(f' {name}="{_word(chance)}"' for name in names)


def _plain_attributes(chance: random.Random, probability: float) -> str:
    return "".join(f" {name}='{_word(chance)}'" for name in ("k", "l") if chance.random() < probability)


def _attribute_of(chance: random.Random) -> str:
    return chance.choice(["", "", " k='x'", " p:k='x'", " q:k='y'", " k='x' p:k='y'"])
