# Vocabularies, segments and vectors of numbers; a part of _kernel.pyx.


cdef class Vocabulary:
    """Gives numbers to the name tests and value predicates that programs refer to."""

    cdef CVocabulary names

    def add_test(self, space, local):
        """Add a name test and return its number; ``None`` stands for any namespace or any local name."""
        cdef bytes space_bytes = b"" if space is None else space.encode()
        cdef bytes local_bytes = b"" if local is None else local.encode()
        cdef const char* space_data = NULL
        cdef const char* local_data = NULL
        if space is not None:
            space_data = PyBytes_AS_STRING(space_bytes)
        if local is not None:
            local_data = PyBytes_AS_STRING(local_bytes)
        return self.names.add_test(space_data, <uint32_t>len(space_bytes), local_data, <uint32_t>len(local_bytes))

    def copy(self):
        """Return a copy with the same numbers, to build from in another thread while this one grows."""
        cdef Vocabulary other = Vocabulary()
        other.names = self.names
        return other

    def add_predicate(self, uint32_t kind, uint32_t op, uint32_t test, str text, double number):
        """Add a value predicate and return its number."""
        cdef bytes text_bytes = text.encode()
        return self.names.add_predicate(kind, op, test, PyBytes_AS_STRING(text_bytes), <uint32_t>len(text_bytes), number)


def build(Vocabulary vocabulary, list positions, list programs):
    """Build the bytes of a segment with each program at its position; raises ValueError for an invalid program.

    The GIL is released while the segment is built.
    """
    cdef CBuilder* builder = new CBuilder(vocabulary.names)
    cdef vector[uint32_t] numbers
    cdef vector[const char*] data
    cdef vector[size_t] sizes
    cdef size_t i, n = len(programs)
    cdef cbool sound = True
    cdef string made
    cdef bytes program
    try:
        for i in range(n):
            program = programs[i]
            numbers.push_back(positions[i])
            data.push_back(PyBytes_AS_STRING(program))
            sizes.push_back(PyBytes_GET_SIZE(program) // 4)
        with nogil:
            for i in range(n):
                if not builder.add(numbers[i], <const uint32_t*>data[i], sizes[i]):
                    sound = False
                    break
            if sound:
                made = builder.finish()
        if not sound:
            raise ValueError(f"not a program: {programs[i]!r}")
        return PyBytes_FromStringAndSize(made.data(), made.size())
    finally:
        del builder


@cython.no_gc  # the garbage collector must not release the buffer before the view of it is destroyed
cdef class Segment:
    """A checked view of a segment's bytes, which it keeps alive; raises ValueError for any other bytes."""

    cdef CSegment view
    cdef Py_buffer buffer
    cdef CStructuralSegment* structural[2]  # made when they are first needed
    cdef readonly object owner

    def __cinit__(self, owner):
        PyObject_GetBuffer(owner, &self.buffer, PyBUF_SIMPLE)
        self.owner = owner
        if (<size_t>self.buffer.buf) % 8 != 0:
            raise ValueError("a segment must be aligned to 8 bytes")
        cdef const char* problem = self.view.open(<const char*>self.buffer.buf, <size_t>self.buffer.len)
        if problem != NULL:
            raise ValueError(problem.decode())

    def __dealloc__(self):
        del self.structural[0]
        del self.structural[1]
        PyBuffer_Release(&self.buffer)

    cdef CStructuralSegment* for_structures(self, cbool with_attributes) except? NULL:
        """The segment for structures, with the names of attributes or without; NULL if it is this one."""
        if self.view.predicate_count() == 0:
            return NULL
        if self.structural[with_attributes] == NULL:
            self.structural[with_attributes] = new CStructuralSegment(self.view, with_attributes)
        return self.structural[with_attributes]

    @property
    def bytes(self):
        return self.buffer.len

    @property
    def start(self):
        """The least position, or 0 if there is none."""
        return self.view.header.base

    @property
    def end(self):
        """One more than the greatest position."""
        return self.view.header.base + self.view.header.positions


cdef class Numbers:
    """A vector of uint32 or int32 as a buffer, so that Arrow can take it without a copy."""

    cdef vector[uint32_t] items

    def __getbuffer__(self, Py_buffer* buffer, int flags):
        self.items.reserve(1)  # Arrow needs an address even if there are no items
        PyBuffer_FillInfo(buffer, self, <void*>self.items.data(), self.items.size() * 4, 1, flags)

    def __len__(self):
        return self.items.size()
