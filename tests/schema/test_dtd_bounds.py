"""What a DTD may cost: bombs, depth, size, and work in proportion to the text."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from functools import partial

import pytest

from twigcast.errors import SchemaError
from twigcast.schema import AttributeKind, SchemaLimits, read_dtd


def doubling(first: str, sign: str = "%") -> str:
    """Parameter entities of which each refers twice to the one before."""
    return f"<!ENTITY % p0 '{first}'>" + "".join(
        f"<!ENTITY % p{n} '{sign}p{n - 1};{sign}p{n - 1};'>" for n in range(1, 31)
    )


def chain(length: int, kind: str = "% ") -> str:
    """Entities of which each refers to the one before, as deep as they are many."""
    sign = kind.strip() or "&"
    return f"<!ENTITY {kind}p0 ''>" + "".join(
        f"<!ENTITY {kind}p{n} '&#{ord(sign)};p{n - 1};'>" for n in range(1, length)
    )


@pytest.mark.parametrize(
    "text",
    [
        doubling("b,") + "<!ELEMENT a (%p30; b)>",
        doubling(" ") + "%p30;<!ELEMENT a EMPTY>",
        doubling(" ", "&#37;") + "%p30;<!ELEMENT a EMPTY>",
        doubling("<!---->", "&#37;") + "%p30;<!ELEMENT a EMPTY>",
        doubling("", "&#37;") + "%p30;<!ELEMENT a EMPTY>",
        f"<!ELEMENT a {'(' * 100_000}b{')' * 100_000}>",
        doubling("(") + "<!ELEMENT a %p30;b)>",
        chain(100_000),
        chain(100_000) + "<!ELEMENT a (b %p99999;)>",
        chain(100_000) + "<!ENTITY % q '%p99999;'>",
        chain(100_000, "") + "<!ELEMENT a EMPTY><!ATTLIST a k CDATA '&p99999;'>",
        "<!ENTITY % r '&#37;r;'>%r;<!ELEMENT a EMPTY>",
        "<!ENTITY % r '&#37;s;'><!ENTITY % s '&#37;r;'>%r;<!ELEMENT a EMPTY>",
    ],
    ids=[
        *("model", "declarations", "late", "comments", "nothing", "depth", "depth in entities"),
        *("chain", "chain in a model", "chain in a value", "chain in a default", "self", "cycle"),
    ],
)
def test_a_bomb_is_refused(text: str) -> None:
    """As too complex, before it costs much; expat would overflow the stack on a chain of entities."""
    with pytest.raises(SchemaError) as error:
        read_dtd(text.encode())
    assert error.value.code == "too-complex"


def test_a_dtd_of_many_megabytes_may_use_entities() -> None:
    """Its expansion is compared with its own size."""
    text = "<!ENTITY % p 'CDATA #IMPLIED'><!ELEMENT a EMPTY><!ATTLIST a k %p;>" + " " * (12 << 20)
    assert len(read_dtd(text.encode())["a"].attributes) == 1


@pytest.mark.parametrize(
    ("text", "limit"),
    [
        (f"<!ELEMENT a ({','.join(['b'] * 60_000)})>", "particles"),
        (f"<!ELEMENT a (#PCDATA|{'|'.join(f'b{n}' for n in range(60_000))})*>", "particles"),
        ("".join(f"<!ELEMENT a{n} EMPTY>" for n in range(10_001)), "elements"),
        ("<!ELEMENT a EMPTY>" + "<!ATTLIST a k ID #IMPLIED>" * 100_001, "attributes"),
        (f"<!ELEMENT a {'(' * 129}b{')' * 129}>", "depth"),
        (chain(65), "entity_depth"),
        (" " * (17 << 20), "bytes"),
    ],
    ids=["sequence", "mixed", "elements", "attributes", "depth", "entities", "bytes"],
)
def test_a_dtd_that_is_too_large_is_refused(text: str, limit: str) -> None:
    """The message names the limit."""
    with pytest.raises(SchemaError, match=rf"SchemaLimits\.{limit}") as error:
        read_dtd(text.encode())
    assert error.value.code == "too-complex"


def test_a_limit_can_be_raised() -> None:
    """Also lowered."""
    text = b"<!ELEMENT a (b, c)><!ELEMENT b EMPTY>"
    assert len(read_dtd(text, limits=SchemaLimits(elements=2))) == 2
    with pytest.raises(SchemaError):
        read_dtd(text, limits=SchemaLimits(elements=1))
    deep = f"<!ELEMENT a {'(' * 50_000}b{')' * 50_000}>".encode()
    assert read_dtd(deep, limits=SchemaLimits(depth=50_000))["a"].model is not None


def calls(work: Callable[[], object]) -> int:
    """How many functions are called, of Python and of C: what the work costs on any machine."""
    number = 0

    def count(frame: object, event: str, argument: object) -> None:
        nonlocal number
        number += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(None)
    return number


def defaults(values: Iterable[str]) -> str:
    """An element whose attributes have these default values."""
    attributes = " ".join(f"k{number} CDATA '{value}'" for number, value in enumerate(values))
    return f"<!ELEMENT a EMPTY><!ATTLIST a {attributes}>"


ROOTS = "<!ELEMENT r (e0)><!ELEMENT s (e0)>"


@pytest.mark.parametrize(
    "text",
    [
        lambda n: f"<!ELEMENT a EMPTY><!ATTLIST a {' '.join(f'k{i} CDATA #IMPLIED' for i in range(n))}>",
        lambda n: "<!ELEMENT a EMPTY>" + "".join(f"<!ATTLIST a k{i} CDATA 'x'>" for i in range(n)),
        lambda n: "".join(f"<!ELEMENT e{i} (e{i + 1}?)>" for i in range(n)),
        lambda n: "".join(f"<!ELEMENT e{i} (e{(i or n) - 1}?)>" for i in range(n)) + ROOTS,
        lambda n: f"<!ELEMENT a ({'|'.join(f'p:e{i}' for i in range(n))})*>",
        lambda n: f"<!ELEMENT a {'(b,' * (n // 25)}c{')' * (n // 25)}>",
        lambda n: (
            "<!ENTITY e0 ''>"
            + "".join(f"<!ENTITY e{i} '&e{i - 1 if i % 50 else 0};'>" for i in range(1, n))
            + defaults(f"&e{i};" for i in range(n))
        ),
        lambda n: (
            "".join(f"<!ENTITY e{i} ''>" for i in range(n))
            + f"<!ENTITY all '{''.join(f'&e{i};' for i in range(n))}'>"
            + defaults("&all;" for _ in range(n // 10))
        ),
    ],
    ids=[
        *("attributes", "ATTLISTs", "elements", "cycle", "names", "groups"),
        *("entities", "entities of one"),
    ],
)
def test_the_work_is_in_proportion_to_the_text(text: Callable[[int], str]) -> None:
    """Twice as much of anything costs about twice as many calls."""
    limits = SchemaLimits(elements=10**6)
    bodies = [text(n).encode() for n in (800, 1600, 3200)]
    once, twice, four_times = (calls(partial(read_dtd, body, limits=limits)) for body in bodies)
    assert twice < 2.3 * once
    assert four_times < 2.3 * twice


def test_sixteen_thousand_attributes_are_read() -> None:
    """All of them, with their kinds."""
    declared = " ".join(f"k{number} NMTOKEN #IMPLIED" for number in range(16_000))
    attributes = read_dtd(f"<!ELEMENT a EMPTY><!ATTLIST a {declared}>".encode())["a"].attributes
    assert len(attributes) == 16_000
    assert {each.kind for each in attributes} == {AttributeKind.NMTOKEN}
