"""The YFilter automaton against the example of the thesis (Figure 3.2), and its joins."""

from __future__ import annotations

from experiments.engines.filtering.yfilter import NFAMatching, State, YFilter
from twigcast.pattern import parse

# Our copy of the text lacks the drawing of Figure 3.2.  The text says that there are seven expressions, that
# all begin with /x, and that // is an ε-transition to a state that loops.  The seven expressions here are a
# reconstruction from that description, not a copy.
FIGURE_3_2 = {
    "q1": "/x/y",
    "q2": "/x/z",
    "q3": "/x/y/z",
    "q4": "/x//y/z",
    "q5": "/x/*/y",
    "q6": "/x//z",
    "q7": "/x/*/*/z",
}


def engine_of(expressions: dict[str, str]) -> YFilter:
    engine = YFilter()
    for id, expression in expressions.items():
        engine.add(id, parse(expression))
    return engine


def states(state: State) -> list[State]:
    return [state, *(below for after in state.edges.values() for below in states(after))]


def test_figure_3_2_edges() -> None:
    """The seven expressions share the states of /x and of any longer common prefix."""
    edges = {
        (state.number, label if isinstance(label, str) else label[1]): after.number
        for state in states(engine_of(FIGURE_3_2).initial)
        for label, after in state.edges.items()
    }
    assert edges == {
        (0, "x"): 1,
        (1, "y"): 2,
        (1, "z"): 3,
        (2, "z"): 4,
        (1, "ε"): 5,
        (5, "y"): 6,
        (6, "z"): 7,
        (1, "*"): 8,
        (8, "y"): 9,
        (5, "z"): 10,
        (8, "*"): 11,
        (11, "z"): 12,
    }


def test_figure_3_2_accepting_states() -> None:
    """Each expression has its own accepting state; only the states after // loop."""
    all_states = states(engine_of(FIGURE_3_2).initial)
    accepting = {
        state.number: [query.id for query in state.accepts.values()] for state in all_states if state.accepts
    }
    assert accepting == {2: ["q1"], 3: ["q2"], 4: ["q3"], 7: ["q4"], 9: ["q5"], 10: ["q6"], 12: ["q7"]}
    assert [state.number for state in all_states if state.stays] == [5]


def test_figure_3_2_running() -> None:
    """Active states are pushed at start tags and popped at end tags."""
    matching = NFAMatching(engine_of(FIGURE_3_2).initial)
    active = []
    for name in "xyz":
        matching.start(("", name))
        active.append(matching.active())
    assert active == [{1, 5}, {2, 5, 6, 8}, {4, 5, 7, 10, 11}]
    assert matching.ids() == {"q1", "q3", "q4", "q6"}
    matching.end()
    assert matching.active() == active[1]


def test_the_same_path_twice_is_one_chain() -> None:
    """Adding a path a second time adds no state."""
    engine = engine_of({"p": "/a//b", "q": "/a//b"})
    assert len(states(engine.initial)) == 4


def test_remove_cuts_only_what_nobody_needs() -> None:
    """Removing a path removes exactly the states that no other path uses."""
    engine = engine_of({"long": "/a/b/c", "short": "/a", "other": "/a//d"})
    engine.remove("long")
    assert len(states(engine.initial)) == 4
    engine.remove("other")
    assert len(states(engine.initial)) == 2
    engine.remove("short")
    assert len(states(engine.initial)) == 1


def test_paths_join_on_the_same_element() -> None:
    """It is not enough that both paths of a twig occur: they must share the branching node."""
    engine = engine_of({"q": "//a[b]/c"})
    assert engine.match(b"<r><a><b/></a><a><c/></a></r>").ids == []
    assert engine.match(b"<r><a><b/></a><a><b/><c/></a></r>").ids == ["q"]


def test_joins_nest() -> None:
    """An inner branching node counts only for the outer branching node that is above it."""
    engine = engine_of({"q": "//a[b]//c[d]/e"})
    assert engine.match(b"<r><a><b/></a><a><c><d/><e/></c></a></r>").ids == []
    assert engine.match(b"<r><a><b/><x><c><d/></c><c><e/></c></x></a></r>").ids == []
    assert engine.match(b"<r><a><b/><x><c><d/><e/></c></x></a></r>").ids == ["q"]


def test_every_open_element_can_be_the_branching_node() -> None:
    """A path through // has a binding for each open element that can be its branching node."""
    engine = engine_of({"q": "//a[b]//c"})
    assert engine.match(b"<a><a><a><c/></a></a><b/></a>").ids == ["q"]
    assert engine.match(b"<a><a><b/><a><c/></a></a></a>").ids == ["q"]
    assert engine.match(b"<a><a><a><c/></a></a><a><b/></a></a>").ids == []
