# Structures of documents: written while a document is read, and matched in its place; a part of _kernel.pyx.


cdef class KnownNames:
    """The names of a table that sender and receiver of structures both know, with the id of that table."""

    cdef CKnownNames names

    def __cinit__(self, bytes id, names):
        self.names.id = id
        for namespace, local in names:
            self.names.add(f"{namespace}\f{local}".encode() if namespace else local.encode())


def match_with_structure(SegmentMatcher engine, body, KnownNames known, cbool attributes):
    """What ``engine.match`` returns, and the structure of the document, None if it has none within the limits."""
    begin_structure(engine, known, attributes)
    engine.reader.sinks.structure = &engine.structure
    try:
        found, undecided, error, figures = engine.match(body)
    finally:
        engine.reader.sinks.structure = NULL
    return found, undecided, error, figures, None if error else encoded_structure(engine)


def read_structure(SegmentMatcher engine, const uint8_t[::1] body, KnownNames known, cbool attributes):
    """The structure of a document, None if it has none within the limits, and None; or None, an error."""
    cdef CError error
    cdef const char* data = <const char*>&body[0] if body.shape[0] else NULL
    cdef uint64_t length = body.shape[0]
    begin_structure(engine, known, attributes)
    with nogil:
        error = engine.reader.read_structure(data, length, engine.structure)
    if error.code:
        return None, (error.code, error.line, error.column, error.offset)
    return encoded_structure(engine), None


cdef begin_structure(SegmentMatcher engine, KnownNames known, cbool attributes):
    if known is not engine.known:
        engine.structure.use(&known.names if known is not None else NULL)
        engine.known = known
    engine.structure.with_attributes = attributes


cdef encoded_structure(SegmentMatcher engine):
    cdef CLimits* limits = &engine.reader.limits
    cdef string bytes
    cdef cbool made
    with nogil:
        made = engine.structure.encode(limits.bytes // SMALLEST_ELEMENT, limits.depth, limits.attributes, bytes)
    return PyBytes_FromStringAndSize(bytes.data(), bytes.size()) if made else None


def match_structure(SegmentMatcher engine, const uint8_t[::1] structure, KnownNames known):
    """The positions that match, those that possibly match, None; or None, None, the code and text of an error."""
    cdef Numbers found = Numbers(), possible = Numbers()
    cdef const char* data = <const char*>&structure[0] if structure.shape[0] else NULL
    cdef size_t length = structure.shape[0]
    cdef const CKnownNames* names = &known.names if known is not None else NULL
    cdef CStructureFault fault
    with nogil:
        fault = match_encoded(engine, data, length, names, found.items, possible.items)
    if fault.code:
        return None, None, (fault.code, fault.message.decode())
    return found, possible, None


def match_structures(SegmentMatcher engine, const uint8_t[::1] offsets_bytes, bint wide, size_t n,
                     const uint8_t[::1] valid, data, KnownNames known):
    """For ``n`` structures of Arrow's layout: offsets and positions that match, and that possibly match; errors.

    The layout is that of ``SegmentMatcher.match_batch``; an error is a row, a code and a text.
    """
    cdef Numbers found = Numbers(), found_offsets = Numbers(), possible = Numbers(), possible_offsets = Numbers()
    cdef const int32_t* narrow = <const int32_t*>&offsets_bytes[0] if n else NULL
    cdef const int64_t* broad = <const int64_t*>narrow
    cdef const uint8_t* present = &valid[0] if valid.shape[0] else NULL
    cdef const CKnownNames* names = &known.names if known is not None else NULL
    cdef vector[CStructureFault] faults
    cdef vector[size_t] rows
    cdef CStructureFault fault
    cdef Py_buffer buffer
    cdef int64_t start, end
    cdef size_t i
    PyObject_GetBuffer(data, &buffer, PyBUF_SIMPLE)
    try:
        with nogil:
            found_offsets.items.push_back(0)
            possible_offsets.items.push_back(0)
            for i in range(n):
                if present == NULL or present[i]:
                    start = broad[i] if wide else narrow[i]
                    end = broad[i + 1] if wide else narrow[i + 1]
                    fault = match_encoded(
                        engine, <const char*>buffer.buf + start, <size_t>(end - start), names, found.items, possible.items)
                    if fault.code:
                        faults.push_back(fault)
                        rows.push_back(i)
                found_offsets.items.push_back(<uint32_t>found.items.size())
                possible_offsets.items.push_back(<uint32_t>possible.items.size())
                if found.items.size() > 0x7FFFFFFF or possible.items.size() > 0x7FFFFFFF:
                    break
    finally:
        PyBuffer_Release(&buffer)
    if found_offsets.items.size() <= n:
        raise OverflowError("more than 2**31 matches in one batch: use smaller batches")
    errors = [(rows[i], faults[i].code, faults[i].message.decode()) for i in range(rows.size())]
    return found_offsets, found, possible_offsets, possible, errors


cdef CStructureFault match_encoded(SegmentMatcher engine, const char* data, size_t length, const CKnownNames* known,
                                   vector[uint32_t]& found, vector[uint32_t]& possible) except * nogil:
    """Match a structure; append the positions that match, and those that possibly match."""
    cdef cbool with_attributes = length > 1 and data[1] & 1
    cdef CStructureMatching* matching = &engine.structures.matching[with_attributes]
    cdef size_t words = engine.result.size()
    if not matching.is_ready:
        with gil:
            prepare_structures(engine, with_attributes)
    cdef CStructureFault fault = engine.structures.open(data, length, known)
    if fault.code == 0:
        fault = engine.structures.match(matching.sinks, engine.result.data(), words)
    if fault.code == 0:
        append_positions(engine.result.data(), matching.not_certain.data(), words, found)
        if matching.leaves_open:
            append_positions(engine.result.data(), matching.not_open.data(), words, possible)
    return fault


cdef prepare_structures(SegmentMatcher engine, cbool with_attributes):
    """Make the matchers of structures, with the names of attributes or without.

    A segment without value predicates is matched by the matcher that documents are matched by.
    """
    cdef CStructureMatching* matching = &engine.structures.matching[with_attributes]
    cdef vector[uint64_t] undecided = engine.inexact
    cdef vector[CMatcher*] pointers
    cdef CStructuralSegment* structural
    cdef Segment segment
    cdef _Matcher matcher
    cdef dict matchers = {}
    for segment in engine.segments or ():
        structural = segment.for_structures(with_attributes)
        if structural == NULL:
            matcher = engine.matchers[segment]
        else:
            structural.set_open(undecided.data())
            matcher = engine.structure_matchers[with_attributes].get(segment)
            if matcher is None:
                matcher = _Matcher(segment)
                matcher.begin_structures(engine.tuning, structural)
            matchers[segment] = matcher
        pointers.push_back(matcher.matcher)
    matching.sinks.matchers = pointers
    matching.separate(engine.gone, undecided)
    matching.is_ready = True
    engine.structure_matchers[with_attributes] = matchers
