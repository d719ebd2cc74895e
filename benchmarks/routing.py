"""What a router adds to matching, what an advertisement adds, and how long a router takes to be restored.

    a round:   index, index with ids, router, index, index with ids, router, …      chunk by chunk
                      └────── ratio ──────┘

The router has all subscriptions at one client and gets the documents from a neighbour, so what it delivers is
what the index answers; answers are compared in the same run.  Times are CPU times of the one thread; of each
chunk the least over the rounds is taken, since everything is warm and only other processes can add to it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial
from random import Random

from benchmarks.matching import cpu_seconds
from benchmarks.results import Outcome, Progress
from benchmarks.workloads import feed, subscriptions
from experiments.engines.routing.conformance import describes
from twigcast import Index
from twigcast.analysis import schema_automaton
from twigcast.pattern import parse
from twigcast.routing import FLOODING, Deliver, Envelope, Router, Send, Strategy, Subscribe

ROUNDS = 15
CHUNK = 10
"""Documents that are measured at a time: so few that another process rarely comes between."""
DESCRIBED = 20
"""Documents for which the answer of the index is compared with the definition of conformance."""


@cache
def receiving(count: int, progress: Progress = lambda step: None) -> Outcome:
    """Compare ``Router.receive`` with ``Index.match`` on NITF documents and linear subscriptions."""
    progress(f"routing: {count:,} subscriptions")
    texts, source = subscriptions("nitf", "linear", count), feed("nitf")
    ids = [f"s{number}" for number in range(count)]
    index = Index(zip(ids, texts, strict=True))
    router = Router("here", ["neighbour", "other"], ["client"], strategy=FLOODING)
    router.handle([Subscribe(id, parse(text)) for id, text in zip(ids, texts, strict=True)], "client")

    def match(body: bytes) -> object:
        return index.match(body)

    def match_ids(body: bytes) -> object:
        return index.match(body).ids

    def receive(body: bytes) -> list[Send]:
        return router.receive(Envelope("d", body), "neighbour")

    for body in (*source.warm, *source.unseen):
        match(body)
        receive(body)
    progress(f"routing: {count:,} subscriptions: measuring")
    plain, with_ids, routed = _least([match, match_ids, receive], source.unseen)
    wrong = [
        f"document {number}: the router does not deliver what the index answers"
        for number, body in enumerate(source.unseen)
        if _delivered(receive(body)) != tuple(index.match(body).ids)
    ]
    return Outcome(
        {
            "receive_ratio": routed / with_ids,
            "receive_ratio_to_positions": routed / plain,
            "receive_microseconds": routed * 1e6,
            "match_ids_microseconds": with_ids * 1e6,
            "match_microseconds": plain * 1e6,
        },
        tuple(wrong),
    )


@cache
def conformance(count: int, progress: Progress = lambda step: None) -> Outcome:
    """Match documents with and without an advertisement among the subscriptions."""
    progress(f"conformance: {count:,} subscriptions")
    texts, source = subscriptions("nitf", "linear", count), feed("nitf")
    automaton = schema_automaton(source.graph)
    plain, advertised = Index(enumerate(texts)), Index(enumerate(texts))
    advertised.add("advertisement", automaton)
    for body in (*source.warm, *source.unseen):
        plain.match(body)
        advertised.match(body)
    without, together = _least([plain.match, advertised.match], source.unseen)
    random = Random("conformance")
    bodies = random.sample(source.unseen, min(DESCRIBED, len(source.unseen)))
    bodies += [body.replace(b"<body", b"<stranger/><body", 1) for body in bodies]
    (apart,) = _least([lambda body: describes(automaton, body)], source.unseen, rounds=1)
    wrong = [
        f"document {number}: the index and the definition differ in whether it is described"
        for number, body in enumerate(bodies)
        if ("advertisement" in advertised.match(body).ids) is not describes(automaton, body)
    ]
    return Outcome(
        {
            "added_microseconds": (together - without) * 1e6,
            "match_microseconds": without * 1e6,
            "second_parse_microseconds": apart * 1e6,
        },
        tuple(wrong),
    )


@cache
def restoring(count: int, progress: Progress = lambda step: None) -> Outcome:
    """Restore a router with two neighbours and covering, compared with subscribing everything again."""
    texts = subscriptions("nitf", "linear", count)
    router = Router("here", ["one", "two"], ["client"], strategy=Strategy(advertising=False))
    messages = [Subscribe(f"s{number}", parse(text)) for number, text in enumerate(texts)]
    progress(f"restoring: subscribing {count:,}")
    subscribing, _ = cpu_seconds(lambda: router.handle(messages, "client"))
    saved = router.save()
    progress("restoring: measuring")
    seconds, restored = cpu_seconds(lambda: Router.restore(saved))
    wrong = () if restored.save() == saved else ("the restored router is not the one that was saved",)
    return Outcome({"seconds": seconds, "subscribing_seconds": subscribing}, wrong)


def _least(
    actions: Sequence[Callable[[bytes], object]], documents: Sequence[bytes], rounds: int = ROUNDS
) -> list[float]:
    """Return the seconds that each action takes for a document, measured side by side."""
    totals = [0.0] * len(actions)
    for start in range(0, len(documents), CHUNK):
        chunk = documents[start : start + CHUNK]
        least = [float("inf")] * len(actions)
        for _ in range(rounds):
            for number, action in enumerate(actions):
                seconds, _ = cpu_seconds(partial(_run, action, chunk))
                least[number] = min(least[number], seconds)
        totals = [total + each for total, each in zip(totals, least, strict=True)]
    return [total / len(documents) for total in totals]


def _run(action: Callable[[bytes], object], documents: Sequence[bytes]) -> None:
    for body in documents:
        action(body)


def _delivered(sends: Sequence[Send]) -> tuple[str, ...]:
    deliveries = [send.message for send in sends if isinstance(send.message, Deliver)]
    return tuple(id for delivery in deliveries for id in delivery.subscriptions)
