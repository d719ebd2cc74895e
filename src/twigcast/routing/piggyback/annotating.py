"""Makes the annotations that a router attaches to a document for one neighbour.

The subscriptions that the neighbour has forwarded are rows of this router's table, and the questions of its
plan are held in the same pool: all of them are matched in the pass that decides where the document goes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from twigcast.pattern import Pattern
from twigcast.routing.piggyback.annotations import AnnotationKind, Annotations
from twigcast.routing.piggyback.choice.values import ND_BITS, NS_BITS, PAPER_PD_BITS
from twigcast.routing.piggyback.payloads import (
    decode_bindings,
    decode_positions,
    encode_bindings,
    encode_bits,
    encode_positions,
    encode_set,
    encode_unset,
)
from twigcast.routing.piggyback.plan import AnnotationPlan
from twigcast.routing.piggyback.question_list import NO_QUESTIONS, QuestionList
from twigcast.routing.piggyback.questions.data_patterns import chain_pattern
from twigcast.routing.piggyback.told_set import ToldSet
from twigcast.routing.piggyback.verdict import NO_NUMBERS, Numbers
from twigcast.routing.pool import Pool
from twigcast.routing.transit.evidence import DocumentEvidence


class Annotator:
    """Makes annotations for one neighbour; ``heard`` are the subscriptions that it has forwarded."""

    def __init__(self, pool: Pool, heard: ToldSet) -> None:
        self.heard = heard
        self.plan: AnnotationPlan | None = None
        self.questions: tuple[int, ...] = ()
        """The numbers of the patterns that the plan asks about."""
        self._pool = pool
        self._wishes = NO_NUMBERS
        self._absences = self._answers = self._told = NO_QUESTIONS
        self._told_for = 0

    def use(self, plan: AnnotationPlan | None) -> None:
        """Follow a plan of the neighbour from now on, or none."""
        before = self.questions
        asked = plan or AnnotationPlan()
        absences = self._held(chain_pattern(each) for each in asked.absences)
        self._wishes = self._held(each.pattern for each in asked.wishes)
        answers = self._held(asked.answers)
        self._absences, self._answers = QuestionList(absences), QuestionList(answers)
        self.questions = tuple(np.concatenate([absences, self._wishes, answers]).tolist())
        self.plan = plan
        for number in before:
            self._pool.release(number)

    def annotate(
        self, evidence: DocumentEvidence, positive: str, negative: str, numbers: Mapping[str, int]
    ) -> Annotations:
        """Return annotations of the kinds that are given by their letters.

        ``numbers`` has the neighbour's subscriptions by id.
        """
        sections: dict[int, bytes] = {}
        told = epoch = 0
        whole = True
        if "t" in positive and evidence.facts.structure is not None:
            sections[AnnotationKind.STRUCTURE] = evidence.facts.structure
        if "s" in negative and len(self.heard):
            found, whole = _negative(evidence, self._told_questions(numbers))
            sections[AnnotationKind.NEGATIVE_SUBSCRIPTIONS] = found
            told = self.heard.fingerprint
        plan = self.plan
        if plan is not None:
            before = len(sections)
            if "d" in negative and plan.absences:
                found, is_all = _negative(evidence, self._absences)
                whole = whole and is_all
                sections[AnnotationKind.NEGATIVE_DATA] = found
            if "s" in positive and plan.wishes:
                granted = np.flatnonzero(evidence.known.yes[self._wishes]).tolist()
                bindings = [
                    (wish, each) for wish in granted if (each := evidence.facts.bindings(plan.wishes[wish]))
                ]
                payload = encode_bindings(bindings, plan)
                if payload:
                    sections[AnnotationKind.POSITIVE_SUBSCRIPTIONS] = payload
            if "d" in positive and plan.positions:
                ends = evidence.facts.positions(plan.positions)
                if ends:
                    at = {chain: place for place, chain in enumerate(plan.positions)}
                    ends_at = {at[chain]: end for chain, end in ends.items()}
                    sections[AnnotationKind.POSITIVE_DATA] = encode_positions(ends_at)
            if "a" in positive and plan.answers:
                answers = _positive(evidence, self._answers)
                if answers is not None:
                    sections[AnnotationKind.ANSWERS] = answers
            if "r" in negative and plan.ranges:
                ranges = evidence.facts.ranges(plan.ranges)
                if ranges is not None:
                    sections[AnnotationKind.RANGES] = ranges.encode()
            if len(sections) > before:
                epoch = plan.epoch
        return Annotations(evidence.facts.figures, sections, epoch, told, whole=whole)

    def paper_bits(self, annotations: Annotations) -> int:
        """Return the size of annotations as the papers count it: bits, and the characters of names."""
        sections = annotations.sections
        bits = 0
        if AnnotationKind.NEGATIVE_SUBSCRIPTIONS in sections:
            bits += NS_BITS * len(self.heard)
        if self.plan is not None:
            if AnnotationKind.NEGATIVE_DATA in sections:
                bits += ND_BITS * len(self.plan.absences)
            if AnnotationKind.POSITIVE_DATA in sections:
                bits += PAPER_PD_BITS * len(
                    decode_positions(sections[AnnotationKind.POSITIVE_DATA], self.plan)
                )
            if AnnotationKind.POSITIVE_SUBSCRIPTIONS in sections:
                payload, depth = sections[AnnotationKind.POSITIVE_SUBSCRIPTIONS], annotations.figures.depth
                for _, binding in decode_bindings(payload, self.plan, depth):
                    bits += 8 * sum(len(local) for _, chain in binding for _, local in chain)
        return bits

    def _told_questions(self, numbers: Mapping[str, int]) -> QuestionList:
        """Return the neighbour's subscriptions, in the order of their ids."""
        if self._told_for != self.heard.version:
            self._told = QuestionList(np.array([numbers[id] for id in self.heard.ids], dtype=np.int32))
            self._told_for = self.heard.version
        return self._told

    def _held(self, patterns: Iterable[Pattern]) -> Numbers:
        return np.array([self._pool.hold(each) for each in patterns], dtype=np.int32)


def _negative(evidence: DocumentEvidence, questions: QuestionList) -> tuple[bytes, bool]:
    """Return flags for the questions with the answer no, and whether all other answers are yes."""
    matched = evidence.matched_among(questions)
    if matched is not None:
        return encode_unset(questions.places(matched), len(questions)), True
    no, is_all = evidence.known.denied(questions.numbers)
    return encode_bits(no), is_all


def _positive(evidence: DocumentEvidence, questions: QuestionList) -> bytes | None:
    """Return flags for the questions with the answer yes; None if an answer is not known."""
    matched = evidence.matched_among(questions)
    if matched is not None:
        return encode_set(questions.places(matched), len(questions))
    no, is_all = evidence.known.denied(questions.numbers)
    return encode_bits(~no) if is_all else None
