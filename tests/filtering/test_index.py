"""The index: its answers, its changes, its refusals, and its use by threads and forked processes."""

from __future__ import annotations

import os
import random
import threading
import warnings
from collections.abc import Hashable

import pyarrow as pa
import pytest

from tests.pattern.strategies import NAMESPACES, document, pattern
from twigcast import DocumentError, DocumentLimits, Index, PatternError, SubscriptionError, parse
from twigcast.document import read
from twigcast.filtering import SubscriptionWarning, Tuning
from twigcast.filtering.levels import SMALL, TAIL
from twigcast.pattern import matches

TUNINGS = [
    Tuning(cache_bytes=1),
    Tuning(memo=False),
    Tuning(programs=False),
    Tuning(programs=False, memo=False),
]
NEWS = b"<nitf><hl1 class='lead'/><p><person>Ada</person></p></nitf>"


def test_ids_come_in_the_order_of_adding() -> None:
    """Any hashable value can be an id, and answers have the order of adding."""
    ids: list[Hashable] = ["z", 1, ("a", 2), b"b", None]
    index = Index([(id, "//p") for id in ids])
    assert index.match(NEWS).ids == ids
    assert index.ids == ids


def test_count_is_the_number_of_ids() -> None:
    """``count`` returns the number of matches without their ids."""
    index = Index([("lead", "//hl1[@class='lead']"), ("ada", "//p[person='Ada']"), ("none", "//q")])
    assert index.count(NEWS) == len(index.match(NEWS)) == 2


def test_equal_patterns_are_separate_subscriptions() -> None:
    """Two subscriptions may have the same pattern; removing one does not affect the other."""
    index = Index([("a", "//p"), ("b", "//p"), ("c", "/nitf/p")])
    index.remove("a")
    assert index.match(NEWS).ids == ["b", "c"]


def test_a_union_is_one_subscription() -> None:
    """A subscription is listed once, even if several of its alternatives match."""
    index = Index([("u", "//p | //hl1 | //person"), ("p", "//p"), ("h", "//hl1|//zzz")])
    assert index.match(NEWS).ids == ["u", "p", "h"]


def test_namespaces_for_all_and_for_one() -> None:
    """The prefixes of the index apply to all subscriptions; one may bind others; "" is the default."""
    index = Index(
        [("p", "//p:a"), ("q", "//p:a", {"p": "urn:q"}), ("d", "//a", {"": "urn:p"}), ("n", "//a")],
        namespaces={"p": "urn:p"},
    )
    assert index.match(b"<a xmlns='urn:p'/>").ids == ["p", "d"]
    assert index.match(b"<x:a xmlns:x='urn:q'/>").ids == ["q"]
    assert index.match(b"<a/>").ids == ["n"]


def test_a_prefix_found_late_in_a_document() -> None:
    """A namespace deep in a document restarts the parse, and earlier elements are not counted twice."""
    index = Index([("a", "//a"), ("p", "//p:b", {"p": "urn:p"}), ("lang", "//@xml:lang")])
    assert index.match(b"<a><a/><b/><p:b xmlns:p='urn:p'/></a>").ids == ["a", "p"]
    assert index.match(b"<a><a xml:lang='en'/></a>").ids == ["a", "lang"]


def test_the_refused_do_not_keep_the_others_out() -> None:
    """All bad subscriptions of a batch are reported, and all good ones are added."""
    with pytest.warns(SubscriptionWarning, match="3 subscriptions were refused"):
        index = Index([("a", "//a"), ("b", "//a["), ("c", "//c"), ("d", "//u:d"), ("a", "//e")])
    assert index.ids == ["a", "c"]
    assert [(each.id, each.error.code) for each in index.refused] == [
        ("b", "syntax"),
        ("d", "unbound-prefix"),
        ("a", "duplicate-id"),
    ]
    assert index.match(b"<a/>").ids == ["a"]


def test_one_that_is_refused_raises() -> None:
    """``add`` of a bad subscription raises an error and changes nothing."""
    index = Index([("a", "//a")])
    with pytest.raises(PatternError):
        index.add("b", "//b[1 +")
    with pytest.raises(SubscriptionError):
        index.add("a", "//b")
    with pytest.raises(SubscriptionError):
        index.remove("b")
    assert index.ids == ["a"]
    assert index.match(b"<a><b/></a>").ids == ["a"]


def test_a_pattern_may_be_given_as_such() -> None:
    """``add`` takes a parsed pattern, and ``pattern`` returns it."""
    index = Index([("a", parse("//a[b]"))])
    assert index.pattern("a") == parse("//a[b]")
    assert index.match(b"<a><b/></a>").ids == ["a"]


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"", "empty"),
        (b"<a>", "truncated"),
        (b"<a", "truncated"),
        (b"<a></b>", "malformed"),
        (b"<a>\xff</a>", "encoding"),
        (b"<?xml version='1.0' encoding='no-such'?><a/>", "encoding"),
        (b"<p:a/>", "namespace"),
        (b"<a>&x;</a>", "undeclared-entity"),
        (b"<!DOCTYPE a SYSTEM 'a.dtd'><a>&x;</a>", "undeclared-entity"),
        (b"<!DOCTYPE a [<!ENTITY x SYSTEM 'file:///etc/passwd'>]><a>&x;</a>", "external-entity"),
        (b"<a>" * 30 + b"</a>" * 30, "too-deep"),
        (b"<a " + b" ".join(b"x%d='1'" % i for i in range(30)) + b"/>", "too-many-attributes"),
        (b"<a>" + b" " * 5000 + b"</a>", "too-large"),
    ],
)
def test_bad_documents_are_errors_with_a_place(body: bytes, code: str) -> None:
    """The result of a bad document has the error, which ``ids`` raises; the next document is matched."""
    index = Index(
        [("a", "//a"), ("t", "//a[contains(., 'x')]")],
        limits=DocumentLimits(bytes=4000, depth=20, attributes=20),
    )
    found = index.match(body)
    assert found.error is not None
    assert found.error.code == code
    assert found.error.line >= 1
    assert found.error.column >= 1
    with pytest.raises(DocumentError):
        _ = found.ids
    with pytest.raises(DocumentError):
        index.count(body)
    assert index.match(b"<a>x</a>").ids == ["a", "t"]


def test_an_entity_bomb_is_an_error() -> None:
    """The expansion of entities is stopped at the limit, long before memory is exhausted."""
    bomb = b"<!DOCTYPE a [<!ENTITY a '" + b"x" * 10000 + b"'>"
    for name, inner in (("b", "a"), ("c", "b"), ("d", "c")):
        bomb += f"<!ENTITY {name} '{f'&{inner};' * 50}'>".encode()
    bomb += b"]><a>&d;</a>"
    index = Index([("t", "//a[contains(., 'y')]")])
    error = index.match(bomb).error
    assert error is not None
    assert error.code == "entity-expansion"


def test_errors_are_those_of_the_reader() -> None:
    """Index and reader report the same code, line, column and offset for a bad document."""
    index = Index([("a", "//a")])
    for body in (b"<a>\n  <b></a>", b"<a>\n\n<b x='1' x='2'/></a>", b"<a>\xc3</a>", b"<a/>x", b"<a>&#0;</a>"):
        with pytest.raises(DocumentError) as raised:
            read(body)
        assert index.match(body).error == raised.value


def test_a_batch_keeps_errors_beside_the_matches() -> None:
    """Bad and missing documents are null rows; the other documents are matched."""
    index = Index([("a", "//a"), ("b", "//b")])
    bodies = [b"<a/>", b"<a>", None, b"<a><b/></a>", b"<c/>", b""]
    for kind in (pa.binary(), pa.large_binary()):
        batch = index.match_batch(pa.array(bodies, kind))
        assert batch.matches.type == pa.list_(pa.uint32())
        batch.matches.validate(full=True)
        assert batch.matches.to_pylist() == [[0], None, None, [0, 1], [], None]
        assert [error and error.code for error in batch.errors] == [
            None,
            "truncated",
            None,
            None,
            None,
            "empty",
        ]
        assert batch.ids(3) == ["a", "b"]


def test_a_batch_may_be_a_slice_chunked_or_text() -> None:
    """``match_batch`` takes sliced and chunked Arrow arrays, and text."""
    index = Index([("a", "//a"), ("é", "//a[.='é']")])
    array = pa.array([b"<x/>", b"<a/>", None, "<a>é</a>".encode()], pa.binary())
    assert index.match_batch(array[1:]).matches.to_pylist() == [[0], None, [0, 1]]
    chunked = pa.chunked_array([array[1:2], array[3:]])
    assert index.match_batch(chunked).matches.to_pylist() == [[0], [0, 1]]
    assert index.match_batch(pa.array(["<a>é</a>"])).matches.to_pylist() == [[0, 1]]
    assert index.match_batch(pa.array([], pa.binary())).matches.to_pylist() == []
    with pytest.raises(TypeError, match="binary or string"):
        index.match_batch(pa.array([1, 2]))


def test_inexact_subscriptions_are_confirmed() -> None:
    """The evaluator confirms candidates of inexact programs, such as tests of the first node and counts."""
    index = Index([("first", "//a[contains(b, 'x')]"), ("two", "//a[count(b) = 2]"), ("a", "//a")])
    assert index.stats().inexact == 2
    other, both = b"<a><b>y</b><b>x</b></a>", b"<a><b>x</b><b/></a>"
    assert index.match(other).ids == ["two", "a"]
    assert index.match(both).ids == ["first", "two", "a"]
    assert index.count(other) == 2
    assert index.match_batch(pa.array([b"<q/>", other, both])).matches.to_pylist() == [[], [1, 2], [0, 1, 2]]


def test_parts_are_documents_of_their_own() -> None:
    """``parts`` returns what ``select`` finds, with namespaces; nested parts are limited together."""
    index = Index([("b", "//p:b")], namespaces={"p": "urn:p"}, limits=DocumentLimits(part_threshold=100))
    body = b"<a xmlns:p='urn:p'><p:b><p:b/></p:b></a>"
    inner, outer = b'<p:b xmlns:p="urn:p"/>', b'<p:b xmlns:p="urn:p"><p:b/></p:b>'
    assert list(index.parts(body, "b")) == [outer, inner]
    assert list(index.parts(body, "b", "range")) == [b"<p:b><p:b/></p:b>", b"<p:b/>"]
    with pytest.raises(ValueError, match="expected the form document or range"):
        index.parts(body, "b", "element")  # type: ignore[arg-type]
    deep = b"<a xmlns:p='urn:p'>" + b"<p:b>" * 100 + b"</p:b>" * 100 + b"</a>"
    with pytest.raises(DocumentError) as caught:
        index.parts(deep, "b")
    assert caught.value.code == "parts-too-large"


def test_select_gives_byte_ranges() -> None:
    """``select`` returns nodes in document order, as byte ranges of the document."""
    body = "<a><b x='é'>é<c/>t</b>\n<b/></a>".encode()
    index = Index([("b", "//b"), ("x", "//b/@x"), ("t", "//b/text()"), ("none", "//z")])
    part = {id: [body[each.start : each.end].decode() for each in index.select(body, id)] for id in index.ids}
    assert part == {"b": ["<b x='é'>é<c/>t</b>", "<b/>"], "x": ["x='é'"], "t": ["é", "t"], "none": []}
    assert [each.kind for each in index.select(body, "x")] == ["attribute"]
    with pytest.raises(SubscriptionError):
        index.select(body, "unknown")


def test_explain_writes_names_with_the_prefixes_of_the_index() -> None:
    """An index has canonical texts if prefixes are bound; explanations have the prefixes again."""
    index = Index([("q", "//n:a[n:b='x']")], namespaces={"n": "urn:u"})
    body = b"<d:a xmlns:d='urn:u'><d:b>y</d:b></d:a>"
    assert str(index.explain(body, "q")).splitlines()[0] == "✗ //n:a[n:b='x']"
    assert "//z:a" in str(index.explain(body, "q", namespaces={"z": "urn:u"}))
    assert "found 'y'" in str(index.explain(body, "q"))


def test_explain_says_where_it_stopped() -> None:
    """The explanation of a match that failed names the predicate that did not hold."""
    index = Index([("q", "/nitf/p[person='Bob']")])
    explanation = index.explain(NEWS, "q")
    assert not explanation.matched
    assert "person='Bob'" in str(explanation)
    assert explanation.to_dict()["matched"] is False


def test_changes_are_seen_by_the_next_document() -> None:
    """After changes in all levels the answers are those of a new index."""
    generator = random.Random(5)
    index = Index([(i, f"//a{i % 7}[b{i % 5}]") for i in range(SMALL)])
    there = {i: f"//a{i % 7}[b{i % 5}]" for i in range(SMALL)}
    body = b"<r><a1><b1/></a1><a2/><a3><b4/><c/></a3></r>"
    for i in range(SMALL, SMALL + 4 * TAIL):
        xpath = generator.choice(["//a{}", "//a{}[b{}]", "/r/a{}[not(b{})]", "//a{}/c"])
        xpath = xpath.format(generator.randrange(7), generator.randrange(5))
        index.add(i, xpath)
        there[i] = xpath
        gone = generator.choice(list(there))
        index.remove(gone)
        del there[gone]
        if i % 50 == 0:
            assert index.match(body).ids == Index(there.items()).match(body).ids
    assert index.match(body).ids == Index(there.items()).match(body).ids
    assert index.ids == list(there)


def test_positions_are_reclaimed() -> None:
    """The positions of an index do not grow without bound when subscriptions are added and removed."""
    index = Index([("stays", "//a")])
    for i in range(6000):
        index.add(i, "//a/b")
        index.remove(i)
    index.add("last", "//b")
    assert index.match(b"<a><b/></a>").ids == ["stays", "last"]
    assert len(index.match(b"<a><b/></a>")) == len(index) == 2
    assert index.stats().segments < 4


def test_results_outlive_changes() -> None:
    """A result keeps its ids when the index changes later."""
    index = Index([("a", "//a"), ("b", "//a")])
    found = index.match(b"<a/>")
    batch = index.match_batch(pa.array([b"<a/>"]))
    index.remove("a")
    index.add("c", "//a")
    assert found.ids == batch.ids(0) == ["a", "b"]


@pytest.mark.slow
def test_answers_are_those_of_the_evaluator() -> None:
    """Answers agree for the whole language, with warm and cold caches of any size, and any tuning."""
    for seed in range(40):
        source = random.Random(seed)
        expressions = {i: pattern(source).ours for i in range(40)}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            index = Index(expressions.items(), namespaces=NAMESPACES)
            others = [Index(expressions.items(), namespaces=NAMESPACES, tuning=each) for each in TUNINGS]
        patterns = {id: index.pattern(id) for id in index.ids}
        for body in [document(source) for _ in range(6)]:
            tree = read(body)
            expected = [id for id, each in patterns.items() if matches(each, tree)]
            assert index.match(body).ids == expected
            for other in [index, *others]:
                assert other.match(body).ids == expected, other.tuning


def test_caches_are_thrown_away_within_a_document() -> None:
    """A document with very many new label paths is matched correctly in bounded memory."""
    index = Index(
        [
            ("twig", "//r[.//x1[y]]//z"),
            ("deep", "//a0//a1//a2//a3/e"),
            *((i, f"//a{i}[b]/c") for i in range(8)),
        ],
        tuning=Tuning(cache_bytes=1 << 20),
    )
    source = random.Random(1)
    body = b"<r><x1><y/></x1>"
    for _ in range(4000):
        names = [b"a%d" % source.randrange(8) for _ in range(8)]
        body += (
            b"".join(b"<%s>" % name for name in names)
            + b"<b/><d/>"
            + b"".join(b"</%s>" % name for name in names[::-1])
        )
    body += b"<a0><a1><a2><a3><e/></a3></a2></a1></a0><a5><c/><b/></a5><z/></r>"
    for _ in range(2):
        assert index.match(body).ids == ["twig", "deep", 5]
    assert index.stats().flushes > 0


def test_threads_share_an_index() -> None:
    """Several threads match correctly while another thread changes the index."""
    index = Index([(i, f"//a{i}") for i in range(50)])
    bodies = [b"<r>" + b"".join(b"<a%d/>" % i for i in range(k)) + b"</r>" for k in range(50)]
    problems: list[object] = []

    def work() -> None:
        for _ in range(40):
            for k, body in enumerate(bodies):
                found = [id for id in index.match(body).ids if isinstance(id, int)]
                if found != list(range(k)):
                    problems.append((k, found))

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for i in range(300):
        index.add(f"x{i}", "//a3")
        index.remove(f"x{i}")
    for thread in threads:
        thread.join()
    assert problems == []


def test_an_index_goes_on_after_fork() -> None:
    """A forked child can match, and change its own copy."""
    index = Index([("a", "//a"), ("b", "//b")])
    assert index.match(b"<a/>").ids == ["a"]
    child = os.fork()
    if child == 0:
        index.add("c", "//a")
        os._exit(0 if index.match(b"<a/>").ids == ["a", "c"] else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert index.match(b"<a/>").ids == ["a"]


def test_stats_tell_what_costs() -> None:
    """``stats`` has sizes, hit rates, and the subscriptions that are candidates most often."""
    index = Index(
        [("often", "//p[person]/em"), ("never", "//q[person]/em"), ("confirmed", "//p[count(em) = 3]")]
    )
    for _ in range(20):
        index.match(b"<r><p><person/></p><p><em/></p></r>")
    stats = index.stats()
    assert (stats.subscriptions, stats.documents, stats.engines) == (3, 20, 1)
    assert stats.bytes > 0
    assert stats.cache_bytes > 0
    assert {each.id for each in stats.costliest} == {"often", "confirmed"}
    assert {each.id: each.confirmations for each in stats.costliest}["confirmed"] == 20


def test_nothing_costs_nothing() -> None:
    """An empty index matches nothing, and still reports a bad document."""
    index = Index()
    assert index.match(b"<a/>").ids == []
    assert index.match(b"<a>").error is not None
    assert index.match_batch(pa.array([b"<a/>"])).matches.to_pylist() == [[]]
    assert len(index) == 0


def test_an_undeclared_entity_in_an_attribute_is_not_dropped() -> None:
    """If a DTD is not read, expat would drop the entity silently; the index reports it."""
    index = Index([("x", "//a[@x='1']")])
    for body, code in (
        (b"<!DOCTYPE a SYSTEM 'a.dtd'><a x='1&no;'/>", "undeclared-entity"),
        (b"<!DOCTYPE a SYSTEM 'a.dtd' [<!ENTITY one '1'>]><a x='&one;'/>", None),
        (b"<!DOCTYPE a SYSTEM 'a.dtd'><a x='1' y='&amp;&#65;'/>", None),
    ):
        found = index.match(body)
        assert (found.error and found.error.code) == code
        assert code or found.ids == ["x"]
