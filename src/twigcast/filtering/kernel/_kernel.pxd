# The parts of the C++ kernel that _kernel.pyx uses; Cython reads this file together with it.

from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libcpp cimport bool as cbool
from libcpp.string cimport string
from libcpp.unordered_map cimport unordered_map
from libcpp.utility cimport pair
from libcpp.vector cimport vector


cdef extern from "builder.hpp" namespace "twigcast" nogil:
    cdef cppclass CVocabulary "twigcast::Vocabulary":
        uint32_t add_test(const char*, uint32_t, const char*, uint32_t) except +
        uint32_t add_predicate(uint32_t, uint32_t, uint32_t, const char*, uint32_t, double) except +

    cdef cppclass CBuilder "twigcast::Builder":
        CBuilder(const CVocabulary&) except +
        cbool add(uint32_t, const uint32_t*, size_t) except +
        string finish() except +

cdef extern from "flat.hpp" namespace "twigcast" nogil:
    void seed_hashes(uint64_t, uint64_t)

cdef extern from "reader.hpp" namespace "twigcast" nogil:
    cdef struct CHeader "twigcast::Header":
        uint32_t positions, base

    cdef cppclass CSegment "twigcast::Segment":
        const CHeader* header
        const char* open(const char*, size_t)
        uint32_t predicate_count()
        uint32_t literals()

    cdef struct CStats "twigcast::MatcherStats":
        uint64_t documents, elements, closes, memo_tries, memo_hits, flushes, rekeys
        uint64_t path_nodes, states, components, bytes, work

    cdef struct Candidate:
        uint32_t position
        uint64_t count

    cdef struct CTuning "twigcast::Tuning":
        size_t cache_bytes
        cbool programs, memo, dead_places, shared_copies
        size_t text_bytes

    cdef struct CLabel "twigcast::Label":
        const char* name
        size_t length
        uint64_t hash

    uint64_t hash_bytes(const char*, size_t)

    cdef cppclass CPathInterest "twigcast::PathInterest":
        uint32_t amount(const vector[CLabel]&, cbool, cbool) except +
        cbool reads_text(const vector[CLabel]&) except +

    cdef cppclass CMatcher "twigcast::Matcher":
        CMatcher(const CSegment&, const CTuning&) except +
        CStats statistics()
        uint64_t candidates(size_t, vector[Candidate]&) except +
        CPathInterest& interest()

    cdef struct CLimits "twigcast::Limits":
        uint64_t bytes
        uint32_t depth, attributes
        float amplification
        uint64_t amplification_threshold
        uint32_t entity_depth
        double matching_work
        uint64_t matching_work_threshold

    cdef struct CError "twigcast::ReadError":
        int code
        uint64_t line, column, offset

    cdef int TOO_LARGE
    cdef int NO_MAPPING
    cdef int INCONSISTENT_PARTS

    cdef int TABLE_ENCODING "twigcast::Encodings::TABLE"
    cdef int TRANSCRIBED_ENCODING "twigcast::Encodings::TRANSCRIBED"

    cdef struct CEncodings "twigcast::Encodings":
        int (*table)(const char*, int*) noexcept
        cbool (*transcribe)(const char*, const char*, uint64_t, string&) noexcept
        uint64_t (*locate)(const char*, const char*, uint64_t, const string&, uint64_t) noexcept

    cdef cppclass CTree "twigcast::DocumentTree":
        cbool overflow, with_prefixes

    cdef struct CTest "twigcast::Expressions::Test":
        cbool any_space, any_local
        string space, local

    cdef cppclass CExpressions "twigcast::Expressions":
        cbool is_full()
        cbool uses_case()

    ctypedef unordered_map[string, string] CaseMap

    cdef cppclass CEvaluator "twigcast::Evaluator":
        CTree tree
        CExpressions expressions
        const CaseMap* lower
        const CaseMap* upper
        size_t bytes()

    cdef struct CProgram "twigcast::Confirmation::Program":
        uint32_t expression
        uint64_t decisions

    cdef cppclass CConfirmation "twigcast::Confirmation":
        CEvaluator evaluator
        unordered_map[uint32_t, CProgram] programs
        uint64_t undecided_count
        void forget() except +
        uint32_t missing(const uint64_t*, const uint64_t*, const uint64_t*, size_t)
        void load(uint32_t, const uint32_t*, size_t, const vector[string]&, const vector[CTest]&) except +ValueError
        void decide(uint64_t*, const uint64_t*, const uint64_t*, size_t, uint64_t, vector[uint32_t]&) except +

    cdef cppclass CKnownNames "twigcast::KnownNames":
        string id
        void add(const string&) except +

    cdef cppclass CStructureBuilder "twigcast::StructureBuilder":
        cbool with_attributes
        void use(const CKnownNames*) except +
        cbool encode(uint64_t, uint32_t, uint32_t, string&) except +

    cdef struct CPieceHole "twigcast::PieceHole":
        uint64_t offset, id, place

    cdef cppclass CPiece "twigcast::Piece":
        const char* body
        uint64_t length, place, first
        string opening, closing, marker, marker_data
        vector[uint64_t] context, fills
        vector[CPieceHole] holes
        cbool starts, ends

    cdef struct CRange "twigcast::NumberRanges::Range":
        uint64_t start "from", end "to"

    cdef cppclass CNumberRanges "twigcast::NumberRanges":
        vector[CRange] ranges
        cbool has(uint64_t)
        cbool intersects(const CNumberRanges&)
        void add(uint64_t, uint64_t) except +

    cdef cppclass CPartial "twigcast::Partial":
        string version
        CNumberRanges members
        vector[uint64_t] accepted
        uint64_t bytes, elements
        uint32_t depth, attributes
        cbool decided
        size_t unfinished()
        cbool merge(const CPartial&) except +
        cbool path(uint64_t, vector[pair[uint64_t, string]]&) except +
        void encode(string&) except +
        @staticmethod
        CPartial decode(const char*, size_t, const vector[uint32_t]&, uint32_t) except +ValueError

    cdef cppclass CPieceRecorder "twigcast::PieceRecorder":
        CPartial& partial()
        uint64_t elements()
        uint32_t least_depth, last_depth
        cbool consistent

    cdef cppclass CSinks "twigcast::Sinks":
        vector[CMatcher*] matchers
        CPieceRecorder recorder
        CTree* tree
        CStructureBuilder* structure
        cbool recording
        uint64_t generation

    cdef cppclass CPlan "twigcast::Plan":
        const char* open(const char*, size_t) except +
        size_t bytes()

    cdef cppclass CRewriter "twigcast::Rewriter":
        CRewriter(const CPlan&, CSinks&, const CTuning&) except +
        uint64_t strangers
        uint64_t cached()

    cdef cppclass CMediation "twigcast::Mediation":
        vector[CRewriter*] rewriters
        unordered_map[string, uint32_t] by_root
        cbool as_is
        uint32_t wanted, found
        string root

    cdef struct CFigures "twigcast::Figures":
        uint64_t elements
        uint32_t depth, attributes

    cdef cppclass CReader "twigcast::Reader":
        CReader(uint64_t)
        CLimits limits
        CSinks sinks
        CFigures figures
        CEncodings encodings
        CMediation* mediation
        uint64_t block_bytes
        CError read(const char*, uint64_t, uint64_t*, size_t) except +
        CError record(const char*, uint64_t) except +
        CError read_piece(const CPiece&, uint64_t*, size_t) except +
        CError read_structure(const char*, uint64_t, CStructureBuilder&) except +

cdef extern from "positions.hpp" namespace "twigcast" nogil:
    void append_positions(const uint64_t*, const uint64_t*, size_t, vector[uint32_t]&) except +
    uint64_t count_positions(const uint64_t*, const uint64_t*, size_t)
    cbool intersect(const uint64_t*, const uint64_t*, size_t)

cdef extern from "joiner.hpp" namespace "twigcast" nogil:
    cdef cppclass CJoiner "twigcast::Joiner":
        void derive(CPartial&, const vector[CMatcher*]&, cbool) except +

cdef extern from "structural_segment.hpp" namespace "twigcast" nogil:
    cdef cppclass CStructuralSegment "twigcast::StructuralSegment":
        CStructuralSegment(const CSegment&, cbool) except +
        CSegment view
        void set_open(uint64_t*)

cdef extern from "structure_reader.hpp" namespace "twigcast" nogil:
    cdef struct CStructureLimits "twigcast::StructureLimits":
        uint64_t elements
        uint32_t depth, attributes
        double work
        uint64_t work_threshold

    cdef struct CStructureFault "twigcast::StructureFault":
        int code
        const char* message

    cdef cppclass CStructureMatching "twigcast::StructureMatching":
        CSinks sinks
        vector[uint64_t] not_certain, not_open
        cbool is_ready, leaves_open
        void separate(const vector[uint64_t]&, const vector[uint64_t]&) except +

    cdef cppclass CStructureReader "twigcast::StructureReader":
        CStructureLimits limits
        CStructureMatching matching[2]
        CStructureFault open(const char*, size_t, const CKnownNames*) except +
        CStructureFault match(CSinks&, uint64_t*, size_t) except +

cdef extern from "expat.h" nogil:
    const char* XML_ExpatVersion()
