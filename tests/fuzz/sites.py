"""What must hold for plans and annotations between two sites, however they were altered.

* A plan is read or refused with ``RoutingError``; if it is read, it says what its site has written.
* A plan that was forged, with a name that fits, leads to no other error, and what is annotated by it never
  decides a document otherwise than parsing does.
* Annotations that were altered, or are those of another document, decide nothing.
* Annotations that were forged, with a digest that fits, may lie, but they cause no error and stay bounded.
"""

from __future__ import annotations

import contextlib
import json
from collections import Counter
from dataclasses import dataclass, replace
from random import Random

import numpy as np

from experiments.engines.piggyback.protocols import PIGGYBACK
from tests.fuzz.alterations import altered_bytes, altered_json
from tests.fuzz.bounds import Unmetered
from tests.fuzz.checks import expect
from tests.routing.overlay import any_document, subscription
from twigcast.document import DocumentLimits, read
from twigcast.errors import RoutingError, StructureError
from twigcast.filtering import Index
from twigcast.pattern import Pattern, matches, parse, render
from twigcast.routing import (
    AnnotationKind,
    Annotations,
    Envelope,
    SiteAnnotator,
    SiteBorder,
    SitePlan,
    SiteReader,
    Strategy,
    accepted,
)
from twigcast.routing.border.site_plan import _epoch

KINDS = [name for name in PIGGYBACK if name.startswith("L") and name != "L"]


@dataclass(frozen=True, slots=True)
class SiteCase:
    """The kinds of annotations, the subscriptions of a site, documents, and the seed of all alterations."""

    kinds: str
    subscriptions: list[str]
    bodies: list[bytes]
    seed: int


def site_case(seed: int) -> SiteCase:
    """The case of a seed."""
    chance = Random(seed)
    subscriptions = [render(subscription(chance)) for _ in range(chance.randrange(1, 12))]
    bodies = [
        b"<a>" + any_document(chance) * chance.choice([1, 3, 30]) + b" " * 2000 + b"</a>" for _ in range(3)
    ]  # about a short document nothing is said
    return SiteCase(chance.choice(KINDS), subscriptions, bodies, seed)


@dataclass(frozen=True, slots=True)
class _Site:
    index: Index
    reader: SiteReader
    patterns: dict[str, Pattern]

    def check(self, what: str, envelope: Envelope, *, decides: bool = True) -> None:
        """Compare what annotations decide with what parsing finds, or expect that they decide nothing."""
        found = self.concluded(envelope)
        right = {id for id, each in self.patterns.items() if matches(each, read(envelope.body))}
        positions = sorted(self.index.position(id) or 0 for id in right)
        if found is not None:
            expect(what, found, positions if decides else None)

    def concluded(self, envelope: Envelope) -> list[int] | None:
        """What a batch of the pipeline concludes; None if it parses the document."""
        said = accepted(envelope, DocumentLimits())
        if said is None:
            return None
        structure, found = said.sections.get(AnnotationKind.STRUCTURE), None
        if structure is not None:
            try:
                answer = self.index.match_structure(structure)
            except StructureError:
                return None
            found = np.array(answer.positions, np.int32), np.array(answer.open, np.int32)
        decided = self.reader.matches(said, found)
        return None if decided is None else sorted(decided.tolist())


def check_sites(case: SiteCase, meter: Unmetered, done: Counter[str]) -> None:
    """All that must hold for a case; raises ``Mismatch``."""
    chance = Random(case.seed)
    patterns = {f"s{number}": parse(text) for number, text in enumerate(case.subscriptions)}
    border, index = SiteBorder(Strategy(piggyback=case.kinds)), Index()
    index.add_all(patterns.items())
    border.change((), patterns)
    plan = border.plan()
    site = _Site(index, border.reader(index.position, (), index.position_count), patterns)
    annotator = SiteAnnotator(plan)
    envelopes = []
    for number, body in enumerate(case.bodies):
        envelope = Envelope(f"d{number}", body)
        envelope = replace(envelope, annotations=annotator.annotations(envelope.doc_id, body))
        site.check("annotations", envelope)
        done["documents decided"] += site.concluded(envelope) is not None
        envelopes.append(envelope)
    for _ in range(12):
        _check_plans(plan, site, case.bodies, chance, meter, done)
        _check_annotations(site, envelopes, chance, meter, done)


def _check_plans(
    plan: SitePlan,
    site: _Site,
    bodies: list[bytes],
    chance: Random,
    meter: Unmetered,
    done: Counter[str],
) -> None:
    data = plan.encode()
    altered = altered_bytes(chance, data)
    with meter.bounded("site", len(altered)), contextlib.suppress(RoutingError):
        expect("an altered plan", SitePlan.decode(altered)._content(), plan._content())
    content = json.loads(data)
    del content["epoch"]
    content = altered_json(chance, content)
    if not isinstance(content, dict):
        return
    with contextlib.suppress(UnicodeEncodeError):
        forged = json.dumps({**content, "epoch": _epoch(content)}).encode()
        with meter.bounded("site", len(forged) + sum(map(len, bodies))):
            try:
                annotator = SiteAnnotator(SitePlan.decode(forged))
            except RoutingError:
                done["forged plans refused"] += 1
                return
            for number, body in enumerate(bodies):
                said = annotator.annotations(f"d{number}", body)
                site.check("a forged plan", Envelope(f"d{number}", body, annotations=said))
            done["forged plans used"] += 1


def _check_annotations(
    site: _Site, envelopes: list[Envelope], chance: Random, meter: Unmetered, done: Counter[str]
) -> None:
    envelope = chance.choice(envelopes)
    if not envelope.annotations:
        return
    altered = altered_bytes(chance, envelope.annotations)
    if altered != envelope.annotations:
        site.check("altered annotations", replace(envelope, annotations=altered), decides=False)
    site.check("those of another document", replace(envelope, doc_id="other"), decides=False)
    done["altered annotations"] += 1
    said = Annotations.decode(envelope.annotations, envelope)
    sections = {
        kind: altered_bytes(chance, payload) if chance.random() < 0.7 else payload
        for kind, payload in said.sections.items()
    }
    sections[chance.randrange(10)] = bytes(chance.randrange(256) for _ in range(chance.randrange(40)))
    lie = replace(said, sections=sections, whole=chance.random() < 0.5)
    forged = replace(envelope, annotations=lie.encode(envelope))
    with meter.bounded("site", len(forged.annotations) + len(forged.body)):
        decided = site.concluded(forged)
    if decided is not None:
        expect("positions of a lie", set(decided) <= set(range(site.index.position_count)), wanted=True)
    done["forged annotations"] += 1
