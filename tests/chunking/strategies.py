"""Queries that are built from a document, so that they nearly match: its own paths, relatives and values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from random import Random

from experiments.engines.chunking.printed_prefixes import printed_prefixes
from tests.pattern.strategies import NAMESPACES, document
from twigcast.chunking import choose
from twigcast.chunking.answers import Answer, kind_of
from twigcast.chunking.outline import Names, Outline
from twigcast.chunking.planning import assemble, place_query, query_tree
from twigcast.chunking.profile import profile
from twigcast.chunking.query import ChunkQuery
from twigcast.chunking.running import run_queries
from twigcast.chunking.scheme import Scheme
from twigcast.document import Document, Element, PartCutter, descendants, elements, read, string_value
from twigcast.errors import PatternError
from twigcast.pattern import evaluate, select


def plain_document(random: Random, depth: int = 5) -> bytes:
    """Nested elements of three names with values, so that positions and values matter often."""

    def element(name: str, left: int) -> str:
        attributes = random.choice(["", "", ' x="1"', ' x="2"'])
        count = random.choice([0, 1, 2, 3, 4]) if left else 0
        inside = "".join(
            random.choice(["", "", "x", "5", "<!--c-->"]) + element(random.choice("abc"), left - 1)
            for _ in range(count)
        )
        return f"<{name}{attributes}>{inside}{random.choice(['', '', 'x', '5'])}</{name}>"

    return element("r", depth).encode()


def any_document(random: Random) -> bytes:
    """A document with everything, or a plain one, that in some encoding."""
    if random.random() < 0.4:
        return document(random)
    body = plain_document(random, random.choice([3, 4, 5]))
    encoding = random.choice(["utf-8", "utf-8", "utf-8", "UTF-16", "ISO-8859-1", "Shift_JIS", "gb18030"])
    if encoding == "utf-8":
        return body
    text = body.decode().replace("x<", "\u8868<" if encoding in ("Shift_JIS", "gb18030") else "x<")
    return f'<?xml version="1.0" encoding="{encoding}"?>{text}'.encode(encoding)


ENDS = [
    *("/text()", "/@x", "/@*", "//text()", "/node()", "/comment()", "/processing-instruction()", "//@x"),
    *(
        "/..",
        "/following-sibling::*",
        "/ancestor::*",
        "/descendant-or-self::*",
        "//*[1]",
        "/descendant::*[2]",
    ),
    *("/following::*[1]", "/parent::*/@x", "/*[last()]"),
]


def query_text(random: Random, read_document: Document) -> str:
    """A path of the document, which may go on along any axis, be filtered, or be united with another."""
    text = path_text(random, read_document)
    if random.random() < 0.3:
        text += random.choice(ENDS)
    kind = random.random()
    if kind < 0.04:
        text = f"({text})[{random.choice(['1', '2', 'last()'])}]"
    elif kind < 0.08:
        text = f"({text})[{_condition(random, read_document.root)}]"
    elif kind < 0.1:
        text = f"({text})[1]{random.choice(['/*', '//b', '/text()', '/@x'])}"
    return f"{text} | {path_text(random, read_document)}" if random.random() < 0.1 else text


def path_text(random: Random, read_document: Document) -> str:
    """The path of a node with some steps as ``*`` and ``//``, and predicates from real relatives."""
    around = list(descendants(read_document))
    node: Document | Element = random.choice(around)
    chain: list[Element] = []
    while isinstance(node, Element):
        chain.insert(0, node)
        node = node.parent
    text, skipped = "", False
    for number, element in enumerate(chain):
        if number < len(chain) - 1 and random.random() < 0.2:
            skipped = True
            continue
        text += "//" if skipped or random.random() < 0.2 else "/"
        skipped = False
        text += "*" if random.random() < 0.15 else _name(element)
        while random.random() < 0.35:
            text += f"[{_condition(random, element)}]"
    return text


def _name(element: Element) -> str:
    return f"Q{{{element.namespace}}}{element.local}" if element.namespace else element.local


def _quoted(value: str) -> str:
    return f'"{value}"' if '"' not in value else "'x'"


def _condition(random: Random, element: Element) -> str:
    """A condition that is true of the element, or nearly."""
    inside = list(elements(element))
    below = list(descendants(element))
    siblings = [each for each in elements(element.parent) if each.local == element.local]
    choices = [
        str(siblings.index(element) + 1),
        f"position() <= {siblings.index(element) + 1}",
        "last()",
        f". = {_quoted(string_value(element))}",
        f"count(*) = {len(inside)}",
        "not(q)",
        f"text() = {_quoted(random.choice(['x', '5', '5x']))}",
        "text()",
        "@x",
        "@x = '1'",
        "string-length(.) > 1",
        random.choice(["following-sibling::*", "preceding::*[@x]", "ancestor::*[2]", "last() > 1"]),
    ]
    if inside:
        child = random.choice(inside)
        name = _name(child)
        choices += [
            name,
            f"{name} = {_quoted(string_value(child))}",
            f"contains({name}, {_quoted(string_value(child)[:2] or 'x')})",
            f"count({name}) = {sum(each.local == child.local for each in inside)}",
            f"{name}/@x = '1'",
            f"{name}/text()",
            f"{name}[1][@x]",
            f"not({name}/*)",
            f"{name}[{_condition(random, child)}]" if random.random() < 0.5 else f"{name}/*[2]",
            f"count({name}) * 2 > 2",
            f"{name}[last()] = '5'",
        ]
    if below:
        deep = random.choice(below)
        choices += [f".//{_name(deep)}", f".//{_name(deep)} = {_quoted(string_value(deep))}"]
    return random.choice(choices)


def queries_of(random: Random, read_document: Document, count: int) -> list[ChunkQuery]:
    """Queries of the language that are built from a document."""
    found: list[ChunkQuery] = []
    while len(found) < count:
        answers = random.choice(["content", "content", "ranges"])
        text, engine = query_text(random, read_document), random.choice(["auto", "auto", "select"])
        form = random.choice(["document", "document", "range"])
        query = ChunkQuery(len(found), text, NAMESPACES, engine=engine, answers=answers, form=form)
        try:
            if query.pattern is not None:
                found.append(query)
        except PatternError:
            continue
    return found


def random_prefixes(random: Random, placed: list[Names]) -> list[Names]:
    """Prefixes cut from paths, not those that a plan would choose."""
    cut = {path[: random.randint(2, len(path))] for path in placed if len(path) > 1 and random.random() < 0.6}
    return sorted(cut, key=str)


def random_scheme(
    random: Random, queries: list[ChunkQuery], outline: Outline, *, whole: bool = False
) -> Scheme:
    """A scheme with random prefixes."""
    placed = [place_query(query, outline) for query in queries]
    paths = [target.target.path for each in placed for target in each.targets]
    return assemble(placed, random_prefixes(random, paths), outline, whole=whole)


def outline_of(body: bytes) -> Outline:
    """The outline of a document, from its profile."""
    return Outline.of_profile(profile([body]))


def expected(query: ChunkQuery, read_document: Document) -> Counter[tuple[object, ...]]:
    """What ``select`` finds in the whole document: kinds, byte ranges, and the parts of ``match``."""
    assert query.pattern is not None
    if query.value is not None:
        value = evaluate(query.value, read_document)
        return Counter([(query.id, "value", value if value == value else "NaN")])
    found = select(query.pattern, read_document)
    parts = PartCutter(read_document, query.form).cut(found)
    return Counter(
        (query.id, kind_of(node), node.start, node.end, _content(query, kind_of(node), part))
        for node, part in zip(found, parts, strict=True)
    )


def _content(query: ChunkQuery, kind: str, content: object) -> object:
    """The content that is compared: a chunk has nothing after the root element."""
    return content if kind != "document" and query.answers == "content" else None


def answered(body: bytes, scheme: Scheme, part_bytes: int) -> Counter[tuple[object, ...]]:
    """What a scheme finds: kinds, byte ranges and contents."""
    cut = run_queries(body, scheme, part_bytes=part_bytes)
    found = gathered(cut, scheme)
    assert cut.error is None
    assert not cut.failures
    return found


def gathered(answers: Iterable[Answer], scheme: Scheme) -> Counter[tuple[object, ...]]:
    """Answers as they are compared with what is expected."""
    queries = {each.query.id: each.query for each in scheme.queries}
    found: Counter[tuple[object, ...]] = Counter()
    for answer in answers:
        if answer.kind == "value":
            found[answer.query, "value", answer.content if answer.content == answer.content else "NaN"] += 1
            continue
        content = _content(queries[answer.query], answer.kind, answer.content)
        found[answer.query, answer.kind, answer.start, answer.end, content] += 1
        assert queries[answer.query].answers == "content" or answer.content is None
    return found


def any_scheme(random: Random, queries: list[ChunkQuery], outline: Outline) -> Scheme:
    """A scheme with random prefixes, or with those of one of the two algorithms; lean or whole."""
    whole = random.random() < 0.2
    if random.random() < 0.6:
        return random_scheme(random, queries, outline, whole=whole)
    placed = [place_query(query, outline) for query in queries]
    prefixes = random.choice([choose, printed_prefixes])(query_tree(placed), random.choice([1, 2, 8]))
    return assemble(placed, prefixes, outline, whole=whole)


def differences(random: Random, documents: int, *, foreign: bool = False) -> tuple[int, int]:
    """How many pairs of a document and a query have other answers from chunks, and how many there were."""
    wrong = total = 0
    for _ in range(documents):
        body = any_document(random)
        read_document = read(body)
        queries = queries_of(random, read_document, 6)
        outline = outline_of(plain_document(random, 3)) if foreign else outline_of(body)
        scheme = any_scheme(random, queries, outline)
        found = answered(body, scheme, random.choice([1, 60, 1 << 20]))
        for query in queries:
            total += 1
            own = Counter({key: count for key, count in found.items() if key[0] == query.id})
            wrong += own != expected(query, read_document)
    return wrong, total
