# distutils: language = c++
# cython: language_level=3, boundscheck=False, wraparound=False
"""The compiled kernel: integers, bytes and flat tables, nothing else.

``build`` turns programs over a ``Vocabulary`` into the bytes of a segment; ``Segment`` is a checked view of such bytes.
A ``Plan`` is a checked view of the bytes of a plan by which documents are rewritten while they are read.
A ``SegmentMatcher`` matches documents, or their structures, against several segments at once, and caches the label paths that it has seen
for the next documents.  Only one thread at a time may use it; segments are immutable and shared.
"""

import os

cimport cython

from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_FillInfo, PyBuffer_Release, PyObject_GetBuffer
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE

from twigcast.document import Locator, code_points, codec_name, is_multibyte, transcribe


cdef uint32_t NONE = 0xFFFFFFFF
MOST_REWRITERS = 256  # that an engine keeps beside those in use
cdef uint64_t MOST_BLOCK = 1 << 26  # so that 16 blocks are an int
cdef uint64_t SMALLEST_ELEMENT = 4  # bytes: <a/>
cdef uint64_t SALT = int.from_bytes(os.urandom(8), "little")
seed_hashes(int.from_bytes(os.urandom(8), "little"), int.from_bytes(os.urandom(8), "little"))


cdef int encoding_table(const char* name, int* table) noexcept with gil:
    """Fill the table with the code points of an encoding of one byte per character; returns the kind of encoding."""
    try:
        codec = codec_name(name.decode("ascii"))
        if codec is None:
            return 0
        if is_multibyte(codec):
            return TRANSCRIBED_ENCODING
        points = code_points(codec)
        for i, point in enumerate(points):
            table[i] = point
        return TABLE_ENCODING if points else 0
    except Exception:
        return 0


cdef cbool transcribe_document(const char* name, const char* data, uint64_t length, string& utf8) noexcept with gil:
    """The document in UTF-8; false if that is not possible."""
    try:
        (&utf8)[0] = <bytes> transcribe(data[:length], codec_name(name.decode("ascii")))
        return True
    except Exception:
        return False


cdef uint64_t locate_offset(const char* name, const char* data, uint64_t length, const string& utf8,
                            uint64_t offset) noexcept with gil:
    """The offset in the document of an offset in its transcription."""
    try:
        written = utf8.data()[:utf8.size()]
        return Locator(data[:length], codec_name(name.decode("ascii")), written).locate(offset)
    except Exception:
        return 0


def expat_version():
    """The version of the expat library that the kernel runs with."""
    return XML_ExpatVersion().decode().removeprefix("expat_")


cdef CaseMap LOWER, UPPER


cdef fill_case_maps():
    """Learn from Python which characters beyond ASCII have another case; done once, when it is first needed."""
    if LOWER.size():
        return
    for point in range(0x80, 0x1F000):  # no character beyond has a case
        if 0xD800 <= point < 0xE000:
            continue
        character = chr(point)
        if character.lower() != character and len(character.lower()) == 1:
            LOWER[character.encode()] = character.lower().encode()
        if character.upper() != character and len(character.upper()) == 1:
            UPPER[character.encode()] = character.upper().encode()


cdef void fill(vector[uint64_t]& bitmap, const uint8_t[::1] bytes, size_t words):
    bitmap.assign(words, 0)
    cdef size_t i, n = min(<size_t>bytes.shape[0], words * 8)
    for i in range(n):
        bitmap[i >> 3] |= (<uint64_t>bytes[i]) << ((i & 7) * 8)


include "segments.pxi"
include "plans.pxi"


cdef class KnownNames


cdef class _Matcher:
    cdef CMatcher* matcher
    cdef Segment segment

    def __cinit__(self, Segment segment):
        self.segment = segment

    cdef begin(self, CTuning tuning):
        self.matcher = new CMatcher(self.segment.view, tuning)

    cdef begin_structures(self, CTuning tuning, CStructuralSegment* structural):
        self.matcher = new CMatcher(structural.view, tuning)

    def __dealloc__(self):
        del self.matcher


cdef class SegmentMatcher:
    """Matches documents or their structures against a list of segments; one thread at a time."""

    cdef CReader* reader
    cdef CConfirmation* confirmation
    cdef double work
    cdef uint64_t work_threshold
    cdef object program_of, rows
    cdef object __weakref__
    cdef dict matchers
    cdef CTuning tuning
    cdef vector[uint64_t] result
    cdef vector[uint64_t] gone
    cdef vector[uint64_t] inexact
    cdef cbool confirming
    cdef double matches_per_document  # in the last batch
    cdef object segments
    cdef CMediation mediation
    cdef dict rewriters  # by plan
    cdef PlanSet plans
    cdef CStructureBuilder structure
    cdef CStructureReader structures
    cdef KnownNames known
    cdef list structure_matchers  # of segments with value predicates, for structures without attributes and with them
    cdef readonly object version

    def __cinit__(self, size_t cache_bytes, cbool programs, cbool memo, uint64_t bytes, uint32_t depth,
                  uint32_t attributes, float amplification, uint64_t amplification_threshold,
                  uint32_t entity_depth=64, double matching_work=5000.0, uint64_t matching_work_threshold=1 << 28,
                  double work=16, uint64_t work_threshold=1000000, cbool dead_places=True, cbool shared_copies=True,
                  size_t text_bytes=1 << 16, uint64_t block_bytes=1 << 20):
        self.reader = new CReader(SALT)
        self.confirmation = new CConfirmation()
        self.reader.sinks.tree = &self.confirmation.evaluator.tree
        self.work = work
        self.work_threshold = work_threshold
        self.reader.encodings.table = encoding_table
        self.reader.encodings.transcribe = transcribe_document
        self.reader.encodings.locate = locate_offset
        self.reader.block_bytes = min(max(block_bytes, <uint64_t>1), MOST_BLOCK)
        self.reader.limits.bytes = bytes
        self.reader.limits.depth = depth
        self.reader.limits.attributes = attributes
        self.reader.limits.amplification = amplification
        self.reader.limits.amplification_threshold = amplification_threshold
        self.reader.limits.entity_depth = entity_depth
        self.reader.limits.matching_work = matching_work
        self.reader.limits.matching_work_threshold = matching_work_threshold
        self.structures.limits = CStructureLimits(
            bytes // SMALLEST_ELEMENT, depth, attributes, matching_work, matching_work_threshold)
        self.matchers = {}
        self.structure_matchers = [{}, {}]
        self.rewriters = {}
        self.tuning = CTuning(cache_bytes, programs, memo, dead_places, shared_copies, text_bytes)

    def __dealloc__(self):
        del self.reader
        del self.confirmation

    def use(self, version, tuple segments, uint32_t positions, const uint8_t[::1] gone, const uint8_t[::1] inexact,
            rows=None, program_of=None):
        """Match against these segments from now on; ``gone`` and ``inexact`` are bitmaps of positions.

        ``program_of(position)`` has the words, strings and name tests of an inexact subscription's expression.  They
        are kept as long as ``rows`` stays the same object, as are the caches of segments that were in use before.
        """
        if rows is not self.rows:
            self.confirmation.forget()
        self.rows, self.program_of = rows, program_of
        cdef dict matchers = {}
        cdef vector[CMatcher*] pointers
        cdef _Matcher matcher
        for segment in segments:
            matcher = self.matchers.get(segment)
            if matcher is None:
                matcher = _Matcher(segment)
                matcher.begin(self.tuning)
            matchers[segment] = matcher
            pointers.push_back(matcher.matcher)
        self.reader.sinks.matchers = pointers
        self.reader.sinks.generation += 1
        self.matchers = matchers
        self.segments = segments
        cdef size_t words = (<size_t>positions + 63) // 64
        self.result.assign(words, 0)
        fill(self.gone, gone, words)
        fill(self.inexact, inexact, words)
        self.confirming = inexact.shape[0] > 0
        for each in range(2):
            self.structures.matching[each].is_ready = False
            self.structure_matchers[each] = {
                segment: matcher for segment, matcher in self.structure_matchers[each].items() if segment in matchers}
        self.version = version

    def rewrite(self, PlanSet plans, cbool as_is):
        """Rewrite documents by these plans from now on, or by none if ``plans`` is None.

        With ``as_is``, a document without a plan is matched as it is.
        """
        cdef _Rewriter rewriter
        cdef vector[CRewriter*] pointers
        cdef dict rewriters
        if plans is None:
            self.reader.mediation = NULL
            return
        self.reader.mediation = &self.mediation
        self.mediation.as_is = as_is
        self.mediation.wanted = NONE
        if plans is self.plans:
            return
        rewriters = {} if len(self.rewriters) > MOST_REWRITERS else self.rewriters
        for plan in plans.plans:
            rewriter = rewriters.get(plan) or self.rewriters.get(plan)
            if rewriter is None:
                rewriter = _Rewriter(plan)
                rewriter.begin(&self.reader.sinks, self.tuning)
            rewriters[plan] = rewriter
            pointers.push_back(rewriter.rewriter)
        self.mediation.rewriters = pointers
        self.mediation.by_root = plans.by_root
        self.rewriters, self.plans = rewriters, plans

    def rewritten(self):
        """Of the last document: the number of its plan or None, its strangers, the bytes cached, its root's name."""
        cdef uint32_t found = self.mediation.found
        if self.reader.mediation == NULL or found == NONE:
            return None, 0, 0, self.mediation.root.decode()
        cdef CRewriter* rewriter = self.mediation.rewriters[found]
        return found, rewriter.strangers, rewriter.cached(), ""

    cdef CError read(self, const char* data, uint64_t length, vector[uint32_t]& undecided) except * nogil:
        """Read a document; afterwards ``result`` has the positions that match."""
        cdef CError error
        error = self.reader.read(data, length, self.result.data(), self.result.size())
        if error.code or not self.confirming:
            return error
        if not intersect(self.result.data(), self.inexact.data(), self.result.size()):
            self.reader.sinks.recording = False
            return error
        error = self.confirm(data, length, undecided)
        self.reader.sinks.recording = True  # the next document will probably need its tree, too
        return error

    cdef CError confirm(self, const char* data, uint64_t length, vector[uint32_t]& undecided) except * nogil:
        """Decide the inexact subscriptions among the positions in ``result`` on the tree of the document."""
        cdef CError error = CError(0, 0, 0, 0)
        cdef size_t words = self.result.size()
        cdef uint32_t position
        cdef uint64_t steps
        cdef cbool recorded = self.reader.sinks.recording, prefixes = self.confirmation.evaluator.tree.with_prefixes
        if self.confirmation.evaluator.expressions.is_full():
            self.confirmation.forget()
        while True:
            position = self.confirmation.missing(self.result.data(), self.gone.data(), self.inexact.data(), words)
            if position == NONE:
                break
            with gil:
                self.load(position)
        if not recorded or prefixes != self.confirmation.evaluator.tree.with_prefixes:
            error = self.reader.record(data, length)
            if error.code:
                return error
        if self.confirmation.evaluator.tree.overflow:
            return CError(TOO_LARGE, 1, 0, 0)
        steps = max(self.work_threshold, <uint64_t>min(self.work * <double>length, <double>1e18))
        self.confirmation.decide(self.result.data(), self.gone.data(), self.inexact.data(), words, steps, undecided)
        return error

    def decide(self, const uint8_t[::1] body, const uint32_t[::1] candidates):
        """Of these inexact candidates, the positions that match, those that took too much work, None; or an error."""
        cdef CError error
        cdef Numbers found = Numbers()
        cdef vector[uint32_t] undecided
        cdef const char* data = <const char*>&body[0] if body.shape[0] else NULL
        cdef uint64_t length = body.shape[0]
        cdef size_t i
        self.result.assign(self.result.size(), 0)
        for i in range(<size_t>candidates.shape[0]):
            self.result[candidates[i] >> 6] |= <uint64_t>1 << (candidates[i] & 63)
        self.reader.sinks.recording = False
        with nogil:
            error = self.confirm(data, length, undecided)
            if error.code == 0:
                append_positions(self.result.data(), self.gone.data(), self.result.size(), found.items)
        if error.code:
            return None, (), (error.code, error.line, error.column, error.offset)
        return found, list(undecided), None

    cdef load(self, uint32_t position):
        """Load the expression of an inexact subscription."""
        cdef vector[string] strings
        cdef vector[CTest] tests
        cdef CTest test
        program = self.program_of(position)
        for text in program.strings:
            strings.push_back(text.encode())
        for namespace, local in program.tests:
            test.any_space, test.any_local = namespace is None, local is None
            test.space, test.local = (namespace or "").encode(), (local or "").encode()
            tests.push_back(test)
        cdef bytes words = program.words
        self.confirmation.load(position, <const uint32_t*>PyBytes_AS_STRING(words), PyBytes_GET_SIZE(words) // 4,
                               strings, tests)
        if self.confirmation.evaluator.expressions.uses_case():
            fill_case_maps()
            self.confirmation.evaluator.lower = &LOWER
            self.confirmation.evaluator.upper = &UPPER

    def match(self, const uint8_t[::1] body):
        """The positions that match, those that took too much work, None, figures; or None, (), an error, figures.

        The figures are the numbers of elements, levels and most attributes.
        """
        cdef CError error
        cdef Numbers found = Numbers()
        cdef vector[uint32_t] undecided
        cdef const char* data = <const char*>&body[0] if body.shape[0] else NULL
        cdef uint64_t length = body.shape[0]
        with nogil:
            error = self.read(data, length, undecided)
            if error.code == 0:
                append_positions(self.result.data(), self.gone.data(), self.result.size(), found.items)
        if error.code:
            return None, (), (error.code, error.line, error.column, error.offset), (0, 0, 0)
        cdef CFigures figures = self.reader.figures
        return found, list(undecided), None, (figures.elements, figures.depth, figures.attributes)

    def count(self, const uint8_t[::1] body):
        """How many positions match, None; or 0, an error."""
        cdef CError error
        cdef uint64_t found = 0
        cdef vector[uint32_t] undecided
        cdef const char* data = <const char*>&body[0] if body.shape[0] else NULL
        cdef uint64_t length = body.shape[0]
        with nogil:
            error = self.read(data, length, undecided)
            if error.code == 0:
                found = count_positions(self.result.data(), self.gone.data(), self.result.size())
        if error.code:
            return 0, (error.code, error.line, error.column, error.offset)
        return found, None

    def match_batch(self, const uint8_t[::1] offsets_bytes, bint wide, size_t n, const uint8_t[::1] valid, data,
                    which=None):
        """For ``n`` documents of Arrow's layout: offsets, positions, (row, undecided position) and (row, error) pairs.

        ``which`` has the number of the plan of each document, or 0xFFFFFFFF where its root decides.  If there are
        plans, the fifth result is: the number of the plan of each document, likewise, its strangers, the bytes
        cached, and the names of the roots without a plan by row; otherwise it is None.

        Document i is ``data[offsets[i]:offsets[i + 1]]``; the offsets are int32, or int64 if ``wide``.  If ``valid``
        is not empty and has a 0 for a row, that row has no document and its list of positions is empty.
        """
        cdef Numbers positions = Numbers()
        cdef Numbers offsets = Numbers()
        cdef size_t i
        cdef CError error
        cdef vector[CError] errors
        cdef vector[size_t] rows, undecided_rows
        cdef vector[uint32_t] undecided
        cdef Py_buffer buffer
        cdef const char* bytes
        cdef const int32_t* narrow = <const int32_t*>&offsets_bytes[0] if n else NULL
        cdef const int64_t* broad = <const int64_t*>narrow
        cdef const uint8_t* present = &valid[0] if valid.shape[0] else NULL
        cdef int64_t start, end
        cdef cbool overflow = False, rewriting = self.reader.mediation != NULL
        cdef const uint32_t[::1] wanted = which
        cdef const uint32_t* chosen = &wanted[0] if which is not None and n else NULL
        cdef Numbers applied = Numbers(), strangers = Numbers(), cached = Numbers()
        cdef CRewriter* rewriter
        cdef vector[string] roots
        PyObject_GetBuffer(data, &buffer, PyBUF_SIMPLE)
        try:
            bytes = <const char*>buffer.buf
            with nogil:
                offsets.items.reserve(n + 1)
                positions.items.reserve(<size_t>(1.25 * self.matches_per_document * n) + 64)  # avoids copies
                offsets.items.push_back(0)
                if rewriting:
                    applied.items.resize(n, NONE)
                    strangers.items.resize(n, 0)
                    cached.items.resize(n, 0)
                for i in range(n):
                    if present == NULL or present[i]:
                        start = broad[i] if wide else narrow[i]
                        end = broad[i + 1] if wide else narrow[i + 1]
                        if rewriting:
                            self.mediation.wanted = chosen[i] if chosen != NULL else NONE
                        error = self.read(bytes + start, <uint64_t>(end - start), undecided)
                        if rewriting and self.mediation.found != NONE:
                            rewriter = self.mediation.rewriters[self.mediation.found]
                            applied.items[i] = self.mediation.found
                            strangers.items[i] = <uint32_t>min(rewriter.strangers, <uint64_t>NONE)
                            cached.items[i] = <uint32_t>min(rewriter.cached(), <uint64_t>NONE)
                        undecided_rows.resize(undecided.size(), i)
                        if error.code:
                            errors.push_back(error)
                            rows.push_back(i)
                            roots.push_back(self.mediation.root if error.code == NO_MAPPING else string())
                        else:
                            append_positions(self.result.data(), self.gone.data(), self.result.size(), positions.items)
                    if positions.items.size() > 0x7FFFFFFF:
                        overflow = True
                        break
                    offsets.items.push_back(<uint32_t>positions.items.size())
        finally:
            PyBuffer_Release(&buffer)
        if n:
            self.matches_per_document = <double>positions.items.size() / n
        if overflow:
            raise OverflowError("more than 2**31 matches in one batch: use smaller batches")
        rewritten = None
        if rewriting:
            rewritten = applied, strangers, cached, {
                rows[i]: roots[i].decode() for i in range(rows.size()) if errors[i].code == NO_MAPPING}
        return offsets, positions, list(zip(undecided_rows, undecided)), [
            (rows[i], (errors[i].code, errors[i].line, errors[i].column, errors[i].offset)) for i in range(rows.size())
        ], rewritten

    def candidates(self, size_t most):
        """The number of documents sampled, and the positions that were candidates most often, with their counts."""
        cdef vector[Candidate] found
        cdef _Matcher matcher
        sampled = 0
        counts = []
        for segment in self.segments or ():
            matcher = self.matchers[segment]
            found.clear()
            sampled = max(sampled, matcher.matcher.candidates(most, found))
            counts += [(each.position, each.count) for each in found]
        return sampled, counts

    def confirmations(self):
        """How often each inexact subscription was decided on a tree, by position, and how often one was undecided."""
        counts = [(each.first, each.second.decisions) for each in self.confirmation.programs]
        return counts, self.confirmation.undecided_count, self.confirmation.evaluator.bytes()

    def statistics(self):
        """The counters of each matcher, as one dict per matcher."""
        every = [self.matchers[segment] for segment in self.segments or ()]
        for matchers in self.structure_matchers:
            every += matchers.values()
        return [(<_Matcher>each).matcher.statistics() for each in every]


include "structures.pxi"
include "partials.pxi"
