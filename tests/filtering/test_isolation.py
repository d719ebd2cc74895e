"""One document or one subscription never stops, slows or misleads the others."""

from __future__ import annotations

import pytest

from twigcast import DocumentLimits, EvaluationError, Index
from twigcast.document import read
from twigcast.errors import DocumentError
from twigcast.pattern import matches, parse
from twigcast.pattern.evaluating import Evaluation

COLONS = [
    b"<a><?x:y z?></a>",
    b"<?x:y z?><a/>",
    b"<a/><?x:y?>",
    b"<!DOCTYPE a [<!ENTITY p:e 'x'>]><a/>",
    b"<!DOCTYPE a [<!NOTATION p:n SYSTEM 'x'>]><a/>",
    b"<!DOCTYPE a [<!ENTITY % p:e 'x'>]><a/>",
    b"<!DOCTYPE a [<?x:y z?>]><a/>",
]


@pytest.mark.parametrize("body", COLONS)
@pytest.mark.parametrize("subscription", ["//a", "//a[1]", "//a[.='x']"])
def test_both_readers_refuse_a_colon_where_namespaces_allow_none(body: bytes, subscription: str) -> None:
    """A document is good or bad whatever the subscriptions ask for."""
    with pytest.raises(DocumentError) as caught:
        read(body)
    index = Index([("id", subscription)])
    assert index.match(body).error == caught.value
    assert index.match_batch([body, b"<a/>"]).errors == [caught.value, None]
    with pytest.raises(DocumentError):
        index.count(body)


NESTED = "//*[count(.//*[count(.//*[count(.//*) = 7]) = 7]) = 7]"


def test_a_costly_subscription_is_undecided_and_the_others_match() -> None:
    """It is reported with a code, and counted."""
    body = b"<a>" * 300 + b"</a>" * 300
    limits = DocumentLimits(work=1, work_threshold=1000)
    index = Index([("plain", "//a"), ("costly", NESTED), ("first", "/a[1]")], limits=limits)
    match = index.match(body)
    assert match.ids == ["plain", "first"]
    assert [(each.id, each.error.code) for each in match.undecided] == [("costly", "too-costly")]
    batch = index.match_batch([b"<b/>", body])
    assert batch.ids(1) == ["plain", "first"]
    assert [each.id for each in batch.undecided[1]] == ["costly"]
    assert 0 not in batch.undecided
    assert index.stats().undecided == 2
    for question in (index.select, index.explain):
        with pytest.raises(EvaluationError, match=r"limit work"):
            question(body, "costly")


def steps(text: str, body: bytes) -> int:
    """The steps that the evaluation of a pattern takes."""
    evaluation = Evaluation()
    for path in parse(text).alternatives:
        evaluation.follow(path, read(body))
    return evaluation._spent


@pytest.mark.parametrize("text", ["//item[1]", "//item[position() < 3][b]", "/r/item[5][b]"])
def test_positions_take_steps_in_proportion_to_the_siblings(text: str) -> None:
    """Siblings are counted once, not once for each of them."""
    small, large = (b"<r>" + b"<item><b/></item>" * size + b"</r>" for size in (500, 4000))
    assert steps(text, large) < 9 * steps(text, small)


def test_nested_counts_do_not_multiply() -> None:
    """A predicate is evaluated once on a node, so that each nesting adds work and does not multiply it."""
    body = b"<a>" * 60 + b"</a>" * 60
    texts = ["//*[count(.//*) = 7]"]
    for _ in range(4):
        texts.append(texts[-1].replace("count(.//*)", "count(.//*[count(.//*) = 7])", 1))
    taken = [steps(text, body) for text in texts]
    assert taken[4] < 6 * taken[0]
    assert not matches(parse(texts[4]), read(body))


def test_a_long_namespace_is_limited_by_how_much_it_expands() -> None:
    """Every name has its namespace, so a long one times many elements is work out of proportion."""
    body = b"<a xmlns='%s'>" % (b"u" * 50_000) + b"<b/>" * 20_000 + b"</a>"
    error = Index([("id", "//*")]).match(body).error
    assert error is not None
    assert error.code == "entity-expansion"
    assert "limit amplification" in error.message
    with pytest.raises(DocumentError) as caught:
        read(body)
    assert caught.value == error
    assert Index([("id", "//*")], limits=DocumentLimits(amplification=1e6)).match(body).ids == ["id"]


def test_a_long_default_value_is_limited_by_how_much_it_expands() -> None:
    """Every element has the default value, so a long one times many elements is work out of proportion."""
    doctype = b"<!DOCTYPE a [<!ATTLIST b c CDATA '%s'>]>" % (b"v" * 50_000)
    body = doctype + b"<a>" + b"<b/>" * 20_000 + b"</a>"
    error = Index([("id", "//b[contains(@c, 'w')]")]).match(body).error
    assert error is not None
    assert error.code == "entity-expansion"


def test_limits_are_named_with_their_values() -> None:
    """The message says which limit a document exceeds."""
    limits = DocumentLimits(bytes=100, depth=2, attributes=1)
    index = Index([("id", "//a")], limits=limits)
    for body, text in [
        (b"<a>" + b" " * 100 + b"</a>", "(limit bytes: 100)"),
        (b"<a><b><c/></b></a>", "(limit depth: 2)"),
        (b"<a x='' y=''/>", "(limit attributes: 1)"),
    ]:
        error = index.match(body).error
        assert error is not None
        assert text in str(error)
        with pytest.raises(DocumentError) as caught:
            read(body, limits)
        assert caught.value == error
