# cython: language_level=3, binding=False, boundscheck=False, wraparound=False
# distutils: language=c++
"""The projector as a Python object: decisions are asked for by a callback, slices are tuples."""

from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t
from libcpp cimport bool as cbool
from libcpp.memory cimport unique_ptr
from libcpp.string cimport string
from libcpp.string_view cimport string_view
from libcpp.vector cimport vector


cdef extern from "projector.hpp" namespace "twigcast" nogil:
    cppclass StateTable:
        size_t size()
        uint32_t state(size_t i)
        const string& text(size_t i)

    cppclass ProjectionLimits:
        uint32_t depth, attributes
        float amplification
        uint64_t amplification_threshold

    cppclass PartSlice:
        uint32_t output, part
        uint64_t start
        string body
        vector[uint64_t] map
        cbool whole

    cppclass PieceBounds:
        cbool is_first, is_last
        uint64_t preamble, start
        vector[uint64_t] tags

    cppclass ProjectionFault:
        int code
        uint64_t line, column, offset

    ctypedef cbool (*Oracle)(void*, uint32_t, const char*, size_t, uint32_t&, uint8_t*) noexcept nogil
    ctypedef int (*EncodingMap)(const char*, int*, const uint16_t**) noexcept nogil

    cppclass Projector:
        Projector(vector[cbool] divided, uint64_t part_bytes, ProjectionLimits limits, Oracle oracle, void* asked,
                  EncodingMap encoding, uint32_t start, const vector[uint8_t]& whole, PieceBounds piece) except +
        cbool feed(const char* data, size_t size, cbool final) except +
        cbool close_piece(const char* end_tags, size_t size) except +
        vector[PartSlice]& slices() except +
        void slices_taken() except +
        const ProjectionFault& fault()
        string_view window()
        uint64_t window_start()
        StateTable& table()
        uint64_t position()


cdef extern from "element_ranges.hpp" namespace "twigcast" nogil:
    cppclass ElementRanges:
        vector[uint64_t] ranges
        cbool read(const char* data, size_t size, EncodingMap encoding) except +


cdef extern from "path_profiler.hpp" namespace "twigcast" nogil:
    cppclass PathCount:
        uint64_t count, bytes
        cbool repeats

    cppclass CPathProfiler "twigcast::PathProfiler":
        CPathProfiler(uint32_t most_depth, EncodingMap encoding) except +
        int feed(const char* data, size_t size, cbool final) except +
        uint64_t line()
        uint64_t column()
        uint64_t offset()
        size_t size()
        const PathCount& count(size_t path)
        uint32_t parent(size_t path)
        const string& name(size_t path)


from twigcast.document.encodings import code_points, codec_name, is_multibyte, pair_table


cdef int encoding_map(const char* name, int* map, const uint16_t** pairs) noexcept with gil:
    cdef bytes table
    try:
        codec = codec_name((<bytes> name).decode("utf-8", "replace"))
        points = code_points(codec) if codec is not None else ()
        if codec is not None and is_multibyte(codec):
            points, table = pair_table(codec)  # which is kept for good
            pairs[0] = <const uint16_t*> <const char*> table
        if len(points) != 256:
            return 0
        for i in range(256):
            map[i] = points[i]
        return 1
    except Exception:
        return 0


cdef cbool ask(
    void* self, uint32_t state, const char* name, size_t size, uint32_t& child, uint8_t* keeps
) noexcept with gil:
    cdef ProjectorKernel kernel = <ProjectorKernel> self
    cdef uint32_t found
    try:
        namespace, _, local = name[:size].decode("utf-8").rpartition("\f")
        found = kernel.decisions.step(state, namespace, local)
        wanted = kernel.decisions.keeps(found)
        if <size_t> len(wanted) != kernel.outputs:
            raise ValueError("expected one decision for each output")
        for i in range(kernel.outputs):
            keeps[i] = wanted[i]
            if kernel.divided[i] and wanted[i] in (2, 3):
                raise ValueError("a divided output keeps whole subtrees and their ancestors only")
        (&child)[0] = found
        kernel.places.append(kernel.projector.get().position())
        return True
    except BaseException as error:
        kernel.raised = error
        return False


cdef class ProjectorKernel:
    """Writes several outputs of a document that is fed in blocks."""

    cdef unique_ptr[Projector] projector
    cdef object decisions, raised
    cdef list divided, places
    cdef size_t outputs

    def __init__(self, decisions, divided, uint64_t part_bytes, uint32_t depth, uint32_t attributes,
                 float amplification, uint64_t amplification_threshold, piece=None):
        cdef ProjectionLimits limits
        cdef PieceBounds bounds
        cdef vector[cbool] flags
        cdef vector[uint8_t] whole
        limits.depth = depth
        limits.attributes = attributes
        limits.amplification = amplification
        limits.amplification_threshold = amplification_threshold
        if piece is not None:
            bounds.is_first = piece.number == 0
            bounds.is_last = piece.is_last
            bounds.preamble = piece.preamble_bytes
            bounds.start = piece.start
            bounds.tags = [start for start, _ in piece.open_tags]
        self.decisions = decisions
        self.places = []  # of the steps, in the order in which they were asked for
        self.divided = [bool(each) for each in divided]
        self.outputs = len(self.divided)
        for each, keep in zip(self.divided, decisions.keeps(decisions.start), strict=True):
            flags.push_back(each)
            whole.push_back(keep == 4)
        self.projector.reset(new Projector(flags, part_bytes, limits, <Oracle> ask, <void*> self,
                                           <EncodingMap> encoding_map, decisions.start, whole, bounds))

    def feed(self, const unsigned char[::1] data, bint final):
        """The slices that are certain after these bytes, as tuples: output, part, start, body, map, whole."""
        cdef size_t size = data.shape[0]
        cdef char nothing = 0
        cdef const char* start = &nothing
        if size:
            start = <const char*> &data[0]
        return self._fed(start, size, final, False)

    def close_piece(self, bytes end_tags):
        """The last slices of a piece, at whose end the elements are open that these end tags close."""
        cdef const char* start = end_tags
        cdef size_t size = len(end_tags)
        return self._fed(start, size, True, True)

    cdef list _fed(self, const char* start, size_t size, cbool final, cbool closing):
        """The slices after these bytes; after an exception there are none any more, since parts may lack bytes."""
        try:
            if self.raised is None:
                with nogil:
                    if closing:
                        self.projector.get().close_piece(start, size)
                    else:
                        self.projector.get().feed(start, size, final)
            if self.raised is not None:
                raise self.raised
            return self._taken()
        except BaseException as error:
            self.raised = error
            raise

    cdef list _taken(self):
        cdef vector[PartSlice]* given = &self.projector.get().slices()
        cdef size_t i
        found = []
        for i in range(given.size()):
            slice = &given[0][i]
            map = (<char*> slice.map.data())[:8 * slice.map.size()] if slice.map.size() else b""
            found.append((slice.output, slice.part, slice.start, slice.body, map, slice.whole))
        self.projector.get().slices_taken()
        return found

    @property
    def fault(self):
        """The error that ended the pass: number, line, column, offset; None if there is none."""
        fault = self.projector.get().fault()
        return (fault.code, fault.line, fault.column, fault.offset) if fault.code else None

    def window(self, uint64_t offset, size_t size):
        """Bytes of the document from ``offset`` on, as far as they are still there."""
        cdef uint64_t start = self.projector.get().window_start()
        cdef string_view window = self.projector.get().window()
        if offset < start or offset > start + window.size():
            return b""
        return (window.data() + (offset - start))[:min(size, window.size() - (offset - start))]

    def steps(self):
        """The steps that occurred: the state of the parent, the name of the child, and the offset, each once."""
        cdef StateTable* table = &self.projector.get().table()
        cdef size_t i
        found = []
        for i in range(table.size()):
            namespace, _, local = table.text(i).decode("utf-8").rpartition("\f")
            found.append((table.state(i), (namespace, local), self.places[i]))
        return found


cdef class PathProfiler:
    """Counts the label paths of a document that is fed in blocks."""

    cdef unique_ptr[CPathProfiler] counter

    def __init__(self, uint32_t depth):
        self.counter.reset(new CPathProfiler(depth, <EncodingMap> encoding_map))

    def feed(self, const unsigned char[::1] data, bint final):
        """None, or the number, line, column and offset of an error, after which nothing may be fed."""
        cdef size_t size = data.shape[0]
        cdef char nothing = 0
        cdef const char* start = <const char*> &data[0] if size else &nothing
        cdef int error
        cdef CPathProfiler* counter = self.counter.get()
        with nogil:
            error = counter.feed(start, size, final)
        return (error, counter.line(), counter.column(), counter.offset()) if error else None

    def paths(self):
        """Each label path, numbered from 1: the number of its parent or 0, its last name, count, bytes, repeats."""
        cdef CPathProfiler* counter = self.counter.get()
        cdef size_t path
        found = []
        for path in range(1, counter.size() + 1):
            namespace, _, local = counter.name(path).decode("utf-8").rpartition("\f")
            count = counter.count(path)
            found.append((counter.parent(path), (namespace, local), count.count, count.bytes, count.repeats))
        return found


def element_ranges(const unsigned char[::1] body):
    """Start and end of each element of a document of less than 2 GB, one after the other, as 8-byte integers.

    Raises ``ValueError`` if the document is not well-formed.
    """
    cdef ElementRanges found
    cdef cbool good = False
    cdef size_t size = body.shape[0]
    if 0 < size < 0x7fffffff:
        with nogil:
            good = found.read(<const char*> &body[0], size, <EncodingMap> encoding_map)
    if not good:
        raise ValueError("the document is not well-formed")
    return (<char*> found.ranges.data())[:8 * found.ranges.size()]
