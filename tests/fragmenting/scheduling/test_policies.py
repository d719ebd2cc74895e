"""The six schedules: the scores of Example 5.7, and that scores are computed again only where needed."""

from __future__ import annotations

from fractions import Fraction

from tests.fragmenting.thesis import QUERY, WITHOUT_MATCH, fragments
from twigcast.fragmenting import HeaderKind
from twigcast.fragmenting.scheduling import (
    POLICIES,
    Agenda,
    Outlook,
    PolicyName,
    PrefixTree,
    Query,
    Relevance,
)
from twigcast.fragmenting.scheduling.prefix_tree import bits
from twigcast.pattern import parse


def outlook(*texts: str, kind: HeaderKind = "prefix+level") -> Outlook:
    tree = PrefixTree([Query.of(parse(text)) for text in texts])
    relevance = Relevance(tree)
    made = Outlook(tree)
    for part in fragments(kind):
        relevance.learn(part.header)
    for part in fragments(kind):
        subtrees: dict[int, int] = {}
        for _, _, mask, count in relevance.entering(part.header):
            for node in bits(mask):
                subtrees[node] = subtrees.get(node, 0) + count
        made.parents[part.number] = {run.parent >> 32 for run in part.runs}
        nodes = relevance.nodes(part.header)
        if kind == "prefix+paths":
            made.paths[part.number] = nodes
        made.note(part.number, nodes, subtrees)
    return made


def order(policy: PolicyName, made: Outlook) -> list[int]:
    agenda = Agenda(POLICIES[policy], made, [*made.relevant])
    taken = []
    while (number := agenda.take()) is not None:
        taken.append(number)
        made.evaluated(number)
    return taken


def test_example_5_7_most_specific() -> None:
    """s = 3, 2, 4, 3, 4, 3 for f1 to f6: f2 is last."""
    made = outlook(QUERY)
    assert [made.specificity(number) for number in range(1, 7)] == [3, 2, 4, 3, 4, 3]
    assert order("S", made) == [3, 5, 1, 4, 6, 2]


def test_example_5_7_maximal_matching() -> None:
    """m is 1 for every fragment, so that their numbers decide."""
    made = outlook(QUERY)
    assert {made.matching(number) for number in range(1, 7)} == {1}
    assert order("M", made) == [1, 2, 3, 4, 5, 6]


def test_trap_14_example_5_7_most_critical_by_the_formula() -> None:
    """The thesis prints f1 = f2 < f5 = f6 < f3 = f4; its formula gives f2 < f1 < f4 = f6 < f3 = f5."""
    made = outlook(WITHOUT_MATCH)

    def criticality(number: int) -> Fraction:
        nodes = list(bits(made.possible(number)))
        return Fraction(sum(map(made.fragments, nodes)), len(nodes))

    expected = [Fraction(2), Fraction(5, 3), Fraction(4), Fraction(14, 5), Fraction(4), Fraction(14, 5)]
    assert [criticality(number) for number in range(1, 7)] == expected
    assert order("C", made)[:2] == [2, 1]


def test_trap_5_nodes_without_fragments_are_not_critical() -> None:
    """F(/a) and F(//m) are empty in Figure 5.4; by the printed rule no fragment would be critical."""
    made = outlook(QUERY)
    critical = {made.tree.queries[0].text(number) for _, number in made.tree.members(made.critical())}
    assert critical == {"/b"}


def test_topological_orders() -> None:
    """f7 has the root; f4 lies in f7, and f3 in f4."""
    assert order("T", outlook(QUERY, kind="prefix")) == [7, 2, 1, 4, 3, 6, 5]
    assert order("R", outlook(QUERY, kind="prefix")) == [1, 2, 3, 4, 5, 6, 7]


def test_trap_3_a_cycle_of_fragments_has_an_order_too() -> None:
    """Fragments 1, 2, 3 lie in each other in a circle, which their runs do not: all of them are taken."""
    made = outlook("//b")
    for number in range(4, 8):
        made.evaluated(number)
    made.parents = {1: {3}, 2: {1}, 3: {2}}
    for number in (1, 2, 3):
        made.note(number, made.nodes(0), {})
    assert sorted(order("T", made)) == [1, 2, 3]


def test_scores_sink_when_a_query_is_decided() -> None:
    """f3 and f5 come first for the long query; without it the short one has f1 first."""
    made = outlook(QUERY, "/a/b/f/p")
    agenda = Agenda(POLICIES["S"], made, [*made.relevant])
    made.decide(0)
    assert agenda.take() == 1
    assert made.is_open(1)
    assert not made.is_open(0)


def test_novelty_prefers_new_label_paths() -> None:
    """f3 and f5 have the same label paths, so once f3 is evaluated f5 shows nothing new."""
    made = outlook(QUERY, "//k/y", "//u/v", kind="prefix+paths")
    taken = order("N", made)
    assert taken.index(5) > taken.index(6)
    assert taken[-1] == 5
