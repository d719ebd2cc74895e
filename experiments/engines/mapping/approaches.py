"""Other ways to match the documents of one mapping: translated patterns (QRA), and frames (IDDR).

    QRA    a router matches patterns that were translated to the publisher's schema
    IDDR   a router matches source events with frames of image elements, without rewriting; slow

The mappings are announced, as with NDDR_router.  A pool makes one matcher for each mapping, and makes it anew
after its patterns have changed: this is what a network with many publishers pays for these approaches.
"""

from __future__ import annotations

from experiments.engines.mapping.frames import FrameEngine
from experiments.engines.mapping.translating import QueryTranslator
from experiments.engines.routing.conformance import describes_document
from twigcast.analysis import SchemaAutomaton
from twigcast.document import read
from twigcast.filtering import Index
from twigcast.pattern import Pattern, matches
from twigcast.rewriting import Mapping, image_automaton
from twigcast.routing import APPROACHES, NetworkMediation
from twigcast.routing.mediation.image_matching import Entries


class TranslatedPatterns:
    """An index of patterns in the publisher's schema; what is not exact is confirmed on the image.

    Only documents that the publisher's schema describes are decided here: others have elements that the
    translation does not look for.
    """

    def __init__(self, mapping: Mapping, entries: Entries) -> None:
        self._mapping = mapping
        self._entries = entries
        self._inexact: set[int] = set()
        translator = QueryTranslator(mapping)
        self.index = Index()
        self.index.add("source", image_automaton(mapping.source))
        for number, entry in entries.items():
            if isinstance(entry, SchemaAutomaton):
                self._inexact.add(number)
                continue
            pattern, exact = translator.translate(entry)
            if not exact:
                self._inexact.add(number)
            if pattern is not None:
                self.index.add(number, pattern)

    def numbers(self, body: bytes) -> list[int] | None:
        found = self.index.match(body)
        if found.error is not None:
            raise found.error
        numbers = [each for each in found.ids if isinstance(each, int)]
        if len(numbers) == len(found.ids) or found.undecided:  # the source schema is not among them
            return None
        sure = [number for number in numbers if number not in self._inexact]
        schemas = [each for each in self._inexact if isinstance(self._entries[each], SchemaAutomaton)]
        unsure = [number for number in numbers if number in self._inexact] + schemas
        if not unsure:
            return sure
        return sure + _confirmed(self._mapping, body, {each: self._entries[each] for each in unsure})


class Frames:
    """A frame engine over the patterns; schemas are compared with the image."""

    def __init__(self, mapping: Mapping, entries: Entries) -> None:
        self._mapping = mapping
        self._schemas = {n: each for n, each in entries.items() if isinstance(each, SchemaAutomaton)}
        patterns = {n: each for n, each in entries.items() if isinstance(each, Pattern)}
        self._numbers = list(patterns)
        self._engine = FrameEngine(list(patterns.values()), mapping)

    def numbers(self, body: bytes) -> list[int] | None:
        found = [self._numbers[position] for position in self._engine.match(body)]
        return found + _confirmed(self._mapping, body, self._schemas) if self._schemas else found


def _confirmed(mapping: Mapping, body: bytes, entries: Entries) -> list[int]:
    image = mapping.apply(read(body))
    return [
        number
        for number, entry in entries.items()
        if (matches(entry, image) if isinstance(entry, Pattern) else describes_document(entry, image))
    ]


NETWORKS: dict[str, NetworkMediation] = {
    **{name: NetworkMediation(name) for name in APPROACHES},
    "IDDR": NetworkMediation(matcher=Frames),
    "QRA": NetworkMediation(matcher=TranslatedPatterns),
}
"""All approaches of the papers by name."""
