"""The work of deriving, planning and checking a mapping grows with its pairs, and not with their square."""

from __future__ import annotations

import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest

from tests.rewriting.mapping_files.publisher import publisher
from twigcast.errors import MappingError
from twigcast.rewriting import (
    Mapping,
    SchemaTree,
    check_mapping,
    derive,
    mapping_rows,
    mapping_svg,
    read_mapping_file,
)
from twigcast.rewriting.siblings import Siblings
from twigcast.schema import read_dtd

Shape = tuple[str, str, dict[str, str]]


def elements(root: str, children: list[str], below: str = "") -> str:
    return f"<!ELEMENT {root} ({','.join(children)})>" + below


def leaves(names: list[str]) -> str:
    return "".join(f"<!ELEMENT {name} (#PCDATA)>" for name in names)


def flat(n: int) -> Shape:
    """Each child gets another name."""
    one, other = [f"a{i}" for i in range(n)], [f"b{i}" for i in range(n)]
    pairs = {f"s/{a}": f"t/{b}" for a, b in zip(one, other, strict=True)}
    return elements("s", one, leaves(one)), elements("t", other[::-1], leaves(other)), {"s": "t"} | pairs


def wrapped(n: int) -> Shape:
    """Each child gets a made element around it."""
    one, other = [f"a{i}" for i in range(n)], [f"b{i}" for i in range(n)]
    inside = "".join(f"<!ELEMENT {b} ({a})>" for a, b in zip(one, other, strict=True)) + leaves(one)
    pairs = {f"s/{a}": f"t/{b}/{a}" for a, b in zip(one, other, strict=True)}
    return (
        elements("s", one, leaves(one)),
        elements("t", [f"{b}*" for b in other], inside),
        {"s": "t"} | pairs,
    )


def dissolved(n: int) -> Shape:
    """Every second child moves out of its parent, and the other one into a made element."""
    parts = "".join(f"<!ELEMENT x{i} (y{i},z{i})>" for i in range(n))
    leaf = leaves([f"{c}{i}" for i in range(n) for c in "yz"])
    boxes = "".join(f"<!ELEMENT p{i} (z{i})>" for i in range(n))
    pairs = {f"s/x{i}/y{i}": f"t/y{i}" for i in range(n)} | {f"s/x{i}/z{i}": f"t/p{i}/z{i}" for i in range(n)}
    target = elements("t", [f"y{i},p{i}" for i in range(n)], boxes + leaf)
    return elements("s", [f"x{i}*" for i in range(n)], parts + leaf), target, {"s": "t"} | pairs


def exchanged(n: int) -> Shape:
    """Each parent and its child stand the other way round."""
    parts = "".join(f"<!ELEMENT x{i} (y{i})>" for i in range(n)) + leaves([f"y{i}" for i in range(n)])
    whole = "".join(f"<!ELEMENT y{i} (x{i})>" for i in range(n)) + leaves([f"x{i}" for i in range(n)])
    pairs = {f"s/x{i}": f"t/y{i}/x{i}" for i in range(n)} | {f"s/x{i}/y{i}": f"t/y{i}" for i in range(n)}
    names = [[f"{c}{i}" for i in range(n)] for c in "xy"]
    return elements("s", names[0], parts), elements("t", names[1], whole), {"s": "t"} | pairs


def attributes(n: int) -> Shape:
    """Each attribute of one element becomes an element."""
    names = [f"b{i}" for i in range(n)]
    source = f"<!ELEMENT s EMPTY><!ATTLIST s {' '.join(f'a{i} CDATA #IMPLIED' for i in range(n))}>"
    pairs = {f"s/@a{i}": f"t/b{i}" for i in range(n)}
    return source, elements("t", names, leaves(names)), {"s": "t"} | pairs


def shared(n: int) -> Shape:
    """All children go to one place."""
    names = [f"a{i}" for i in range(n)]
    pairs = {f"s/{name}": "t/b" for name in names}
    return elements("s", names, leaves(names)), elements("t", ["b*"], leaves(["b"])), {"s": "t"} | pairs


def calls(work: Callable[[], object]) -> int:
    """How many functions are called, those of C included."""
    found = 0

    def count(frame: object, event: str, argument: object) -> None:
        nonlocal found
        found += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(None)
    return found


def is_linear(counts: list[int]) -> bool:
    """Whether the counts at n, 2n and 4n double, with a logarithm at most."""
    return all(later <= 2.3 * earlier for earlier, later in pairwise(counts))


@pytest.mark.parametrize("shape", [flat, wrapped, dissolved, exchanged, attributes, shared])
def test_deriving_and_planning_are_linear(shape: Callable[[int], Shape]) -> None:
    """Also with thousands of children in one element."""
    derived, planned = [], []
    for n in (60, 120, 240):
        one, other, pairs = shape(n)
        source, target = SchemaTree.of(read_dtd(one.encode())), SchemaTree.of(read_dtd(other.encode()))
        operators: list[Mapping] = []
        derived.append(
            calls(lambda s=source, t=target, p=pairs, o=operators: o.append(Mapping("m", s, derive(s, t, p))))
        )
        planned.append(calls(lambda o=operators: (o[0].image, o[0].canonical, o[0].plan)))
    assert is_linear(derived)
    assert is_linear(planned)


@pytest.mark.parametrize("shape", [flat, wrapped, dissolved, exchanged, attributes, shared])
def test_reading_checking_and_drawing_a_file_is_linear(tmp_path: Path, shape: Callable[[int], Shape]) -> None:
    """With everything hidden that is not matched."""
    counts = []
    for n in (60, 120, 240):
        source, target, pairs = shape(n)
        lines = ['mapping = "m"', 'source = "cmu.dtd"', 'target = "catalogue.dtd"', "[match]"]
        lines += [f'"{place}" = "{image}"' for place, image in pairs.items()]
        path = publisher(
            tmp_path / str(n), "\n".join([*lines, "[unmatched]", 'hide = ["*"]']), source, target
        )

        def work(path: Path = path, pairs: dict[str, str] = pairs) -> None:
            checked = check_mapping(read_mapping_file(path))
            assert checked.is_good
            assert checked.mapping is not None
            mapping_svg(mapping_rows(checked.mapping, pairs, {}), "m")

        counts.append(calls(work))
    assert is_linear(counts)


def test_many_wrong_places_are_reported_in_part(tmp_path: Path) -> None:
    """Each is compared with all names that are there, so that not all of them can be."""
    counts = []
    for n in (200, 400, 800):
        source, target, _ = flat(20)
        lines = ['mapping = "m"', 'source = "cmu.dtd"', 'target = "catalogue.dtd"', "[match]"]
        lines += [f'"s/no{i}" = "t/b1"' for i in range(n)]
        file = read_mapping_file(publisher(tmp_path / str(n), "\n".join(lines), source, target))
        assert len(check_mapping(file).findings) == 101
        counts.append(calls(lambda f=file: check_mapping(f)))
    assert is_linear(counts)


def test_a_mapping_that_moves_too_much_is_refused() -> None:
    """Every event of a document passes all operators that hold elements back."""
    one, other, pairs = exchanged(1025)
    source, target = SchemaTree.of(read_dtd(one.encode())), SchemaTree.of(read_dtd(other.encode()))
    mapping = Mapping("m", source, derive(source, target, pairs))
    with pytest.raises(MappingError, match="1,025 operators move elements") as caught:
        _ = mapping.plan
    assert caught.value.code == "operator"


def test_a_place_that_is_too_deep_is_refused() -> None:
    """The error comes before the stack ends."""
    text = "".join(f"<!ELEMENT a{i} (a{i + 1})>" for i in range(1500)) + "<!ELEMENT a1500 (#PCDATA)>"
    tree = SchemaTree.of(read_dtd(text.encode()), "a0")
    place = "/".join(f"a{i}" for i in range(1500))
    with pytest.raises(MappingError, match="deeper than 256 levels"):
        derive(tree, tree, {place: place})


def test_siblings_keep_their_order_after_many_insertions() -> None:
    """Numbers between two neighbours end after some hundred; then all are numbered anew."""
    source = SchemaTree.of(read_dtd(flat(1200)[0].encode()))
    source.expand(source.root)
    nodes = list(source.root.children)
    row = Siblings(nodes[:2])
    for node in nodes[2:]:
        row.insert_after(nodes[0], node)
    expected = [nodes[0], *nodes[:1:-1], nodes[1]]
    assert list(row) == expected
    assert row.in_order(nodes) == expected
    assert list(reversed(row)) == expected[::-1]
