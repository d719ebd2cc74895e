"""Tests of the query tree and of the choice of prefixes: the paper's examples, and properties."""

from __future__ import annotations

from random import Random

import pytest

from experiments.engines.chunking.printed_prefixes import printed_prefixes
from twigcast.chunking import ChunkQuery, choose, plan, profile
from twigcast.chunking.outline import Names
from twigcast.chunking.query_tree import QueryTree
from twigcast.errors import ChunkingError
from twigcast.schema import read_dtd


def path(text: str) -> Names:
    return tuple(("", name) for name in text.strip("/").split("/"))


def texts(paths: list[Names]) -> set[str]:
    return {"/" + "/".join(local for _, local in each) for each in paths}


FIGURE_5 = QueryTree([(path("/a/b/c"), 1), (path("/a/b/d"), 1), (path("/a/b/c"), 1)])

AD, EB = "/ejb-jar/assembly-descriptor", "/ejb-jar/enterprise-beans"
A3 = QueryTree(
    [
        (path(f"{AD}/container-transaction"), 19),
        (path(f"{AD}/method-permission"), 18),
        (path(f"{AD}/security-role"), 17),
        (path(f"{EB}/session"), 16),
        (path(f"{EB}/entity"), 15),
        (path(f"{EB}/message-driven"), 15),
    ]
)


def test_weights_of_figure_5() -> None:
    """a 3, b 3, c 2, d 1."""
    weights = FIGURE_5.weights()
    assert [weights[path(text)] for text in ("/a", "/a/b", "/a/b/c", "/a/b/d")] == [3, 3, 2, 1]


@pytest.mark.parametrize("algorithm", [choose, printed_prefixes])
def test_figure_7(algorithm: object) -> None:
    """Two chunks are c and d, and not the two heaviest nodes, a and b."""
    chosen = algorithm(FIGURE_5, 2)  # type: ignore[operator]
    assert texts(chosen) == {"/a/b/c", "/a/b/d"}


def test_steps_of_figure_7() -> None:
    """First b, then c, which leaves 1 to b and removes it, then d; the root is never chosen."""
    assert texts(choose(FIGURE_5, 1)) == {"/a/b"}
    residuals = FIGURE_5.residuals([path("/a/b"), path("/a/b/c")])
    assert [residuals[path(text)] for text in ("/a", "/a/b", "/a/b/c")] == [0, 1, 2]
    assert FIGURE_5.residuals([path("/a/b/c"), path("/a/b/d")])[path("/a")] == 0


@pytest.mark.parametrize("algorithm", [choose, printed_prefixes])
@pytest.mark.parametrize(
    ("most", "shares"),
    [
        (2, {AD: 54, EB: 46}),
        (3, {f"{AD}/container-transaction": 19, AD: 35, EB: 46}),
        (
            4,
            {
                f"{AD}/container-transaction": 19,
                f"{AD}/method-permission": 18,
                f"{AD}/security-role": 17,
                EB: 46,
            },
        ),
        (
            5,
            {
                f"{AD}/container-transaction": 19,
                f"{AD}/method-permission": 18,
                f"{AD}/security-role": 17,
                f"{EB}/session": 16,
                EB: 30,
            },
        ),
    ],
)
def test_table_a3(algorithm: object, most: int, shares: dict[str, int]) -> None:
    """The rows of the deployment descriptor, with the residuals 35 and 30."""
    chosen = algorithm(A3, most)  # type: ignore[operator]
    residuals = A3.residuals(chosen)
    assert {text: residuals[path(text)] for text in texts(chosen)} == shares


@pytest.mark.parametrize("algorithm", [choose, printed_prefixes])
@pytest.mark.parametrize(("last", "is_replaced"), [(15, False), (14, True)])
def test_table_a3_with_six_chunks(algorithm: object, last: int, is_replaced: bool) -> None:
    """With 15 and 15 the ancestor stays for both kinds; if they differ, the last kind takes its place."""
    weights = A3.weights()
    leaves = {node: weights[node] for node in A3.nodes if len(node) == 3}
    leaves[path(f"{EB}/message-driven")] = last
    chosen = algorithm(QueryTree(leaves), 6)  # type: ignore[operator]
    kinds = {f"{EB}/session", f"{EB}/entity"}
    assert {each for each in texts(chosen) if each.startswith(EB)} == (
        {*kinds, f"{EB}/message-driven"} if is_replaced else {*kinds, EB}
    )


def test_trap_1_the_candidate_keeps_its_own_weight() -> None:
    """Otherwise ``/a/b/c`` falls to 0 and is removed by ``/a/b/d``."""
    assert len(printed_prefixes(FIGURE_5, 2)) == 2


@pytest.mark.parametrize("algorithm", [choose, printed_prefixes])
def test_trap_2_it_ends_when_nothing_is_left(algorithm: object) -> None:
    """One query and two chunks."""
    assert texts(algorithm(QueryTree([(path("/a/b"), 1)]), 2)) == {"/a/b"}  # type: ignore[operator]


@pytest.mark.parametrize("algorithm", [choose, printed_prefixes])
def test_trap_3_the_walk_goes_down_more_than_one_level(algorithm: object) -> None:
    """The prefix is as long as it can be."""
    assert texts(algorithm(QueryTree([(path("/a/b/c/d"), 1)]), 1)) == {"/a/b/c/d"}  # type: ignore[operator]


def test_trap_4_nothing_is_subtracted_twice() -> None:
    """g has 3 of its own beside p, c and q: the printed algorithm loses it to the rest."""
    own = {"/r/g": 3, "/r/g/p": 1, "/r/g/p/c": 3, "/r/g/q": 3}
    tree = QueryTree([(path(text), weight) for text, weight in own.items()])
    assert lost(tree, choose(tree, 3)) < lost(tree, printed_prefixes(tree, 3))


def test_trap_5_a_query_weighs_one_in_all() -> None:
    """With its weight spread, the walk does not go down into one of several branches."""
    tree = QueryTree([(path(f"/site/regions/{name}/item"), 0.25) for name in ("a", "b", "c", "d")])
    assert texts(choose(tree, 1)) == {"/site/regions"}


def lost(tree: QueryTree, chosen: list[Names]) -> float:
    """The weight that is under no prefix."""
    taken = set(chosen)
    return sum(
        tree.own(node)
        for node in tree.nodes
        if not any(node[:depth] in taken for depth in range(1, len(node) + 1))
    )


def random_tree(random: Random) -> QueryTree:
    paths = ["/r"]
    for _ in range(random.randint(1, 14)):
        paths.append(f"{random.choice(paths)}/{random.choice('abcd')}")
    return QueryTree([(path(text), random.choice([1, 2, 3, 0.5])) for text in paths[1:]])


def test_no_weight_is_lost_and_it_ends() -> None:
    """Residuals of the prefixes and the rest add up to all queries, on random trees."""
    random = Random(1)
    for _ in range(300):
        tree, most = random_tree(random), random.randint(1, 6)
        chosen = choose(tree, most)
        residuals = tree.residuals(chosen)
        assert len(chosen) == len(set(chosen)) <= most
        assert sum(residuals[node] for node in chosen) + lost(tree, chosen) == pytest.approx(tree.total)
        assert all(len(node) > 1 for node in chosen + printed_prefixes(tree, most))


def test_without_a_double_subtraction_both_algorithms_agree() -> None:
    """Each query has a branch of its own below the root, so that nothing is chosen below something chosen."""
    random = Random(4)
    for _ in range(300):
        branches = [f"/r/{name}" + "/x" * random.randint(0, 3) for name in "abcdefgh"]
        leaves = random.sample(branches, random.randint(1, 8))
        tree = QueryTree([(path(text), weight) for weight, text in enumerate(leaves, 1)])
        most = random.randint(1, 8)
        assert texts(choose(tree, most)) == texts(printed_prefixes(tree, most))


def test_it_leaves_less_to_the_rest_than_the_printed_one() -> None:
    """Over many random trees."""
    random = Random(2)
    ours = paper = 0.0
    for _ in range(200):
        tree = random_tree(random)
        ours += lost(tree, choose(tree, 3))
        paper += lost(tree, printed_prefixes(tree, 3))
    assert ours < paper


def test_weights_may_count_bytes() -> None:
    """With a profile, one query for many bytes outweighs two for few."""
    body = b"<a>" + b"<b/>" * 2 + b"<c>long text of c</c>" * 2 + b"</a>"
    queries = [ChunkQuery(1, "/a/b"), ChunkQuery(2, "/a/b"), ChunkQuery(3, "/a/c")]
    sample = profile([body])
    assert plan(queries, profile=sample, chunks=1).chunks[0].name == "b"
    assert plan(queries, profile=sample, chunks=1, weigh="bytes").chunks[0].name == "c"
    with pytest.raises(ChunkingError, match="needs a sample"):
        plan(queries, read_dtd(b"<!ELEMENT a (b)><!ELEMENT b EMPTY>"), weigh="bytes")
