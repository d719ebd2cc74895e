"""The reference engine: the examples of the thesis, each of its traps, and whole-document answers always."""

from __future__ import annotations

from math import inf
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from experiments.engines.fragments import Eliminate, ThesisEngine, ThesisMatching, ThesisOptions
from tests.fragmenting.strategies import any_document, any_fragments, twig
from tests.fragmenting.thesis import QUERY, WITHOUT_MATCH, fragments
from twigcast.document import read
from twigcast.errors import PatternError, SubscriptionError
from twigcast.fragmenting import Cuts, Fragment, HeaderKind, Manifest, Spans, fragment
from twigcast.fragmenting.scheduling import POLICIES, PolicyName, Query
from twigcast.pattern import matches, parse

EXAMPLES = 250
ELIMINATIONS: tuple[Eliminate, ...] = ("", "+", "-", "+-")
AS_THEY_COME = 1


def engine(
    *texts: str, policy: PolicyName = "S", window: float = inf, eliminate: Eliminate = ""
) -> ThesisEngine:
    made = ThesisEngine(ThesisOptions(policy, window, eliminate))
    for text in texts:
        made.add(text, parse(text))
    return made


def followed(
    made: ThesisEngine, parts: list[Fragment], *numbers: int, manifest: bool = True
) -> ThesisMatching:
    """Add the fragments with these numbers; with a manifest of all."""
    matching = made.document(Manifest.of(parts) if manifest else None)
    for number in numbers:
        matching.add(parts[number - 1])
    return matching


def spans(body: bytes, *nodes: int) -> list[Fragment]:
    return list(fragment(body, cut=Spans(nodes=nodes)))


def pieces(body: bytes, *nodes: int) -> list[Fragment]:
    return list(fragment(body, cut=Cuts(nodes)))


def left(matching: ThesisMatching, number: int) -> set[str]:
    """The last steps of the query nodes that a fragment is still to be evaluated for."""
    return {Query.of(parse(str(id))).text(node) for id, node in matching.relevant(number)}


# The examples


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("kind", ["edge", "prefix", "prefix+level", "prefix+paths"])
def test_the_query_of_the_thesis_matches_its_document(policy: PolicyName, kind: HeaderKind) -> None:
    """And with //j in place of //i it does not."""
    parts = fragments(kind)
    assert engine(QUERY, WITHOUT_MATCH, policy=policy).match(parts) == (QUERY,)


def test_example_5_7_most_specific_never_evaluates_f2() -> None:
    """The match is complete before f2's turn."""
    matching = engine(QUERY, policy="S").document(Manifest.of(fragments()))
    for part in fragments():
        matching.add(part)
    matching.flush()
    assert matching.ids == (QUERY,)
    assert matching.work.order == [3, 5, 1, 4]


def test_example_5_7_most_critical_decides_no_after_two_fragments() -> None:
    """Only f1 and f2 could have a match of //j."""
    matching = engine(WITHOUT_MATCH, policy="C").document(Manifest.of(fragments()))
    for part in fragments():
        matching.add(part)
    matching.flush()
    assert matching.answers == {WITHOUT_MATCH: False}
    assert matching.work.order == [2, 1]


def test_figure_5_5_a_part_of_a_subquery_is_joined_with_another_fragment() -> None:
    """f2 shows e at b, and no complete match of b; with f from f1 the query matches."""
    query = "/a/b[e[x][g]]/f"
    matching = followed(engine(query, window=AS_THEY_COME), fragments(), 2)
    assert matching.answers == {}
    matching.add(fragments()[0])
    assert matching.answers == {query: True}


def test_example_5_8_branches_of_one_element_come_from_two_fragments() -> None:
    """f4 shows s at the first c, f3 shows k there; then only the branch b/f//i is open, in f1."""
    matching = followed(engine(QUERY, window=AS_THEY_COME), fragments(), 4, 3)
    assert matching.answers == {}
    matching.add(fragments()[0])
    assert matching.answers == {QUERY: True}


def test_example_5_10_redundant() -> None:
    """After f1 the branch b/f//i holds at a, so f2 is not needed for b any more."""
    with_plus = followed(engine(QUERY, window=AS_THEY_COME, eliminate="+"), fragments(), 1)
    without = followed(engine(QUERY, window=AS_THEY_COME), fragments(), 1)
    assert left(with_plus, 2) == set()
    assert left(without, 2) == {"/b"}


def test_example_5_10_unnecessary() -> None:
    """After f6 no s can come at the second c, so f5 is not needed for its k; f3, at the first c, is."""
    with_minus = followed(engine(QUERY, window=AS_THEY_COME, eliminate="-"), fragments(), 6)
    without = followed(engine(QUERY, window=AS_THEY_COME), fragments(), 6)
    assert (left(with_minus, 5), left(with_minus, 3)) == (set(), {"/k"})
    assert left(without, 5) == {"/k"}


# The traps


def test_trap_5_inner_nodes_without_fragments_do_not_refute() -> None:
    """With levels no fragment is relevant for /a and //m; the query still matches."""
    matching = engine(QUERY).document(Manifest.of(fragments()))
    assert matching.answers == {}


def test_trap_6_partial_matches_are_reported_by_instance() -> None:
    """The first p has a whole a, the second p has the q; the printed definition sees only the former."""
    body = b"<r><p><a><b/><c/></a></p><p><q/><a><b/><c/></a></p></r>"
    assert engine("//p[q]/a[b][c]").match(spans(body, 10)) == ("//p[q]/a[b][c]",)


def test_trap_7_a_branch_holds_at_every_element_that_its_node_can_be() -> None:
    """The c is below both a; the outer one has the b."""
    assert engine("//a[b]//c").match(spans(b"<a><b/><a><c/></a></a>", 4)) == ("//a[b]//c",)


@pytest.mark.parametrize("query", ["/a[b][c]", "/a[b[x][y]][c]", "/r/a[b[x]/y]/c"])
def test_trap_8_matches_rise_from_branch_node_to_branch_node(query: str) -> None:
    """Also to a root that branches."""
    inner = b"<a><b><x/><y/></b><c/></a>"
    body = b"<r>" + inner + b"</r>" if query.startswith("/r") else inner
    count = body.count(b"/>") + 2 + body.count(b"<r>")
    for nodes in ((number,) for number in range(2, count + 1)):
        assert engine(query).match(spans(body, *nodes)) == (query,)
    assert engine(query).match(spans(body, *range(2, count + 1))) == (query,)


def test_trap_9_a_pair_is_redundant_only_if_it_is_for_every_binding() -> None:
    """The outer a has a b; the inner one, which has the c, needs the other b."""
    parts = pieces(b"<a><b/><a><b/><c/></a></a>", 3, 5)
    made = engine("//a[.//b][c]", window=AS_THEY_COME, eliminate="+")
    matching = followed(made, parts, 1, 3)
    assert left(matching, 2) == {"//b"}
    matching.add(parts[1])
    assert matching.ids == ("//a[.//b][c]",)


@pytest.mark.parametrize("manifest", [True, False])
def test_trap_10_half_a_branch_here_and_half_below(manifest: bool) -> None:
    """The fragment of c has s without y; the y comes in a fragment under s, so nothing is unnecessary yet."""
    query = "/a/c[k][s/y]"
    parts = pieces(b"<a><c><k/><s><y/><z/></s></c><z/></a>", 6, 7)
    matching = followed(engine(query, window=AS_THEY_COME, eliminate="-"), parts, 2, manifest=manifest)
    matching.add(parts[0])
    matching.add(parts[2])
    assert matching.ids == (query,)


def test_trap_10_what_has_not_come_is_not_absent() -> None:
    """Without a manifest nothing is refuted before the last header is known."""
    with_manifest = followed(engine("//zz", window=AS_THEY_COME), fragments("prefix+paths"), 1)
    without = followed(engine("//zz", window=AS_THEY_COME), fragments("prefix+paths"), 1, manifest=False)
    assert with_manifest.answers == {"//zz": False}
    assert without.answers == {}


@pytest.mark.parametrize("text", ["/a[count(b) >= 2]", "/a/b/@x", "/a[b='x']", "/a[not(b)]", "/a | /b"])
def test_trap_11_redundancy_is_for_existence_only(text: str) -> None:
    """A second b matters to a count; such patterns are refused here."""
    with pytest.raises(PatternError, match="one twig of elements"):
        ThesisEngine().add(1, parse(text))


def test_trap_13_a_path_from_the_document_is_written_with_a_dot() -> None:
    """``[//x]`` in the thesis's queries means below the node; in XPath it begins at the document."""
    with pytest.raises(PatternError):
        ThesisEngine().add(1, parse("/a[//i]/m"))
    assert engine("/a[.//i]/m").match(fragments()) == ("/a[.//i]/m",)


# The engine


def test_a_duplicate_fragment_is_ignored() -> None:
    """Its number has come before."""
    matching = followed(engine(QUERY, window=AS_THEY_COME), fragments(), 4, 4, 4)
    assert matching.work.order == [4]


def test_a_document_that_is_not_complete_decides_nothing_but_matches() -> None:
    """What is missing may hold anything."""
    matching = followed(engine(QUERY, WITHOUT_MATCH), fragments(), 1, 3, 4, manifest=False)
    matching.finish()
    assert matching.answers == {QUERY: True}


def test_ids_are_unique_and_can_be_removed() -> None:
    """As in the other engines."""
    made = engine(QUERY)
    with pytest.raises(SubscriptionError):
        made.add(QUERY, parse(QUERY))
    made.remove(QUERY)
    assert len(made) == 0
    with pytest.raises(SubscriptionError):
        made.remove(QUERY)


def test_a_document_that_contains_the_mark_of_a_hole() -> None:
    """The mark is made so that the fragment does not contain it."""
    body = b"<a><b><?hole?><c/><z/></b><?hole-?><d/></a>"
    assert engine("/a[b/c]/d").match(pieces(body, 4)) == ("/a[b/c]/d",)


def test_work_is_counted() -> None:
    """Fragments in their order, elements, and time by the caller's clock."""
    ticks = iter(range(1000))
    matching = engine(QUERY).document(Manifest.of(fragments()), clock=lambda: float(next(ticks)))
    for part in fragments():
        matching.add(part)
    matching.finish()
    assert matching.work.elements == sum(fragments()[number - 1].elements for number in [3, 5, 1, 4])
    assert matching.work.seconds > 0


def check_one_document(random: Random) -> None:
    """All answers are those of the whole document, and none changes on the way."""
    body = any_document(random)
    patterns = {f"q{number}": twig(random) for number in range(4)}
    document = read(body)
    expected = {id: matches(pattern, document) for id, pattern in patterns.items()}
    parts = any_fragments(random, body)
    manifest = random.choice([None, Manifest.of(parts)])
    options = ThesisOptions(
        random.choice(sorted(POLICIES)), random.choice([1, 2, 3, inf]), random.choice(ELIMINATIONS)
    )
    made = ThesisEngine(options)
    for id, pattern in patterns.items():
        made.add(id, pattern)
    matching = made.document(manifest)
    random.shuffle(parts)
    for part in parts:
        matching.add(part)
        assert matching.answers.items() <= expected.items()
    matching.finish()
    assert matching.answers == expected


@settings(max_examples=EXAMPLES, deadline=None)
@given(st.randoms(use_true_random=False))
def test_answers_are_those_of_the_whole_document(random: Random) -> None:
    """For every cut, header kind, schedule, window, + and −, order of arrival, with a manifest or not."""
    check_one_document(random)


@pytest.mark.soak
def test_answers_are_those_of_the_whole_document_many_times() -> None:
    """The same, for minutes."""
    for seed in range(30_000):
        check_one_document(Random(seed))
