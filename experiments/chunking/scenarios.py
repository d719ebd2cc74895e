"""The documents and queries of section 5 of the paper: a university, and a deployment descriptor.

Both are generated from the schemas of the paper's appendix, record by record, so that each kind of record has
the size that the paper gives.  A query names one kind of record; three in ten have a ``//``, three in ten a
filter, and both are drawn independently.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import count
from random import Random
from typing import Literal, TypeAlias

from experiments.engines.chunking.schemas import deployment, mixed_university, university
from experiments.findings import scaled
from twigcast.document import DocumentLimits
from twigcast.schema import ElementGraph
from twigcast.workload import (
    DocumentOptions,
    SubscriptionOptions,
    generate_documents,
    generate_subscriptions,
    presets,
)

TRUSTED = DocumentLimits(work_threshold=1 << 62)
"""Limits under which lxml runs every query of the paper, whatever it might cost on another document."""

Order: TypeAlias = Literal["mixed", "in sequence"]

MEMBER_KILOBYTES = {"professor": 170, "secretary": 206, "assistant": 1233, "lecturer": 1145, "student": 1537}
"""Appendix A1; it does not say which size is of which kind, but that students are the fifth chunk of 100."""
KILOBYTES = 4969
"""The whole document of the paper: 678 KB more than the five kinds, here white space between records."""
LIGHTEST_LAST = {
    100: ("professor", "secretary", "assistant", "lecturer", "student"),
    500: ("assistant", "student", "professor", "lecturer", "secretary"),
    2000: ("student", "lecturer", "assistant", "secretary", "professor"),
}
"""By the number of queries, the kinds from the most to the least queries: the paper names the last ones."""
MEMBER_SHARES = (24, 22, 20, 18, 16)

BEANS = {"message-driven": 44, "session": 162, "entity": 479}
ASSEMBLY = {"container-transaction": 1351, "security-role": 41, "method-permission": 2583}
"""Appendix A3: elements with their two ancestors.  It prints 497 for entity, which does not fit the sum."""
RECORD_ELEMENTS = {
    "message-driven": 42,
    "session": 12,
    "entity": 20,
    "container-transaction": 20,
    "security-role": 3,
    "method-permission": 40,
}
DEPLOYMENT_SHARES = {
    "container-transaction": 19,
    "method-permission": 18,
    "security-role": 17,
    "session": 16,
    "message-driven": 15,
    "entity": 14,
}
COUNTS = (100, 500, 2000)
MARKED = 0.3
"""The share of queries with ``//``, and of those with a filter."""
MOST_DRAWN = 400_000


@dataclass(frozen=True, slots=True)
class Scenario:
    """A document, its schema, and the kinds of its records."""

    name: str
    body: bytes
    graph: ElementGraph
    kinds: tuple[str, ...]


@lru_cache(maxsize=4)
def university_scenario(scale: float, order: Order) -> Scenario:
    """The university, with the sizes of the paper times the scale."""
    random = Random("members")
    identifiers = count(1)
    records: list[bytes] = []
    for kind, kilobytes in MEMBER_KILOBYTES.items():
        size, most = 0, max(1, round(1024 * kilobytes * scale))
        for body in _records(university(kind), 4, words=13):
            if size >= most:
                break
            record = re.sub(rb' id="[^"]*"', b' id="n%d"' % next(identifiers), body, count=1)
            records.append(record)
            size += len(record)
    if order == "mixed":
        random.shuffle(records)
    room = max(0, round(1024 * KILOBYTES * scale) - sum(map(len, records)))
    gap = b"\n" + b" " * max(0, room // len(records) - 1)
    graph = mixed_university() if order == "mixed" else university()
    return Scenario(order, b"<db>" + gap.join([b"", *records, b"</db>"]), graph, tuple(MEMBER_KILOBYTES))


@lru_cache(maxsize=2)
def deployment_scenario(scale: float) -> Scenario:
    """The deployment descriptor, with as many elements of each kind as in the paper times the scale."""
    written = [b"<ejb-jar>"]
    for parent, kinds in (("enterprise-beans", BEANS), ("assembly-descriptor", ASSEMBLY)):
        written.append(b"<%s>" % parent.encode())
        for kind, elements in kinds.items():
            left = scaled(elements - 2, scale)
            for body in _records(deployment(kind), RECORD_ELEMENTS[kind]):
                written.append(body)
                left -= len(re.findall(rb"<[a-z]", body))
                if left <= 0 or kind == "message-driven":
                    break
        written.append(b"</%s>" % parent.encode())
    written.append(b"</ejb-jar>")
    return Scenario("deployment", b"\n".join(written), deployment(), (*BEANS, *ASSEMBLY))


def _records(graph: ElementGraph, elements: int, words: float = 8) -> Iterator[bytes]:
    """Records of one kind, without end."""
    options = DocumentOptions(seed=17, elements=elements, skew=0.0, words=words)
    for number in count(step=1000):
        yield from (body.strip() for body in generate_documents(graph, 1000, options, first=number))


def member_queries(scenario: Scenario, amount: int, scale: float) -> list[str]:
    """Queries on the university; which kind has the fewest is as in figure 10."""
    shares = dict(zip(LIGHTEST_LAST[amount], MEMBER_SHARES, strict=True))
    options = replace(presets.CHUNKING, seed=amount, min_steps=2)
    return _queries(scenario, shares, scaled(amount, scale), replace(options, descendant=0.3, value=0.3))


def deployment_queries(scenario: Scenario, amount: int, scale: float) -> list[str]:
    """Queries on the deployment descriptor, with the shares of appendix A3."""
    options = replace(presets.CHUNKING, seed=amount, min_steps=3, max_steps=6, descendant=0.2, value=0.15)
    return _queries(scenario, DEPLOYMENT_SHARES, scaled(amount, scale), options)


def _queries(
    scenario: Scenario, shares: Mapping[str, int], amount: int, options: SubscriptionOptions
) -> list[str]:
    """Draw until each kind has its share of queries with and without ``//`` and a filter."""
    whole = sum(shares.values())
    wanted = {
        (kind, deep, filtered): amount * share / whole * _part(deep) * _part(filtered)
        for kind, share in shares.items()
        for deep in (False, True)
        for filtered in (False, True)
    }
    quotas = _rounded(wanted, amount)
    chosen: list[str] = []
    for text in generate_subscriptions(scenario.graph, MOST_DRAWN, options):
        named = [kind for kind in shares if re.search(rf"/{kind}(?![\w-])", text)]
        if len(named) == 1 and quotas.get(key := (named[0], "//" in text, "[" in text), 0):
            quotas[key] -= 1
            chosen.append(text)
            if len(chosen) == amount:
                break
    Random(amount).shuffle(chosen)
    return chosen


def _part(marked: bool) -> float:
    return MARKED if marked else 1 - MARKED


def _rounded(wanted: Mapping[tuple[str, bool, bool], float], total: int) -> dict[tuple[str, bool, bool], int]:
    """Whole numbers with the same sum, those with the largest remainders rounded up."""
    found = {key: int(value) for key, value in wanted.items()}
    for key in sorted(wanted, key=lambda each: found[each] - wanted[each])[: total - sum(found.values())]:
        found[key] += 1
    return found
