"""The order in which a sender that knows no subscriptions sends fragments."""

from __future__ import annotations

from twigcast.fragmenting import Fragment, Spans, by_novelty, fragment

BODY = b"<a>" + b"<b/>" * 8 + b"<c><d/><e/></c><f/>" + b"<b/>" * 4 + b"</a>"


def parts(header: str = "prefix+paths") -> list[Fragment]:
    return list(fragment(BODY, doc_id="d", cut=Spans(elements=3), header=header))  # type: ignore[arg-type]


def test_new_label_paths_come_first() -> None:
    """The fragment with /a/c, /a/c/d and /a/c/e comes first; fragments without anything new come last."""
    made = parts()
    ordered = by_novelty(made)
    seen: set[int] = set()
    news = []
    for each in ordered:
        assert each.paths is not None
        news.append(len(each.paths.numbers - seen))
        seen |= each.paths.numbers
    assert news == sorted(news, reverse=True)
    assert news[0] == 3
    assert sorted(each.number for each in ordered) == [each.number for each in made]


def test_headers_without_paths_leave_the_order_as_it_is() -> None:
    """They do not say what is new."""
    assert by_novelty(reversed(parts("prefix"))) == parts("prefix")
    assert by_novelty([]) == []
