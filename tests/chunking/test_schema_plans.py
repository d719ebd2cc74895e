"""Plans from random schemas: answers, targets, foreign pairs; documents that keep or break the schema."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random

import pytest

from tests.chunking.strategies import any_scheme, expected, gathered, queries_of
from twigcast.chunking import ChunkQuery, Pair, draw, plan, run_queries
from twigcast.chunking.answers import label_path
from twigcast.chunking.outline import Outline
from twigcast.chunking.scheme import Scheme, contains
from twigcast.document import Document, Element, descendants, read
from twigcast.pattern import select
from twigcast.schema import read_dtd

Model = dict[str, list[tuple[str, str]]]
"""For each element its children, with how often they come: ``*``, ``+``, ``?`` or once."""


def random_model(random: Random) -> Model:
    """Some elements, most of them recursive; sometimes with a prefix, of which the DTD says no namespace."""
    names = list("abcde")[: random.randint(3, 5)]
    if random.random() < 0.3:
        names[1] = "p:b"
    return {
        name: [
            (child, random.choice("*?+")) for child in random.sample(names, random.randint(name == "a", 3))
        ]
        for name in names
    }


def declared(model: Model) -> str:
    """The model as a DTD."""
    contents = [", ".join(child + often for child, often in children) for children in model.values()]
    pairs = zip(model, contents, strict=True)
    return "".join(f"<!ELEMENT {name} ({content or '#PCDATA'})>" for name, content in pairs)


def element(random: Random, model: Model, name: str, left: int, oddness: float) -> str:
    """An element of the model; with some oddness it has children that it must not have."""
    children = [
        child
        for child, often in model[name]
        for _ in range(random.choice({"*": [0, 1, 2], "?": [0, 1], "+": [1, 2]}[often]))
    ]
    if random.random() < oddness:
        children.append(random.choice(list(model)))
    inside = "".join(
        element(random, model, child, left - 1, oddness) + random.choice(["", "", "x", "5"])
        for child in (children if left else ())
    )
    attributes = random.choice(["", " x='1'", " x='2'"]) + (" xmlns:p='u'" if ":" in name else "")
    return f"<{name}{attributes}>{inside or random.choice(['', 'x', '5'])}</{name}>"


def pairs_of(document: Document) -> set[Pair]:
    """Each element and its parent, by name."""
    found: set[Pair] = set()
    for each in descendants(document):
        parent = (each.parent.namespace, each.parent.local) if isinstance(each.parent, Element) else None
        found.add((parent, (each.namespace, each.local)))
    return found


def has_one_target(scheme: Scheme, query: ChunkQuery, document: Document) -> bool:
    """Whether each selected label path is in exactly one target of the query."""
    (placed,) = (each for each in scheme.queries if each.query is query)
    assert query.pattern is not None
    return bool(placed.whole) or all(
        sum(contains(target.target, label_path(node)) for target in placed.targets) == 1
        for node in select(query.pattern, document)
    )


@pytest.mark.parametrize("seed", range(3))
def test_documents_that_keep_or_break_the_schema(seed: int, tmp_path: Path) -> None:
    """The answers are those of the whole document; foreign pairs are those that the schema does not have."""
    random = Random(seed)
    kept = broken = 0
    for number in range(12):
        model = random_model(random)
        file = tmp_path / f"{number}.dtd"
        file.write_text(declared(model))
        outline = Outline.of_graph(read_dtd(file, root="a"))
        root = random.choice(["a", "a", random.choice(list(model))])
        body = element(random, model, root, random.choice([3, 5]), random.choice([0, 0.1])).encode()
        document = read(body)
        queries = queries_of(random, document, 5)
        scheme = any_scheme(random, queries, outline)
        cut = run_queries(body, scheme, part_bytes=random.choice([1, 60, 1 << 20]))
        found = gathered(cut, scheme)
        assert found == sum((expected(query, document) for query in queries), Counter())
        foreign = {pair for pair in pairs_of(document) if not outline.has(*pair)}
        assert set(cut.foreign) == foreign
        if not foreign:
            assert all(has_one_target(scheme, query, document) for query in queries)
        broken += bool(foreign)
        kept += not foreign
    assert min(kept, broken) > 1


def test_a_schema_with_prefixes_is_planned_and_drawn(tmp_path: Path) -> None:
    """A DTD says no namespace of a prefix; names without one are sorted among the others."""
    file = tmp_path / "prefixed.dtd"
    file.write_text("<!ELEMENT a (b*, p:c*)><!ELEMENT b EMPTY><!ELEMENT p:c EMPTY>")
    queries = [ChunkQuery(1, "/a/b"), ChunkQuery(2, "/a/p:c", {"p": "u"})]
    scheme = plan(queries, read_dtd(file, root="a"))
    assert [chunk.name for chunk in scheme.chunks] == ["b", "c"]
    assert "└── c" in draw(scheme)
    body = b"<a><b/><q:c xmlns:q='u'/></a>"
    assert sorted((each.query, each.start) for each in run_queries(body, scheme)) == [(1, 3), (2, 7)]
