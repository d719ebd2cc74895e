"""A document in fragments: they come in any order, and matches are known before the last one is there."""

from __future__ import annotations

from random import Random

from twigcast import FragmentIndex, Index, assemble, fragment
from twigcast.fragmenting import Certain, Manifest, Spans

index = Index(
    [
        ("orders", "/shop/order"),
        ("dear", "//order[@total > 900]"),
        ("gift", "//order[note='a gift']/address"),
        ("quiet", "/shop[not(complaint)]"),
    ]
)
orders = "".join(
    f"<order total='{37 * number % 1000}'>"
    f"<address>Street {number}</address><note>{'a gift' if number == 60 else 'none'}</note></order>"
    for number in range(100)
)
document = f"<shop>{orders}</shop>".encode()

parts = list(fragment(document, doc_id="orders of today", cut=Spans(bytes=1000)))
assert assemble(reversed(parts)) == document

feed = FragmentIndex(index, early=True)
feed.expect(Manifest.of(parts))  # optional: by the manifest the feed knows how much is to come
Random(1).shuffle(parts)
for part in parts:
    for news in feed.add(part):
        if isinstance(news, Certain):
            print(f"fragment {part.number}: certain at {news.share:.0%}: {', '.join(map(str, news.ids))}")
        elif news.match is not None:
            print(f"fragment {part.number}: {news.status}: {', '.join(map(str, news.match.ids))}")
            assert news.match.ids == index.match(document).ids
