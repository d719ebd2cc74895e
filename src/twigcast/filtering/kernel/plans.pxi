# Plans and rewriters; a part of _kernel.pyx.


cdef class Plan:
    """How documents of one schema are rewritten: a checked copy of a plan's bytes; raises ValueError for any others."""

    cdef CPlan view

    def __cinit__(self, bytes data):
        cdef const char* problem = self.view.open(PyBytes_AS_STRING(data), <size_t>PyBytes_GET_SIZE(data))
        if problem != NULL:
            raise ValueError(problem.decode())

    @property
    def bytes(self):
        return self.view.bytes()


cdef class PlanSet:
    """Plans in their order, and which of them a root element has: ``roots`` has (name, number) pairs.

    A number of None stands for a root that several plans have.
    """

    cdef readonly tuple plans
    cdef unordered_map[string, uint32_t] by_root

    def __cinit__(self, tuple plans, roots):
        self.plans = plans
        cdef Plan plan
        for plan in plans:
            pass
        for name, number in roots:
            self.by_root[name.encode()] = NONE if number is None else number


cdef class _Rewriter:
    cdef CRewriter* rewriter
    cdef Plan plan

    def __cinit__(self, Plan plan):
        self.plan = plan

    cdef begin(self, CSinks* sinks, CTuning tuning):
        self.rewriter = new CRewriter(self.plan.view, sinks[0], tuning)

    def __dealloc__(self):
        del self.rewriter
