# Partials: what pieces of a document show about all subscriptions; a part of _kernel.pyx.


cdef str MARKER = "twigcast-hole"
cdef bytes MARKER_DATA = os.urandom(12).hex().encode()


cdef vector[uint32_t] literal_counts(SegmentMatcher engine):
    """How many literals each segment in use has, in the order of the segments."""
    cdef vector[uint32_t] counts
    cdef Segment segment
    for segment in engine.segments:
        counts.push_back(segment.view.literals())
    return counts


cdef class KernelPartial:
    """What the pieces read so far show about a document; see partial.hpp."""

    cdef CPartial partial
    cdef CJoiner joiner

    def __init__(self, SegmentMatcher engine, bytes version):
        self.partial.version = version
        self.partial.accepted.assign(engine.result.size(), 0)

    @staticmethod
    def decode(SegmentMatcher engine, const uint8_t[::1] data):
        """A partial from its bytes; raises ``ValueError``.  Its version must be compared before it is used."""
        cdef KernelPartial found = KernelPartial(engine, b"")
        cdef const char* start = <const char*>&data[0] if data.shape[0] else NULL
        cdef size_t words = engine.result.size()
        found.partial = CPartial.decode(start, data.shape[0], literal_counts(engine), <uint32_t>(words * 64))
        return found

    def encode(self):
        """The bytes of the partial."""
        cdef string out
        self.partial.encode(out)
        return <bytes>out

    @property
    def version(self):
        """The version of the index whose numbers the partial has."""
        return <bytes>self.partial.version

    @property
    def decided(self):
        """Whether the document is complete and its answer is known."""
        return self.partial.decided

    @property
    def members(self):
        """The numbers of the fragments in the partial, as ranges (first, one after the last)."""
        return [(each.start, each.end) for each in self.partial.members.ranges]

    @property
    def unfinished(self):
        """The number of elements that are not finished."""
        return self.partial.unfinished()

    @property
    def figures(self):
        """Bytes, elements, greatest depth, most attributes of an element."""
        return self.partial.bytes, self.partial.elements, self.partial.depth, self.partial.attributes

    def has(self, uint64_t number):
        """Whether a fragment is in the partial."""
        return self.partial.members.has(number)

    def add_member(self, uint64_t number):
        """Note that all pieces of a fragment are in the partial."""
        self.partial.members.add(number, number + 1)

    def merge(self, KernelPartial other):
        """Take in another partial of the same document, without common members; False if they contradict each other."""
        if self.partial.members.intersects(other.partial.members):
            raise ValueError("the partials have fragments in common")
        return self.partial.merge(other.partial)

    def path(self, uint64_t id):
        """The ids and names from the root to an element that is not finished, or None if it is not known."""
        cdef vector[pair[uint64_t, string]] found
        if not self.partial.path(id, found):
            return None
        return [(each.first, each.second.decode()) for each in found]

    def derive(self, SegmentMatcher engine, cbool early):
        """Close the elements that are complete; if ``early``, complete also what holds in any case."""
        with nogil:
            self.joiner.derive(self.partial, engine.reader.sinks.matchers, early)

    def positions(self, SegmentMatcher engine):
        """The positions that are certain, and the positions that are candidates for expressions that are inexact."""
        cdef Numbers certain = Numbers(), candidates = Numbers()
        cdef vector[uint64_t] hidden = engine.gone
        cdef size_t w, words = engine.gone.size()
        for w in range(words):
            hidden[w] |= engine.inexact[w]
        append_positions(self.partial.accepted.data(), hidden.data(), words, certain.items)
        for w in range(words):
            hidden[w] = engine.gone[w] | ~engine.inexact[w]
        append_positions(self.partial.accepted.data(), hidden.data(), words, candidates.items)
        return certain, candidates


cdef vector[CLabel] labels_of(list path):
    """Labels that point into the names of the path."""
    cdef vector[CLabel] labels
    cdef CLabel label
    cdef bytes name
    for name in path:
        label.name, label.length = PyBytes_AS_STRING(name), PyBytes_GET_SIZE(name)
        label.hash = hash_bytes(label.name, label.length)
        labels.push_back(label)
    return labels


def interest(SegmentMatcher engine, list path, cbool below, cbool any_space):
    """How much an element with this label path, or with ``below`` anything in it, can contribute to the answer.

    The names are as the parser spells them: namespace, form feed, local name.  With ``any_space`` the last one is a
    local name in an unknown namespace.
    """
    cdef _Matcher matcher
    cdef uint64_t found = 0
    for segment in engine.segments:
        matcher = engine.matchers[segment]
        found += matcher.matcher.interest().amount(labels_of(path), below, any_space)
    return found


def reads_text(SegmentMatcher engine, list path):
    """Whether the text of an element with this label path, or of one above it, is needed."""
    cdef _Matcher matcher
    for segment in engine.segments:
        matcher = engine.matchers[segment]
        if matcher.matcher.interest().reads_text(labels_of(path)):
            return True
    return False


def hole_marker():
    """The instruction that stands for a hole while a piece is parsed, as text."""
    return f"<?{MARKER} {MARKER_DATA.decode()}?>"


def evaluate_piece(SegmentMatcher engine, KernelPartial into, const uint8_t[::1] body, uint64_t place, bytes opening,
                   bytes closing, bytes marker, context, holes, fills, uint64_t first, cbool starts, cbool ends):
    """Read a piece into a partial: None, or an error; the least depth in it and the depth at its end, and its elements.

    ``context`` has the node ids of the elements around it, whose start tags are in ``opening``; the end
    tags of the elements that it leaves open are in ``closing``; ``holes`` has the
    offset, the id and the place of each hole; ``fills`` is the id of the hole that the piece fills, or None.
    """
    cdef CPiece piece
    cdef CPieceHole hole
    cdef CError error
    cdef cbool fits = True
    if body.shape[0]:
        piece.body = <const char*>&body[0]
    piece.length, piece.place = body.shape[0], place
    piece.opening, piece.closing, piece.marker, piece.marker_data = opening, closing, marker, MARKER_DATA
    piece.context = context
    for hole.offset, hole.id, hole.place in holes:
        if hole.offset > piece.length or (piece.holes.size() and hole.offset < piece.holes.back().offset):
            raise ValueError("a hole out of place")
        piece.holes.push_back(hole)
    if fills is not None:
        piece.fills.push_back(fills)
    piece.first, piece.starts, piece.ends = first, starts, ends
    cdef CReader* reader = engine.reader
    cdef CMediation* mediation = reader.mediation
    cdef cbool recording = reader.sinks.recording
    cdef CPartial* partial
    reader.mediation = NULL
    reader.sinks.recording = False
    try:
        with nogil:
            error = reader.read_piece(piece, engine.result.data(), engine.result.size())
            if error.code == 0:
                partial = &reader.sinks.recorder.partial()
                partial.accepted = engine.result
                partial.bytes, partial.elements = piece.length, reader.figures.elements
                partial.depth, partial.attributes = reader.figures.depth, reader.figures.attributes
                fits = reader.sinks.recorder.consistent and into.partial.merge(partial[0])
    finally:
        reader.mediation, reader.sinks.recording = mediation, recording
    if error.code:
        return (error.code, error.line, error.column, error.offset), 0, 0, 0
    if not fits:
        return (INCONSISTENT_PARTS, 0, 0, 0), 0, 0, 0  # two elements have the same id
    cdef CPieceRecorder* recorder = &reader.sinks.recorder
    return None, recorder.least_depth, recorder.last_depth, recorder.elements()
