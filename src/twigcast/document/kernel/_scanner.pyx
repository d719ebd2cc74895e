# cython: language_level=3, binding=False, boundscheck=False, wraparound=False
# distutils: language=c++
"""The tag scanner as Python objects: stops as tuples, names and declarations as bytes."""

from cpython.exc cimport PyErr_CheckSignals
from libc.stdint cimport uint32_t, uint64_t
from libcpp cimport bool as cbool
from libcpp.memory cimport unique_ptr
from libcpp.string cimport string
from libcpp.string_view cimport string_view
from libcpp.utility cimport move
from libcpp.vector cimport vector


cdef extern from "scanner.hpp" namespace "twigcast" nogil:
    cppclass LabelPath:
        uint32_t parent
        string name
        string declared

    cppclass LabelPathTable:
        uint32_t step(uint32_t parent, string_view name, string_view declared) except +
        const LabelPath& operator[](uint32_t number)
        uint32_t size()

    enum class ScanResult:
        MORE
        STOP
        ERROR

    cppclass ChildRun:
        uint64_t start, end, first, last
        cbool exists

    cppclass OpenTag:
        uint64_t number, start

    cppclass RootCount:
        string name
        uint32_t depth, count, height

    cppclass ScanRule:
        uint64_t elements, bytes
        vector[uint64_t] numbers
        size_t open
        cbool subtrees, content, roots
        uint32_t depth

    cppclass Scanner:
        Scanner(ScanRule rule, uint64_t at, LabelPathTable* paths, uint32_t path) except +
        ScanResult scan(const char* data, size_t size, uint64_t base, cbool final) except +
        void enter(string_view name) except +
        void begin_piece() except +
        uint64_t at()
        uint64_t elements()
        int fault()
        size_t closes()
        size_t low()
        const vector[OpenTag]& open()
        const vector[ChildRun]& child_runs()
        const vector[RootCount]& roots()
        const vector[uint32_t]& used_paths()
        string_view name(const OpenTag& tag)
        string_view declared(const OpenTag& tag)

    uint64_t count_lines(const char* data, size_t size)


cdef class PathNumbers:
    """The dictionary of the label paths of one document; several scanners can share it."""

    cdef LabelPathTable table

    def step(self, uint32_t parent, bytes name, bytes declared):
        """The number of a path, from the number of its parent (0: none) and its last step."""
        if parent >= self.table.size():
            raise ValueError("no such label path")
        return self.table.step(parent, _view(name), _view(declared))

    def __len__(self):
        return self.table.size() - 1

    def __getitem__(self, uint32_t number):
        """The parent, the name and the declarations of a path."""
        if not 0 < number < self.table.size():
            raise IndexError("no such label path")
        cdef const LabelPath* path = &self.table[number]
        return path.parent, path.name, path.declared


cdef class TagScanner:
    """Scans a document block by block and stops where it can be cut.

    Each stop is a tuple: the offset; the number of elements before it; how many of the elements that were
    open at the last stop have ended; the elements since then that are open, as tuples of number, name and
    declarations; the roots, as tuples of name, depth, count and height; the numbers of the label paths; the
    runs that are taken, as tuples of depth, start, end, first and last element.
    ``context`` has the names of elements that are open where the scan begins; their number is 0.
    """

    cdef unique_ptr[Scanner] scanner
    cdef PathNumbers paths


    def __init__(
        self,
        *,
        uint64_t elements=0,
        uint64_t bytes=0,
        numbers=(),
        bint subtrees=False,
        bint content=False,
        bint roots=False,
        uint32_t depth=1000,
        uint64_t at=0,
        PathNumbers paths=None,
        uint32_t path=0,
        context=(),
    ):
        cdef ScanRule rule
        rule.elements = elements
        rule.bytes = bytes
        rule.numbers = sorted(set(numbers))
        rule.subtrees = subtrees
        rule.content = content
        rule.roots = roots
        rule.depth = depth
        self.paths = paths
        if paths is not None and path >= paths.table.size():
            raise ValueError("no such label path")
        cdef LabelPathTable* table = NULL
        if paths is not None:
            table = &paths.table
        self.scanner.reset(new Scanner(move(rule), at, table, path))
        for name in context:
            self.scanner.get().enter(_view(name))

    def scan(self, const unsigned char[::1] data, uint64_t base, bint final):
        """The stops in the bytes ``data``, which begin at ``base`` of the document; the last call is final.

        ``data`` must begin at or before ``at``, and end where it ended in the last call or later.
        """
        cdef Scanner* scanner = self.scanner.get()
        cdef size_t size = data.shape[0]
        cdef char nothing = 0
        cdef const char* start = &nothing
        cdef ScanResult result
        if size:
            start = <const char*> &data[0]
        if scanner.at() < base or scanner.at() > base + size:
            raise ValueError("the scan continues elsewhere")
        stops = []
        while True:
            with nogil:
                result = scanner.scan(start, size, base, final)
            if result != ScanResult.STOP:
                return stops
            stops.append(self._stop(scanner))
            if final and scanner.at() == base + size and scanner.open().empty():
                return stops
            scanner.begin_piece()

    @property
    def at(self):
        """The offset of the first byte that the scanner has not passed, or of the fault."""
        return self.scanner.get().at()

    @property
    def fault(self):
        """The number of the error that the scanner has found, as expat numbers errors; 0 if there is none."""
        return self.scanner.get().fault()

    @property
    def elements(self):
        """The number of start tags so far."""
        return self.scanner.get().elements()

    def so_far(self):
        """What was seen since the last stop, as a stop at the end of what was scanned."""
        return self._stop(self.scanner.get())

    def open(self):
        """All elements that are open, from the outermost one: number, name and declarations."""
        return self._open(self.scanner.get(), 0)

    cdef _open(self, Scanner* scanner, size_t low):
        cdef const vector[OpenTag]* tags = &scanner.open()
        cdef size_t i
        found = []
        for i in range(low, tags.size()):
            found.append((tags[0][i].number, _bytes(scanner.name(tags[0][i])),
                          _bytes(scanner.declared(tags[0][i]))))
        return found

    cdef _stop(self, Scanner* scanner):
        cdef const vector[ChildRun]* children = &scanner.child_runs()
        cdef const vector[RootCount]* roots = &scanner.roots()
        cdef const vector[uint32_t]* used = &scanner.used_paths()
        cdef size_t i
        runs = []
        for i in range(children.size()):
            if children[0][i].exists:
                run = (i + 1, children[0][i].start, children[0][i].end, children[0][i].first, children[0][i].last)
                runs.append(run)
        return (
            scanner.at(),
            scanner.elements(),
            scanner.closes(),
            self._open(scanner, scanner.low()),
            [(roots[0][i].name, roots[0][i].depth, roots[0][i].count, roots[0][i].height)
             for i in range(roots.size())],
            [used[0][i] for i in range(used.size())],
            runs,
        )


def shallow_stops(const unsigned char[::1] data, uint64_t at, uint64_t bytes, size_t open, uint32_t depth):
    """The places about every ``bytes`` where at most ``open`` elements are open; ``None`` if the scan fails.

    ``data`` is a document whose root element begins at ``at``.  Each place is a pair: the offset of a start
    tag, and the start tags that are open there as pairs of offset and name, from the root.
    """
    cdef ScanRule rule
    cdef size_t size = data.shape[0], i
    cdef ScanResult result
    rule.bytes = bytes
    rule.open = open
    rule.depth = depth
    cdef unique_ptr[Scanner] scanner
    scanner.reset(new Scanner(move(rule), at, NULL, 0))
    stops = []
    while True:
        with nogil:
            result = scanner.get().scan(<const char*> &data[0], size, 0, True)
        PyErr_CheckSignals()
        if result != ScanResult.STOP:
            return None
        tags = &scanner.get().open()
        if tags.empty():
            return stops
        stops.append((scanner.get().at(),
                      [(tags[0][i].start, _bytes(scanner.get().name(tags[0][i]))) for i in range(tags.size())]))
        scanner.get().begin_piece()


def line_breaks(const unsigned char[::1] data):
    """The number of line feeds in some bytes."""
    return count_lines(<const char*> &data[0], data.shape[0]) if data.shape[0] else 0


cdef inline string_view _view(bytes text):
    return string_view(<const char*> text, <size_t> len(text))


cdef inline bytes _bytes(string_view text):
    return text.data()[:text.size()]
