"""Generates random documents that are valid against a schema.

Each element has a budget: the number of elements that its subtree should have.  Its children are drawn from
the content model: optional children with a fixed probability, repetitions from a geometric distribution,
alternatives from a Zipf distribution.  Repetitions are added while the children fall short of the budget, and
the rest of the budget is divided among the children that can grow.

    body 90 ──► body.head 12, body.content 71, body.end 6
                                   └──► p 20, table 31, p 7, media 13   (repetitions fill the budget)

So documents have the requested size with every schema, and the large subtrees are at different places.
Rejected: a branching process without budgets, since near the critical fan-out most documents are tiny and a
few are huge.

Depth is limited by the minimal heights of the elements: with h levels left, only children are chosen whose
smallest tree has at most h levels.
"""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import accumulate
from math import log
from random import Random
from typing import TypeAlias
from xml.sax.saxutils import escape

from twigcast.errors import SchemaError
from twigcast.schema import (
    AttributeDeclaration,
    AttributeKind,
    Child,
    Choice,
    ContentKind,
    ElementDeclaration,
    ElementGraph,
    Particle,
    Presence,
    Sequence,
    particle_height,
)
from twigcast.workload.vocabulary import attribute_pool, element_pool, identifier, text_pool


@dataclass(frozen=True, slots=True)
class DocumentOptions:
    """The parameters of generated documents; by default, NITF documents have 7.5 KB and 117 elements.

    The papers give few parameters: at most 10 levels (routing, section 5); for NITF 50, 129 or 201 elements
    on average (thesis, Table 4.1).
    """

    seed: int = 0
    elements: int = 117
    """Elements of a document on average, as far as the schema allows."""
    spread: float = 0.5
    """How much the number of elements varies between documents, as a fraction of the average."""
    max_depth: int = 10
    """Levels of elements, the root being the first."""
    optional: float = 0.5
    """The probability of an optional child."""
    fan_out: float = 2.0
    """The average number of repetitions where the schema sets no bound, before the budget adds to them."""
    skew: float = 2.1
    """Zipf skew of the alternatives of a choice, in the order of their declaration; 0 is uniform."""
    attributes: float = 0.25
    """The probability of an optional attribute."""
    words: float = 8.0
    """Words of a phrase on average."""
    single: float = 0.3
    """The fraction of texts that are a single value, a word or a number, and not a phrase."""
    test_element: float | None = None
    """The part of a document, above 0 and at most 1, after which a ``<test/>`` is inserted; None for none.

    The element is not of the schema.  With ``SubscriptionOptions.test_condition`` no subscription matches
    before it; so the papers on piggybacking set the part that is read until the first match.
    """

    def __post_init__(self) -> None:
        for name in ("spread", "optional", "attributes", "single"):
            if not 0.0 <= getattr(self, name) <= 1.0:
                raise ValueError(f"{name} must be between 0 and 1, not {getattr(self, name)}")
        if self.elements < 1 or not 1 <= self.max_depth <= 500:
            raise ValueError("elements must be at least 1, max_depth between 1 and 500")
        if self.fan_out <= 0 or self.skew < 0 or self.words < 2:
            raise ValueError("fan_out must be positive, skew not negative, words at least 2")
        if self.test_element is not None and not 0.0 < self.test_element <= 1.0:
            raise ValueError(f"test_element must be above 0 and at most 1, not {self.test_element}")


def generate_documents(
    graph: ElementGraph, count: int, options: DocumentOptions | None = None, *, first: int = 0
) -> Iterator[bytes]:
    """Documents number ``first`` to ``first + count - 1``, valid against the schema.

    A document depends only on the schema, the options and its number, so each can be generated again by
    itself.  A required IDREF refers to nothing if no element of the document has an ID.
    """
    options = options or DocumentOptions()
    root = _compile(graph, options)
    for number in range(first, first + count):
        body = _Writer(Random(f"{options.seed}/{number}"), options).document(root)
        yield body if options.test_element is None else _with_test_element(body, options.test_element)


_UNBOUNDED = 1 << 30
_LARGEST = 1e6


@dataclass(slots=True, eq=False)
class _Maker:
    """How an element is generated; ``sizes`` by levels left are its expected elements without a budget."""

    opening: str
    closing: str
    has_text: bool
    texts: tuple[str, ...]
    attributes: list[_AttributeMaker]
    least: float
    """Elements of its smallest tree."""
    model: _Part | None = None
    sizes: list[float] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class _AttributeMaker:
    """How an attribute is written: how often, and each of its pool of values with name and quotes."""

    name: str
    kind: AttributeKind
    probability: float
    written: tuple[str, ...]


@dataclass(slots=True, eq=False)
class _Part:
    """A particle ready to be drawn from: of a choice, by levels left, the alternatives that fit."""

    least: int
    most: int
    height: int
    """Levels that one occurrence needs."""
    child: _Maker | None = None
    sequence: tuple[_Part, ...] = ()
    alternatives: list[tuple[tuple[_Part, ...], list[float]]] = field(default_factory=list)


_Nested: TypeAlias = "list[_Maker | _Nested]"


class _Writer:
    """The state of one document: its pieces of text, and the references to fill in at the end."""

    def __init__(self, rng: Random, options: DocumentOptions) -> None:
        self.random = rng.random
        self.options = options
        self.repetition = 1.0 / log(options.fan_out / (1.0 + options.fan_out))
        self.wording = 1.0 / log(1.0 - 1.0 / (options.words - 1.0)) if options.words > 2.0 else 0.0
        self.running_text = text_pool()
        self.pieces: list[str] = []
        self.identifiers = 0
        self.references: list[tuple[int, _AttributeMaker]] = []
        self.unidentified: tuple[int, _AttributeMaker] | None = None
        # The children being drawn: what they need, to what they would grow, which lists may get more.
        self.need = 0.0
        self.growth = 0.0
        self.growing: list[tuple[_Nested, _Part]] = []

    def document(self, root: _Maker) -> bytes:
        options = self.options
        budget = options.elements * (1.0 + options.spread * (2.0 * self.random() - 1.0))
        self.element(root, budget, options.max_depth)
        self.refer()
        self.pieces.append("\n")
        return "".join(self.pieces).encode()

    def element(self, maker: _Maker, budget: float, levels: int) -> None:
        pieces, random = self.pieces, self.random
        pieces.append(maker.opening)
        for attribute in maker.attributes:
            if random() < attribute.probability:
                self.attribute(attribute)
            elif attribute.kind is AttributeKind.ID and self.unidentified is None:
                self.unidentified = len(pieces), attribute
                pieces.append("")
        below = levels - 1
        budget -= 1.0
        children = [] if maker.model is None else self.children(maker.model, budget, below)
        if not children:
            if maker.has_text:
                pieces += (">", self.phrase(maker), maker.closing)
            else:
                pieces.append("/>")
            return
        pieces.append(">" if maker.has_text else ">\n")
        # Of the budget each child has what it needs, and of the rest a random share by how it can grow.
        shares = [(child.sizes[below] - child.least) * -log(1.0 - random()) for child in children]
        rest = budget - sum([child.least for child in children])
        total = sum(shares)
        scale = rest / total if rest > 0.0 and total > 0.0 else 0.0
        if maker.has_text:
            for child, share in zip(children, shares, strict=True):
                if random() < 0.6:
                    pieces += (self.phrase(maker), " ")
                self.element(child, child.least + share * scale, below)
                pieces.append(" ")
            if random() < 0.6:
                pieces.append(self.phrase(maker))
        else:
            for child, share in zip(children, shares, strict=True):
                self.element(child, child.least + share * scale, below)
                pieces.append("\n")
        pieces.append(maker.closing)

    def attribute(self, attribute: _AttributeMaker) -> None:
        kind = attribute.kind
        if kind is AttributeKind.ID:
            self.identifiers += 1
            self.pieces.append(f' {attribute.name}="{identifier(self.identifiers)}"')
        elif kind is AttributeKind.IDREF or kind is AttributeKind.IDREFS:
            self.references.append((len(self.pieces), attribute))
            self.pieces.append("")
        else:
            written = attribute.written
            self.pieces.append(written[int(self.random() * len(written))])

    def phrase(self, maker: _Maker) -> str:
        texts = maker.texts
        start = int(self.random() * len(texts))
        if texts is not self.running_text or self.random() < self.options.single:
            return texts[start]
        length = 2 + int(log(1.0 - self.random()) * self.wording)
        return " ".join(texts[start : start + length])

    def refer(self) -> None:
        """Fill in the references, now that all identifiers of the document are known."""
        required = any(attribute.probability >= 1.0 for _, attribute in self.references)
        if required and not self.identifiers and self.unidentified is not None:
            self.identifiers = 1
            place, attribute = self.unidentified
            self.pieces[place] = f' {attribute.name}="{identifier(1)}"'
        for place, attribute in self.references:
            if self.identifiers or attribute.probability >= 1.0:
                number = 1 + int(self.random() * self.identifiers)
                self.pieces[place] = f' {attribute.name}="{identifier(number)}"'

    def children(self, model: _Part, budget: float, levels: int) -> list[_Maker]:
        """Draw children that the model admits, enough of them to use up the budget if possible."""
        if budget < 1.0 and model.least == 0:
            return []
        self.need, self.growth, self.growing = 0.0, 0.0, []
        nested: _Nested = []
        self.repeat(model, nested, budget, levels)
        growing = self.growing
        while growing and self.growth + self.random() < budget:
            place = int(self.random() * len(growing))
            into, part = growing[place]
            before = self.need
            self.once(part, into, budget, levels)
            if self.need == before:  # it came out empty, and may do so for ever
                growing[place] = growing[-1]
                growing.pop()
        return _flat(nested, [])

    def repeat(self, part: _Part, into: _Nested, budget: float, levels: int) -> None:
        for _ in range(part.least):
            self.once(part, into, budget, levels)
        if part.most == part.least or part.height > levels:
            return
        if part.most == _UNBOUNDED:
            more: _Nested = []
            into.append(more)
            self.growing.append((more, part))
            for _ in range(int(log(1.0 - self.random()) * self.repetition)):
                if self.need + self.random() > budget:  # so that the budget is met on average
                    return
                self.once(part, more, budget, levels)
        else:
            for _ in range(part.most - part.least):
                if self.random() < self.options.optional and self.need + self.random() <= budget:
                    self.once(part, into, budget, levels)

    def once(self, part: _Part, into: _Nested, budget: float, levels: int) -> None:
        child = part.child
        if child is not None:
            into.append(child)
            self.need += child.least
            self.growth += child.sizes[levels]
        elif part.alternatives:
            parts, cumulative = part.alternatives[levels]
            self.repeat(parts[bisect(cumulative, self.random() * cumulative[-1])], into, budget, levels)
        else:
            for each in part.sequence:
                self.repeat(each, into, budget, levels)


def _flat(nested: _Nested, into: list[_Maker]) -> list[_Maker]:
    for each in nested:
        if isinstance(each, list):
            _flat(each, into)
        else:
            into.append(each)
    return into


def _compile(graph: ElementGraph, options: DocumentOptions) -> _Maker:
    height = graph.heights.get(graph.root)
    if height is None:
        raise SchemaError(
            f"no document is valid: <{graph.root}> needs an element that is not declared, or itself"
        )
    if height > options.max_depth:
        raise SchemaError(
            f"a document of <{graph.root}> has {height} levels at least, max_depth allows {options.max_depth}"
        )
    smallest = _smallest(graph)
    written: dict[AttributeDeclaration, tuple[str, ...]] = {}
    makers = {
        element.name: _maker(element, least, options, written)
        for element in graph
        if (least := smallest.get(element.name)) is not None
    }
    for element in graph:
        model = element.model
        if element.content is ContentKind.ANY:
            model = Choice(tuple(Child(name) for name in makers), 0, None)
        if model is not None and element.name in makers:
            makers[element.name].model = _part(model, graph.heights, makers, options)
    _measure(list(makers.values()), options)
    root = makers[graph.root]
    if graph.namespaces:
        declarations = "".join(
            f" xmlns{':' if prefix else ''}{prefix}={_quoted(uri)}" for prefix, uri in graph.namespaces
        )
        root = replace(root, opening=root.opening + declarations)
    return root


def _maker(
    element: ElementDeclaration,
    least: float,
    options: DocumentOptions,
    written: dict[AttributeDeclaration, tuple[str, ...]],
) -> _Maker:
    attributes = []
    for attribute in element.attributes:
        if attribute not in written:
            pool = attribute_pool(attribute)
            forms = {value: f" {attribute.name}={_quoted(value)}" for value in set(pool)}
            written[attribute] = tuple(forms[value] for value in pool)
        attributes.append(
            _AttributeMaker(
                attribute.name, attribute.kind, _probability(attribute, options), written[attribute]
            )
        )
    texts = element_pool(element)
    if element.values:
        texts = tuple(escape(text) for text in texts)
    return _Maker(f"<{element.name}", f"</{element.name}>", element.has_text, texts, attributes, least)


def _probability(attribute: AttributeDeclaration, options: DocumentOptions) -> float:
    if attribute.presence is Presence.REQUIRED:
        return 1.0
    if attribute.name == "xmlns" or attribute.name.startswith("xmlns:"):
        return 0.0 if attribute.default is None else 1.0  # not data: other names may rest on it
    return 0.0 if attribute.kind is AttributeKind.ENTITY else options.attributes


def _part(
    particle: Particle, heights: dict[str, int], makers: dict[str, _Maker], options: DocumentOptions
) -> _Part | None:
    """The particle without parts that have no valid tree; ``None`` if it is required and has none itself."""
    most = _UNBOUNDED if particle.most is None else particle.most
    height = particle_height(replace(particle, least=1), heights)
    if height is None:  # to say nothing is still an alternative of a choice
        return _Part(0, 0, 0) if particle.least == 0 else None
    part = _Part(particle.least, most, height)
    if isinstance(particle, Child):
        part.child = makers[particle.name]
        return part
    parts = [made for each in particle.parts if (made := _part(each, heights, makers, options)) is not None]
    if isinstance(particle, Sequence):
        part.sequence = tuple(parts)
        return part
    weights = [1.0 / rank**options.skew for rank in range(1, len(parts) + 1)]
    for levels in range(options.max_depth + 1):
        fitting = [place for place, each in enumerate(parts) if each.least == 0 or each.height <= levels]
        part.alternatives.append(
            (tuple(parts[place] for place in fitting), list(accumulate(weights[place] for place in fitting)))
        )
    return part


def _smallest(graph: ElementGraph) -> dict[str, float]:
    """The size of the smallest valid tree of each element, computed as a fixpoint."""
    sizes = dict.fromkeys(graph.heights, _LARGEST)
    changed = True
    while changed:
        changed = False
        for name in sizes:
            model = graph[name].model
            size = 1.0 + (0.0 if model is None else _smallest_content(model, sizes))
            if size < sizes[name]:
                sizes[name] = size
                changed = True
    return sizes


def _smallest_content(particle: Particle, sizes: dict[str, float]) -> float:
    if particle.least == 0:
        return 0.0
    if isinstance(particle, Child):
        return particle.least * sizes.get(particle.name, _LARGEST)
    parts = [_smallest_content(part, sizes) for part in particle.parts]
    return particle.least * (sum(parts) if isinstance(particle, Sequence) else min(parts, default=0.0))


def _measure(makers: list[_Maker], options: DocumentOptions) -> None:
    """Compute the expected sizes level by level: those with h levels left from those with h - 1."""
    for maker in makers:
        maker.sizes.append(maker.least)
    for levels in range(options.max_depth):
        for maker in makers:
            inner = 0.0 if maker.model is None else _expected(maker.model, levels, options)
            maker.sizes.append(min(max(1.0 + inner, maker.least), _LARGEST))


def _expected(part: _Part, levels: int, options: DocumentOptions) -> float:
    times = float(part.least)
    if part.height <= levels:
        times += options.fan_out if part.most == _UNBOUNDED else (part.most - part.least) * options.optional
    if times == 0.0:
        return 0.0
    if part.child is not None:
        return times * part.child.sizes[levels]
    if not part.alternatives:
        return times * sum(_expected(each, levels, options) for each in part.sequence)
    parts, cumulative = part.alternatives[levels]
    if not parts:
        return 0.0
    weights = [high - low for low, high in zip([0.0, *cumulative], cumulative, strict=False)]
    means = (_expected(each, levels, options) * weight for each, weight in zip(parts, weights, strict=True))
    return times * sum(means) / cumulative[-1]


def _quoted(value: str) -> str:
    return '"' + escape(value, {'"': "&quot;", "\n": "&#10;", "\t": "&#9;"}) + '"'


_TAG = re.compile(rb"<[^>]*>")  # a generated document has tags only, and no > in values
_DEFAULT_NAMESPACE = re.compile(rb"\sxmlns=[\"'][^\"']")


def _with_test_element(body: bytes, part: float) -> bytes:
    """Insert ``<test/>`` after the first tag that ends at this part of the document, and within the root."""
    element = b'<test xmlns=""/>' if _DEFAULT_NAMESPACE.search(body) else b"<test/>"
    root = body[: body.index(b">") + 1]
    if root.endswith(b"/>"):
        name = root[1:-2].split()[0]
        return root[:-2] + b">" + element + b"</" + name + b">" + body[len(root) :]
    wanted = part * len(body)
    place = next((tag.end() for tag in _TAG.finditer(body) if tag.end() >= wanted), len(body))
    place = min(place, body.rindex(b"</"))
    return body[:place] + element + body[place:]
