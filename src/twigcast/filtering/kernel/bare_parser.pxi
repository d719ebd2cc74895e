# The baseline of the benchmarks; a part of _kernel.pyx.


cdef class BareParser:
    """An expat parse with handlers that do nothing: the baseline of the benchmarks."""

    cdef CBareReader* reader

    def __cinit__(self):
        self.reader = new CBareReader(SALT)

    def __dealloc__(self):
        del self.reader

    def parse_batch(self, const int64_t[::1] starts, const int64_t[::1] ends, data, uint64_t block_bytes=1 << 30):
        """The number of documents ``data[starts[i]:ends[i]]`` that are well-formed, each read in blocks."""
        cdef Py_buffer buffer
        cdef const char* bytes
        cdef size_t i, n = starts.shape[0]
        cdef uint64_t good = 0
        PyObject_GetBuffer(data, &buffer, PyBUF_SIMPLE)
        bytes = <const char*>buffer.buf
        with nogil:
            for i in range(n):
                good += self.reader.read(bytes + starts[i], <uint64_t>(ends[i] - starts[i]), block_bytes)
        PyBuffer_Release(&buffer)
        return good
