"""XTrie against the example of the thesis (Figure 2.5, Example 2.1), and against recursive documents."""

from __future__ import annotations

import pytest

from experiments.engines.filtering.xtrie import RelativeLevel, TrieMatching, XTrie
from twigcast.pattern import parse

# Our copy of the text lacks Figure 2.5(a).  These expressions give the table of Figure 2.5(c) row by row, and
# as Example 2.1 says, the path /a/b/c/d matches only the second and the third of them.
FIGURE_2_5 = {"q1": "/a/b//*/c", "q2": "/a/b//c/d", "q3": "/a//c/d"}


def engine_of(expressions: dict[str, str]) -> XTrie:
    engine = XTrie()
    for id, expression in expressions.items():
        engine.add(id, parse(expression))
    return engine


def label(substring: tuple[tuple[str, str], ...]) -> str:
    return "".join(local for _, local in substring)


def test_figure_2_5_c() -> None:
    """The substring table: substring, ParentRow, RelLevel, Rank, NumChild, Next."""
    table = engine_of(FIGURE_2_5).substrings.table
    printed = {
        number: (
            label(row.substring),
            row.parent_row,
            str(row.relative_level),
            row.rank,
            row.children,
            row.next,
        )
        for number, row in table.items()
    }
    assert printed == {
        1: ("ab", 0, "[2,2]", 1, 1, 3),
        2: ("c", 1, "[2,∞)", 1, 0, 0),
        3: ("ab", 0, "[2,2]", 1, 1, 0),
        4: ("cd", 3, "[2,∞)", 1, 0, 6),
        5: ("a", 0, "[1,1]", 1, 1, 0),
        6: ("cd", 5, "[2,∞)", 1, 0, 0),
    }


def test_figure_2_5_b() -> None:
    """The trie: its edges, and at each node α, the first row of the substring that leads there."""
    trie = engine_of(FIGURE_2_5).substrings.trie
    edges = {(number, local): to for number, node in trie.items() for (_, local), to in node.edges.items()}
    assert edges == {(1, "a"): 2, (1, "c"): 3, (2, "b"): 4, (3, "d"): 5}
    assert {number: node.row for number, node in trie.items()} == {1: 0, 2: 5, 3: 2, 4: 1, 5: 4}


def test_example_2_1() -> None:
    """On /a/b/c/d the substrings of rows 5, then 1 and 3, then 2, then 4 and 6 are found; q2 and q3 match."""
    matching = TrieMatching(engine_of(FIGURE_2_5).substrings)
    assert [matching.start(("", name)) for name in "abcd"] == [[5], [1, 3], [2], [4, 6]]
    assert matching.ids() == {"q2", "q3"}


def test_example_2_1_needs_the_relative_level_of_row_2() -> None:
    """With one more element between b and c, q1 matches too."""
    engine = engine_of(FIGURE_2_5)
    assert engine.match(b"<a><b><c><d/></c></b></a>").ids == ["q2", "q3"]
    assert engine.match(b"<a><b><e><c><d/></c></e></b></a>").ids == ["q1", "q2", "q3"]


def test_records_are_row_missing_children_and_level() -> None:
    """A substring that is found gives its element a record with a bit for each missing child."""
    matching = TrieMatching(engine_of({"q": "/a[b]/c"}).substrings)
    matching.start(("", "a"))
    assert matching.records() == {(1, 0b11, 1)}
    matching.start(("", "b"))
    assert matching.records() == {(1, 0b10, 1), (2, 0, 2)}
    matching.end()
    assert matching.records() == {(1, 0b10, 1)}
    matching.start(("", "c"))
    assert matching.ids() == {"q"}


def test_records_end_with_their_element() -> None:
    """Children of two elements with the same name do not count together for one of them."""
    engine = engine_of({"q": "//a[b]/c"})
    assert engine.match(b"<r><a><b/></a><a><c/></a></r>").ids == []
    assert engine.match(b"<r><a><b/><a><c/></a></a></r>").ids == []
    assert engine.match(b"<r><a><b/><a/><c/></a></r>").ids == ["q"]


def test_the_longest_suffix_is_where_the_trie_goes_on() -> None:
    """If a label cannot be continued, the search continues from its longest suffix that is a label."""
    engine = engine_of({"abc": "//a/b/c", "bd": "//b/d"})
    assert engine.match(b"<a><b><d/></b></a>").ids == ["bd"]


def test_every_suffix_is_found() -> None:
    """A substring that is the end of another is found wherever the longer one is."""
    engine = engine_of({"abc": "//a/b/c", "bc": "//b/c", "c": "//c"})
    matching = TrieMatching(engine.substrings)
    assert [matching.start(("", name)) for name in "abc"] == [[], [], [1, 2, 3]]


@pytest.mark.parametrize(
    ("expression", "rows"),
    [
        ("/a/b/c", [("abc", 0, "[3,3]")]),
        ("/*/a", [("a", 0, "[2,2]")]),
        ("/a/*//*/b", [("a", 0, "[1,1]"), ("b", 1, "[3,∞)")]),
        ("/a/*", [("a", 0, "[1,1]"), ("", 1, "[1,1]")]),
        ("/a/b[c/d]/e", [("ab", 0, "[2,2]"), ("cd", 1, "[2,2]"), ("e", 1, "[1,1]")]),
        ("/a//*[b]/c", [("a", 0, "[1,1]"), ("", 1, "[1,∞)"), ("b", 2, "[1,1]"), ("c", 2, "[1,1]")]),
    ],
)
def test_decomposition(expression: str, rows: list[tuple[str, int, str]]) -> None:
    """``//``, ``*`` and branching end a substring; a ``*`` that branches or ends a path is the empty one."""
    table = engine_of({"q": expression}).substrings.table
    assert [(label(row.substring), row.parent_row, str(row.relative_level)) for row in table.values()] == rows


def test_relative_levels_say_where_the_parent_can_be() -> None:
    """A relative level admits an exact or a minimal number of levels, and none above the document node."""
    assert list(RelativeLevel(2, open=False).above(5)) == [3]
    assert list(RelativeLevel(2, open=True).above(5)) == [0, 1, 2, 3]
    assert list(RelativeLevel(2, open=False).above(1)) == []
    assert list(RelativeLevel(2, open=True).above(1)) == []
