// The numbers of errors in documents: those of expat (XML_Error in expat.h, below 1000), and our own.
//
// document/faults.py has the code and the sentence of each; tests/document/test_faults.py compares the
// numbers.
#pragma once

namespace twigcast {

enum FaultNumber : int {
    NO_FAULT = 0,
    TOO_LARGE = 1001,
    TOO_DEEP = 1002,
    TOO_MANY_ATTRIBUTES = 1003,
    UNDECLARED_ENTITY = 1004,
    EMPTY_DOCUMENT = 1005,
    ENTITY_DEPTH = 1006,
    EXPANSION = 1007,
    TOO_COSTLY = 1008,
    REWRITING_EXPANSION = 1009,
    NO_MAPPING = 1010,
    CUT_IN_MARKUP = 1011,
    INCONSISTENT_PARTS = 1012,
    CUT_IN_RECORD = 1013,
    ORACLE_FAILED = 2001,  // never an error of a document: the caller has an exception of its own
};

inline bool is_own(int number) { return number >= TOO_LARGE; }

}  // namespace twigcast
