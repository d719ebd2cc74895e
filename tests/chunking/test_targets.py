"""Tests of targets: the paper's examples of cleaning, record paths, and what never matches."""

from __future__ import annotations

from random import Random

import pytest

from twigcast.chunking.answers import label_path
from twigcast.chunking.outline import Outline
from twigcast.chunking.planning import place_query
from twigcast.chunking.query import ChunkQuery
from twigcast.chunking.reach.targets import find_targets
from twigcast.chunking.scheme import contains
from twigcast.document import read
from twigcast.pattern import parse, render, select
from twigcast.schema import read_dtd

FIGURE_4 = """<!ELEMENT a (b+)><!ELEMENT b (l*,m*,k*)><!ELEMENT l (c*)><!ELEMENT m (c*,a*)><!ELEMENT k (d*)>
<!ELEMENT d EMPTY><!ELEMENT c EMPTY>"""


@pytest.fixture(scope="module")
def outline(tmp_path_factory: pytest.TempPathFactory) -> Outline:
    """The outline of the paper's figure 4."""
    file = tmp_path_factory.mktemp("schema") / "figure-4.dtd"
    file.write_text(FIGURE_4)
    return Outline.of_graph(read_dtd(file, root="a"))


def test_a_parent_step_becomes_a_filter() -> None:
    """``/a/b/../c`` is ``/a[b]/c``."""
    assert render(parse("/a/b/../c")) == "/a[b]/c"


@pytest.mark.parametrize(
    ("text", "targets"),
    [
        ("/a/b/*/c", ["/a/b/l/c", "/a/b/m/c"]),
        ("/a/b/*/d", ["/a/b/k/d"]),
        ("//c", ["/a/b/m/a//", "/a/b/l/c", "/a/b/m/c"]),
        ("//d", ["/a/b/m/a//", "/a/b/k/d"]),
        ("/a/d", []),
        ("/a/b/m", ["/a/b/m"]),
    ],
)
def test_targets_of_figure_4(outline: Outline, text: str, targets: list[str]) -> None:
    """Wildcards and ``//`` are resolved by the schema; recursion is an open target (trap 13)."""
    assert sorted(map(str, find_targets(parse(text), outline))) == sorted(targets)


def test_a_query_that_never_matches_says_where_it_ends(outline: Outline) -> None:
    """The step at which the schema ends it."""
    assert place_query(ChunkQuery("q", "/a/d"), outline).never == "a has no child d"
    assert place_query(ChunkQuery("q", "/a/b//x"), outline).never == "b has no element below it x"


def test_every_selected_label_path_is_in_exactly_one_target(outline: Outline) -> None:
    """On generated documents of the schema, also in its recursion."""
    random = Random(5)

    def element(name: str, left: int) -> str:
        inside = {"a": "b", "b": "lmk", "l": "c", "m": "ca", "k": "d"}.get(name, "") if left else ""
        below = "".join(
            element(random.choice(inside), left - 1) for _ in range(random.choice([1, 2, 3]) * bool(inside))
        )
        return f"<{name}>{below}</{name}>"

    for _ in range(100):
        document = read(element("a", 12).encode())
        for text in ("//c", "//d", "//a", "/a/b/*/c", "//m//c", "//b/*"):
            pattern = parse(text)
            targets = find_targets(pattern, outline)
            for node in select(pattern, document):
                assert sum(contains(target, label_path(node)) for target in targets) == 1


@pytest.mark.parametrize(
    ("text", "record"),
    [
        ("/a/b[@x]/l/c", "/a/b"),
        ("/a/b[k]/l/c", "/a/b"),
        ("/a[@x]/b/l/c", "/a/b"),
        ("/a[b/k]/b/l/c", None),
        ("/a/b[2]/l/c", None),
        ("/a/b[last()]/l", None),
        ("/a/b/l[2]/c", "/a/b"),
        ("/a/b[count(l) * 2 > 3]/l/c", "/a/b"),
    ],
)
def test_record_paths(outline: Outline, text: str, record: str | None) -> None:
    """The shallowest element that repeats and at which the query is local (traps 16, 17 and 18)."""
    [target] = place_query(ChunkQuery("q", text), outline).targets
    found = target.record and "/" + "/".join(local for _, local in target.record)
    assert found == record


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("//c/following::d", "following::"),
        ("/a/b[ancestor::x]", "ancestor::"),
        ("/a/b[/a/d = 1]", "an absolute path in a condition"),
        ("/", "the document node"),
        ("(//c)[1]/d", "the document node"),
    ],
)
def test_queries_that_look_at_the_whole_document_say_why(outline: Outline, text: str, word: str) -> None:
    """The word that does it."""
    assert place_query(ChunkQuery("q", text), outline).whole == word


def test_namespaces_of_the_schema_are_those_of_documents() -> None:
    """Trap 19: another prefix, the same name; an unknown namespace admits any."""
    outline = Outline({None: {("u", "a"): False}, ("u", "a"): {(None, "b"): True}})
    [target] = find_targets(parse("/p:a/p:b", {"p": "u"}), outline)
    assert contains(target, (("u", "a"), ("v", "b")))
    assert not contains(target, (("v", "a"), ("v", "b")))
    assert outline.has(("u", "a"), ("w", "b"))
    assert not outline.has(("u", "a"), ("w", "c"))
