"""What is read from a DTD with prefixes, compared with lxml, which reads the same text."""

from __future__ import annotations

import re
from io import BytesIO
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree

from experiments.engines.routing.conformance import describes
from tests.schema.dtd_texts import NAMES, NAMESPACES, deterministic_graph
from twigcast.analysis import schema_automaton
from twigcast.schema import Child, Choice, ContentKind, ElementGraph, Particle, read_dtd, write_dtd
from twigcast.workload import DocumentOptions, generate_documents


@settings(deadline=None, max_examples=200)
@given(st.randoms(use_true_random=False))
def test_what_is_written_is_read_again(random: Random) -> None:
    """All names with their prefixes, groups and occurrences."""
    graph = deterministic_graph(random)
    assert read_dtd(write_dtd(graph).encode(), graph.root) == graph


@settings(deadline=None, max_examples=100)
@given(st.randoms(use_true_random=False))
def test_generated_documents_are_valid(random: Random) -> None:
    """A document that is generated from what was read is valid, as lxml says."""
    text = write_dtd(deterministic_graph(random)).encode()
    graph = read_dtd(text, NAMES[0])
    if NAMES[0] in graph.heights:
        depth = max(10, graph.heights[NAMES[0]])
        options = DocumentOptions(seed=random.randrange(100), elements=20, max_depth=depth)
        rules = etree.DTD(BytesIO(text))
        for body in generate_documents(graph, 5, options):
            assert rules.validate(etree.fromstring(body)), (rules.error_log.last_error, body)


@settings(deadline=None, max_examples=300)
@given(st.randoms(use_true_random=False))
def test_the_graph_admits_what_is_valid(random: Random) -> None:
    """Of documents of any structure, exactly those that lxml says are valid; each of them is described."""
    graph = deterministic_graph(random)
    text = write_dtd(graph).encode()
    read, rules = read_dtd(text, graph.root), etree.DTD(BytesIO(text))
    automaton = schema_automaton(read)
    for _ in range(10):
        body = any_document(random, graph)
        root = etree.fromstring(body)
        if any(is_overlooked(read, node) for node in root.iter()):
            continue
        is_valid = rules.validate(root)
        assert all(admits(read, node) for node in root.iter()) == is_valid, (text, body, rules.error_log)
        assert describes(automaton, body) or not is_valid


def any_document(random: Random, graph: ElementGraph) -> bytes:
    """A small document whose children are mostly those of the schema, and now and then others."""
    bindings = "".join(f' xmlns:{prefix}="{uri}"' for prefix, uri in NAMESPACES.items())

    def element(name: str, levels: int, attributes: str) -> str:
        inside = ""
        if levels and random.random() < 0.9:
            names = some_children(random, graph[name].model) if name in graph else []
            if random.random() < 0.1:
                names.insert(random.randint(0, len(names)), random.choice(NAMES))
            inside = "".join(element(each, levels - 1, "") for each in names)
        return f"<{name}{attributes}>{inside}</{name}>"

    return element(graph.root, 3, bindings).encode()


def some_children(random: Random, particle: Particle | None) -> list[str]:
    """The names of one content that a model admits."""
    if particle is None:
        return []
    times = random.randint(particle.least, particle.least + 1 if particle.most is None else particle.most)
    if isinstance(particle, Child):
        return [particle.name] * times
    found: list[str] = []
    for _ in range(times):
        chosen = [random.choice(particle.parts)] if isinstance(particle, Choice) else particle.parts
        for part in chosen:
            found += some_children(random, part)
    return found


def admits(graph: ElementGraph, node: etree._Element) -> bool:
    """Whether the children of a node are a content of its model, which is read as a regular expression."""
    declaration = graph[_name(node)]
    if declaration.content is ContentKind.ANY:
        return True
    if declaration.content is ContentKind.EMPTY:
        return len(node) == 0
    content = "".join(f"<{_name(child)}>" for child in node)
    return re.fullmatch(_expression(declaration.model), content) is not None


def is_overlooked(graph: ElementGraph, node: etree._Element) -> bool:
    """Whether a child in mixed content has only the local name of an admitted one, which libxml2 accepts."""
    names = {child.name for child in graph.children(_name(node))}
    locals = {name.rpartition(":")[2] for name in names}
    return graph[_name(node)].content is ContentKind.MIXED and any(
        _name(child) not in names and etree.QName(child).localname in locals for child in node
    )


def _expression(particle: Particle | None) -> str:
    if particle is None:
        return ""
    times = {(1, 1): "", (0, 1): "?", (0, None): "*", (1, None): "+"}[particle.least, particle.most]
    if isinstance(particle, Child):
        return f"(?:<{re.escape(particle.name)}>){times}"
    between = "|" if isinstance(particle, Choice) else ""
    return f"(?:{between.join(map(_expression, particle.parts))}){times}"


def _name(node: etree._Element) -> str:
    local = etree.QName(node).localname
    return f"{node.prefix}:{local}" if node.prefix else local
