"""Proposes which places of a source schema mean which places of the global schema, with the evidence.

    names ──┐
    thesaurus ─► score of each pair ──► flooding ──► choice ──► Matching: pairs, PairEvidence, unmatched
    values ─┘

The proposal is for a person to review: every pair says why it was made.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from twigcast.rewriting.matching.choosing import assign, compatible, consistent, overlap, share
from twigcast.rewriting.matching.flooding import LabelledEdge, flood
from twigcast.rewriting.matching.naming import NameComparison, NameSimilarity, words_of
from twigcast.rewriting.matching.profiling import DISTINCTIVE, STRICT, ValueProfile
from twigcast.rewriting.matching.thesaurus import Thesaurus
from twigcast.rewriting.schema_tree import SchemaNode, SchemaTree

THRESHOLD = 0.45
"""Pairs with a smaller score are not proposed."""
LARGEST = 2000
"""How many nodes of a schema are compared, from the root down."""
VALUES = 0.25
"""The weight of values where names agree, too."""
STRICT_VALUES = 0.5
"""The weight of values where both places have e-mail addresses, or both URLs."""
CONTEXT = 0.25
"""By how much of its similarity a pair is worse if the names above the two nodes have nothing in common."""
CONTEXT_ALONE = 0.5
"""The same for a pair whose names say nothing, and whose values must therefore be of a distinctive kind."""
LEARNT = 0.9
"""The similarity of a place and a name that other publishers have for it, and for no other place."""
ENOUGH = 3
"""How many values two places must have to be a pair by values alone."""
UNSEEN = 0.75
"""The weight of a place that occurs in none of the documents, where there are documents."""
QUALIFIER = 0.85
"""The weight of an attribute of an element with text, such as a currency: it qualifies that text."""
ALIKE = 0.6
"""How similar the values of siblings are that may share a target."""
FLOODING = 0.0
"""The weight of flooding.  With 0.2 the F1 fell from 0.94 to 0.91 on seven flat catalogues, and from 0.85 to
0.83 on two deep invoice formats: the names above a place say the same, and more sharply."""
SHAPE = 0.05
"""What two roots, and two elements that both repeat or both do not, have in common beside their names."""


@dataclass(frozen=True, slots=True)
class PairEvidence:
    """Why a pair was proposed: the score that decided, and what it was made of.

    ``values`` is None where the values of one of the two places are not known.
    """

    score: float
    name: float
    synonyms: tuple[tuple[str, str], ...] = ()
    context: float = 1.0
    flooding: float | None = None
    values: float | None = None
    structure: float | None = None
    learnt: bool = False
    """Whether another publisher has this name for the target."""
    shared: bool = False
    """Whether another place of the source has the same target."""

    def __str__(self) -> str:
        parts = [f"{self.score:.2f}: name {self.name:.2f}"]
        if self.synonyms:
            parts.append("thesaurus " + ", ".join(f"{a}~{b}" for a, b in self.synonyms))
        if self.learnt:
            parts.append("learnt")
        if self.structure is not None:
            parts.append(f"structure {self.structure:.2f}")
        if self.values is not None:
            parts.append(f"values {self.values:.2f}")
        if self.flooding is not None:
            parts.append(f"flooding {self.flooding:.2f}")
        if self.shared:
            parts.append("shares its target")
        return ", ".join(parts)


@dataclass(frozen=True, slots=True)
class Matching:
    """The proposed pairs, source place to global place, and the evidence of each by source place.

    ``unmatched`` has the source places without a pair, in the order of the schema.
    """

    pairs: dict[str, str] = field(default_factory=dict)
    evidence: dict[str, PairEvidence] = field(default_factory=dict)
    unmatched: tuple[str, ...] = ()


def match_schemas(
    source: SchemaTree,
    target: SchemaTree,
    *,
    thesaurus: Thesaurus | None = None,
    source_profiles: Mapping[str, ValueProfile] | None = None,
    target_profiles: Mapping[str, ValueProfile] | None = None,
    target_names: Mapping[str, Collection[str]] | None = None,
    threshold: float = THRESHOLD,
    flooding: float = FLOODING,
) -> Matching:
    """Propose pairs of places.

    Without a thesaurus the built-in one is used.  Profiles of values are used where both sides have them:
    those of the source from its documents, those of the target from publishers that are already mapped.
    ``target_names`` has the names that those publishers have for each place (``pooled_names``).
    ``flooding`` is the weight of similarity flooding, 0 for none.
    """
    scores = _Scores(
        _nodes(source),
        _nodes(target),
        Thesaurus.built_in() if thesaurus is None else thesaurus,
        source_profiles or {},
        target_profiles or {},
        target_names or {},
        flooding,
    )
    leaves = assign(scores.leaves, threshold)
    shared = share(scores.leaves, leaves, threshold, scores.alike)
    leaves |= shared
    chosen = leaves | _inner_pairs(scores, leaves, threshold)
    found = {node.key: chosen[node.key] for node in scores.sources if node.key in chosen}
    _settle_root(scores, found)
    for key, image in list(found.items()):  # a node before those below it
        if _must_stay(scores, key, image) and not _stays(scores, key, image, found):
            del found[key]
    evidence = {
        key: scores.evidence(key, image, shared=key in shared, structure=scores.structure.get((key, image)))
        for key, image in found.items()
    }
    unmatched = tuple(node.key for node in scores.sources if node.key not in found)
    return Matching(found, evidence, unmatched)


def _nodes(tree: SchemaTree) -> list[SchemaNode]:
    """The nodes to compare, in preorder; those of a large schema whose content is not known are left out."""
    found = tree.nodes(LARGEST)
    return [node for node in found if tree.graph is None or node.is_attribute or node.is_expanded]


def _settle_root(scores: _Scores, pairs: dict[str, str]) -> None:
    """Pair the source root with the global root, unless all other images lie below the root's own.

    The root contains everything, so what it means does, too.
    """
    root, top = scores.sources[0].key, scores.targets[0].key
    image = pairs.get(root)
    if image in (None, top):
        return
    if any(each != image and not each.startswith(f"{image}/") for each in pairs.values()):
        del pairs[root]
        if top not in pairs.values():
            pairs[root] = top


def _must_stay(scores: _Scores, key: str, image: str) -> bool:
    """Whether a node cannot be moved: an attribute that remains one, and what is in an element that can
    contain itself, or is one."""
    node = scores.source_by_key[key]
    in_loop = node.parent is not None and any(each.is_recursive for each in (node, *node.ancestors()))
    return scores.target_by_key[image].is_attribute or in_loop


def _stays(scores: _Scores, key: str, image: str, pairs: Mapping[str, str]) -> bool:
    """Whether a node stays where it is: its parent is paired with the parent of its image."""
    above, below = scores.source_by_key[key].parent, scores.target_by_key[image].parent
    return above is not None and below is not None and pairs.get(above.key) == below.key


class _Scores:
    """The similarities of all pairs of nodes that are compatible."""

    def __init__(
        self,
        sources: Sequence[SchemaNode],
        targets: Sequence[SchemaNode],
        thesaurus: Thesaurus,
        source_profiles: Mapping[str, ValueProfile],
        target_profiles: Mapping[str, ValueProfile],
        target_names: Mapping[str, Collection[str]],
        flooding: float,
    ) -> None:
        self.sources, self.targets = sources, targets
        self.source_by_key = {node.key: node for node in sources}
        self.target_by_key = {node.key: node for node in targets}
        self.names = NameComparison(thesaurus, (node.label.local for node in (*sources, *targets)))
        self.flooding = flooding
        self.profiles = source_profiles
        self.learnt = _unambiguous(target_names)
        self.structure: dict[tuple[str, str], float] = {}
        self._above = {id(node): self._words_above(node) for node in (*sources, *targets)}
        self.found: dict[tuple[str, str], PairEvidence] = {}
        for y in targets:  # in the order of the global schema, which decides between equal scores
            for x in sources:
                if compatible(x, y):
                    evidence = self._compare(x, y, source_profiles.get(x.key), target_profiles.get(y.key))
                    if evidence is not None and evidence.score > 0.0:
                        self.found[x.key, y.key] = evidence
        if flooding:
            self._flood()

    @property
    def leaves(self) -> dict[tuple[str, str], float]:
        return {pair: each.score for pair, each in self.found.items() if self.source_by_key[pair[0]].is_leaf}

    def evidence(
        self, source: str, target: str, *, shared: bool = False, structure: float | None = None
    ) -> PairEvidence:
        each = self.found.get((source, target), PairEvidence(0.0, 0.0))
        score = each.score if structure is None else self.inner_score(source, target, structure)
        return replace(each, score=score, structure=structure, shared=shared)

    def inner_score(self, source: str, target: str, structure: float) -> float:
        """The score of two inner nodes: half by their names, half by the leaves below both."""
        x, y = self.source_by_key[source], self.target_by_key[target]
        names = self.found[source, target].score if (source, target) in self.found else 0.0
        shape = (x.parent is None) == (y.parent is None), (x.most is None) == (y.most is None)
        return min(1.0, 0.5 * names + 0.5 * structure + SHAPE * sum(shape))

    def alike(self, a: str, b: str, target: str) -> bool:
        """Whether two leaves of the source may mean the same: siblings whose names differ by numbers only, or
        say nothing while their values are of one distinctive kind, or were both learnt for the target."""
        x, y = self.source_by_key[a], self.source_by_key[b]
        if x.parent is not y.parent:
            return False
        names = [[word for word in words_of(each.label.local) if not word.isdigit()] for each in (x, y)]
        if names[0] == names[1]:
            return True
        evidence = self.found[a, target], self.found[b, target]
        if all(each.learnt for each in evidence):
            return True
        if any(each.name for each in evidence):
            return False
        ours, theirs = self.profiles.get(a), self.profiles.get(b)
        return (
            ours is not None
            and theirs is not None
            and ours.kind == theirs.kind
            and ours.kind in DISTINCTIVE
            and ours.similarity(theirs) >= ALIKE
        )

    def _compare(
        self, x: SchemaNode, y: SchemaNode, ours: ValueProfile | None, theirs: ValueProfile | None
    ) -> PairEvidence | None:
        """The evidence for a pair before flooding, None if there is none or the values exclude the pair."""
        name = self._name_similarity(x, y)
        learnt = bool(self.learnt) and self.learnt.get(words_of(x.label.local)) == y.key
        if learnt and name.value < LEARNT:
            name = NameSimilarity(LEARNT)
        if not name.value and ours is None:
            return None  # nothing speaks for it
        context = self._context(x, y)
        score = name.value * (1.0 - CONTEXT * (1.0 - context))
        theirs = theirs or ValueProfile.expected(self.names.words(y.label.local))
        values = None
        if ours is not None and theirs is not None:
            if ours.vetoes(theirs):
                return None
            values = ours.similarity(theirs)
            if score:
                weight = STRICT_VALUES if ours.kind == theirs.kind and ours.kind in STRICT else VALUES
                score = (1.0 - weight) * score + weight * values
            elif ours.kind == theirs.kind and ours.kind in DISTINCTIVE and _enough(ours, theirs):
                score = values * (1.0 - CONTEXT_ALONE * (1.0 - context))
        if x.is_attribute and x.parent is not None and x.parent.has_text and not y.is_attribute:
            score *= QUALIFIER
        if ours is None and self.profiles and x.is_leaf:
            score *= UNSEEN
        return PairEvidence(score, name.value, name.synonyms, context, None, values, learnt=learnt)

    def _name_similarity(self, x: SchemaNode, y: SchemaNode) -> NameSimilarity:
        """Of the two names, or of these with the parent's name before one of them.

        So ``Lecturer`` is compared with ``instructor_name``, and ``IncludedNote/Content`` with ``note``.
        """
        ours, theirs = self.names.words(x.label.local), self.names.words(y.label.local)
        found = [self.names.of_words(ours, theirs)]
        if y.parent is not None and y.parent.parent is not None:
            found.append(self.names.of_words(ours, self.names.words(y.parent.label.local) + theirs))
        if x.parent is not None and x.parent.parent is not None:
            found.append(self.names.of_words(self.names.words(x.parent.label.local) + ours, theirs))
        return max(found, key=lambda each: each.value)

    def _words_above(self, node: SchemaNode) -> tuple[str, ...]:
        """The words of the names above a node, without the root's, which all nodes have above them."""
        above = [each for each in node.ancestors() if each.parent is not None]
        return tuple(dict.fromkeys(word for each in above for word in self.names.words(each.label.local)))

    def _context(self, x: SchemaNode, y: SchemaNode) -> float:
        """How many of the words above the one node are above or in the other, from 0 to 1."""
        ours, theirs = self._above[id(x)], self._above[id(y)]
        forth = self.names.contained(theirs, (*ours, *self.names.words(x.label.local)))
        back = self.names.contained(ours, (*theirs, *self.names.words(y.label.local)))
        return 0.7 * forth + 0.3 * back

    def _flood(self) -> None:
        rows = {node.key: number for number, node in enumerate(self.sources)}
        columns = {node.key: number for number, node in enumerate(self.targets)}
        initial = np.zeros((len(rows), len(columns)))
        for (source, target), each in self.found.items():
            initial[rows[source], columns[target]] = each.score
        flooded = flood(initial, _edges(self.sources, rows), _edges(self.targets, columns))
        largest = flooded.max(axis=1, keepdims=True)
        relative = np.divide(flooded, largest, out=np.zeros_like(flooded), where=largest > 0)
        for (source, target), each in self.found.items():
            flow = float(relative[rows[source], columns[target]])
            score = (1.0 - self.flooding) * each.score + self.flooding * flow * (each.score > 0)
            self.found[source, target] = replace(each, score=score, flooding=flow)


def _enough(ours: ValueProfile, theirs: ValueProfile) -> bool:
    """Whether two profiles have enough values; the profile that a name promises needs none."""
    return ours.count >= ENOUGH and (theirs.count >= ENOUGH or theirs.count == 0)


def _unambiguous(target_names: Mapping[str, Collection[str]]) -> dict[tuple[str, ...], str]:
    """The place that is meant by each name which publishers have for one place only."""
    found: dict[tuple[str, ...], set[str]] = {}
    for target, names in target_names.items():
        for name in names:
            found.setdefault(words_of(name), set()).add(target)
    return {words: next(iter(targets)) for words, targets in found.items() if len(targets) == 1}


def _inner_pairs(scores: _Scores, leaves: Mapping[str, str], threshold: float) -> dict[str, str]:
    sources = [node for node in scores.sources if not node.is_leaf]
    targets = [node for node in scores.targets if not node.is_leaf]
    scores.structure = overlap(sources, targets, leaves)
    found = {
        (x.key, y.key): scores.inner_score(x.key, y.key, structure)
        for y in targets
        for x in sources
        if (structure := scores.structure.get((x.key, y.key))) is not None
    }
    pairs = assign(found, threshold)
    names = {pair: each.name for pair, each in scores.found.items()}
    return consistent(pairs, found, names, scores.source_by_key, scores.target_by_key)


def _edges(nodes: Sequence[SchemaNode], numbers: Mapping[str, int]) -> list[LabelledEdge]:
    return [
        LabelledEdge(numbers[node.parent.key], node.is_attribute, numbers[node.key])
        for node in nodes
        if node.parent is not None
    ]
