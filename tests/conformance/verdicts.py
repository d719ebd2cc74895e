"""What expat, ``document.read`` and the kernel say of a document, and whether they may differ.

Python's expat is the judge: namespace-aware, and without reading anything external.  The kernel and ``read``
must accept what it accepts and refuse what it refuses.  The only exceptions are the deliberate refusals of
``DELIBERATE``: there, expat itself must have shown why, in the events of its parse.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from xml.parsers import expat

import pyarrow as pa

from twigcast import Index
from twigcast.document import Document, DocumentLimits, multibyte_codec, read
from twigcast.errors import DocumentError
from twigcast.pattern import matches, parse

PATHS = ("/*", "//*/*", "//a", "/doc", "//*/@*")
"""Subscriptions for which the kernel needs no text, so that it does not ask expat for it."""

TEXTS = ("//text()", "//*[. = '']", "//*[contains(., 'a')]", "//*[string-length(.) > 3]", "//*[2]", "//*[@*]")
"""Subscriptions for which it does, and which differ by how attributes, text and elements are read."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """What expat says of a document, and what it met on the way.

    ``error`` is empty if the document is well-formed.  ``external`` are references to external entities,
    ``skipped`` are general entities without a declaration that was read, ``incomplete`` says that a part of
    the DTD was not read, so that undeclared entities are no error, ``entities`` are declared with their text;
    ``expanded`` are the characters of all names, values and texts, ``depth`` and ``attributes`` are maxima.
    """

    error: str
    external: int = 0
    skipped: int = 0
    incomplete: bool = False
    entities: int = 0
    expanded: int = 0
    depth: int = 0
    attributes: int = 0


def judge(body: bytes) -> Judgement:
    """Parse with expat, with handlers that note what a deliberate refusal needs as its reason."""
    seen: Counter[str] = Counter()
    depth = 0

    def start(name: str, attributes: dict[str, str]) -> None:
        nonlocal depth
        depth += 1
        seen["depth"] = max(seen["depth"], depth)
        seen["attributes"] = max(seen["attributes"], len(attributes))
        seen["expanded"] += len(name) + sum(map(len, attributes)) + sum(map(len, attributes.values()))

    def end(_: str) -> None:
        nonlocal depth
        depth -= 1

    def characters(data: str) -> None:
        seen["expanded"] += len(data)

    def external(*_: str | None) -> int:
        seen["external"] += 1
        return 1

    def skipped(_: str, is_parameter: bool) -> None:
        seen["incomplete" if is_parameter else "skipped"] += 1

    def doctype(_: str, system: str | None, public: str | None, __: bool) -> None:
        seen["incomplete"] += system is not None or public is not None

    def entity(_: str, __: bool, text: str | None, *___: str | None) -> None:
        seen["entities"] += text is not None

    # Expat reads encodings of several bytes per character only if somebody transcribes them.
    codec = multibyte_codec(body)
    parser = expat.ParserCreate(None if codec is None else "utf-8", "\x01")
    parser.EntityDeclHandler = entity
    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = characters
    parser.ExternalEntityRefHandler = external
    parser.SkippedEntityHandler = skipped
    parser.StartDoctypeDeclHandler = doctype
    error = ""
    try:
        parser.Parse(body if codec is None else body.decode(codec).encode(), True)
    except (expat.ExpatError, LookupError, ValueError) as fault:  # the latter two: encodings
        error = str(fault) or type(fault).__name__
    return Judgement(
        error,
        seen["external"],
        seen["skipped"],
        bool(seen["incomplete"]),
        seen["entities"],
        seen["expanded"],
        seen["depth"],
        seen["attributes"],
    )


@dataclass(frozen=True, slots=True)
class DeliberateRefusal:
    """A document that expat accepts is refused with ``code`` if expat's judgement shows the ``evidence``."""

    code: str
    reason: str
    evidence: Callable[[Judgement, bytes, DocumentLimits], bool]


DELIBERATE = (
    DeliberateRefusal(
        "external-entity",
        "refers to an external entity, and nothing external is read",
        lambda judgement, body, limits: judgement.external > 0,
    ),
    DeliberateRefusal(
        "undeclared-entity",
        "refers to an entity that only a part of the DTD could declare that is not read",
        lambda judgement, body, limits: judgement.skipped > 0 or judgement.incomplete,
    ),
    DeliberateRefusal(
        "too-deep",
        "nests elements deeper than DocumentLimits.depth",
        lambda judgement, body, limits: judgement.depth > limits.depth,
    ),
    DeliberateRefusal(
        "too-many-attributes",
        "has an element with more attributes than DocumentLimits.attributes",
        lambda judgement, body, limits: judgement.attributes > limits.attributes,
    ),
    DeliberateRefusal(
        "entity-expansion",
        "grows by entities and namespaces more than DocumentLimits.amplification or entity_depth allows",
        lambda judgement, body, limits: judgement.entities > 0 or judgement.expanded > len(body),
    ),
    DeliberateRefusal(
        "too-large",
        "is larger than DocumentLimits.bytes",
        lambda judgement, body, limits: len(body) > limits.bytes,
    ),
)


@dataclass(frozen=True, slots=True)
class Outcome:
    """One document: expat's judgement, and how kernel and ``read`` compare with it.

    ``refusal`` is the deliberate refusal, ``disagreement`` says what is wrong; both are empty if all agree.
    """

    judgement: Judgement
    refusal: DeliberateRefusal | None = None
    disagreement: str = ""


class Readers:
    """The readers that are compared: ``read``, and two indexes, of which one asks for the text."""

    def __init__(self, limits: DocumentLimits | None = None) -> None:
        self.limits = limits or DocumentLimits()
        self._indexes = [
            Index(list(enumerate(texts)), limits=self.limits) for texts in (PATHS, (*PATHS, *TEXTS))
        ]
        self._patterns = [parse(text) for text in (*PATHS, *TEXTS)]

    def compare(self, body: bytes) -> Outcome:
        """Judge the document, and compare all readers and all their answers."""
        judgement = judge(body)
        document, code = self._read(body)
        codes = {"read": code, **self._kernel_codes(body)}
        if len(set(codes.values())) > 1 and not _alike(codes.values()):
            return Outcome(judgement, disagreement=f"the readers differ: {_told(codes)}")
        if judgement.error and not code:
            return Outcome(judgement, disagreement=f"accepted, but expat says: {judgement.error}")
        if code and not judgement.error:
            for refusal in DELIBERATE:
                if refusal.code == code and refusal.evidence(judgement, body, self.limits):
                    return Outcome(judgement, refusal)
            return Outcome(judgement, disagreement=f"refused ({code}), but expat accepts it")
        if document is not None:
            return Outcome(judgement, disagreement=self._wrong_answers(document, body))
        return Outcome(judgement)

    def _read(self, body: bytes) -> tuple[Document | None, str]:
        try:
            return read(body, self.limits), ""
        except DocumentError as error:
            return None, error.code

    def _kernel_codes(self, body: bytes) -> dict[str, str]:
        codes = {}
        batch = pa.array([body], pa.binary())
        for index, name in zip(self._indexes, ("paths", "texts"), strict=True):
            codes[f"match {name}"] = _code(lambda index=index: index.match(body).error)
            codes[f"match_batch {name}"] = _code(lambda index=index: index.match_batch(batch).errors[0])
        return codes

    def _wrong_answers(self, document: Document, body: bytes) -> str:
        for index in self._indexes:
            found = index.match(body).ids
            truth = [id for id in index.ids if matches(self._patterns[id], document)]
            if found != truth:
                return f"the kernel says {found}, the evaluator {truth}"
        return ""


def _code(ask: Callable[[], DocumentError | None]) -> str:
    """The code of the error that is returned; one that is raised instead is no verdict."""
    try:
        error = ask()
    except DocumentError as raised:
        return f"raises {raised.code}"
    return error.code if error else ""


def _alike(codes: Iterable[str]) -> bool:
    """Whether all refuse, and differ only in whether the document ends too early or is wrong at its end."""
    return set(codes) <= {"malformed", "truncated"}


def _told(codes: dict[str, str]) -> str:
    return ", ".join(f"{name} {code or 'accepts'}" for name, code in codes.items())
