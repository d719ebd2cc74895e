// A parser of expat, which is C, with handlers that are C++.
//
//     parse ─► XML_Parse ─► handler ─► guard { … throw }      the exception is kept, the parser is stopped
//       └── throws it on, when XML_Parse has returned
//
// No exception passes through the frames of expat: the standard does not say what that does, and the parser
// would be left in the middle of a call.  A handler is a static function that does everything inside `guard`.
#pragma once

#define XML_DTD 1  // declares the limits on entity expansion; the system library is built with it
#include <expat.h>

#include <exception>
#include <new>

#include "integers.hpp"

namespace twigcast {

class ExpatParser {
  public:
    static constexpr char SEPARATOR =
        '\f';  // between namespace and local name: not a character of XML, so in neither

    ExpatParser() = default;
    ~ExpatParser() { free(); }
    ExpatParser(const ExpatParser&) = delete;
    ExpatParser& operator=(const ExpatParser&) = delete;

    // Makes the parser, or makes it as it was when it was new; a null encoding is the one that the document
    // declares.
    void begin(const char* encoding, bool with_namespaces) {
        thrown_ = nullptr;
        if (parser_) {
            XML_ParserReset(parser_, encoding);
        } else {
            parser_ = with_namespaces ? XML_ParserCreateNS(encoding, SEPARATOR) : XML_ParserCreate(encoding);
            if (!parser_) throw std::bad_alloc();
        }
    }

    void free() {
        if (parser_) XML_ParserFree(parser_);
        parser_ = nullptr;
    }

    operator XML_Parser() const { return parser_; }

    // Calls XML_Parse.  Throws what a handler has thrown, now or in an earlier call: then nothing more can be
    // parsed.
    XML_Status parse(const char* bytes, std::size_t length, bool is_last) {
        XML_Status status = XML_STATUS_ERROR;
        if (!thrown_) status = XML_Parse(parser_, bytes, static_cast<int>(length), is_last);
        if (thrown_) std::rethrow_exception(thrown_);
        return status;
    }

    // Runs a handler, unless one has thrown before: expat still reports some events after it was stopped.
    template <class Handler>
    void guard(const Handler& handler) noexcept {
        if (thrown_) return;
        try {
            handler();
        } catch (...) {
            thrown_ = std::current_exception();
            stop();
        }
    }

    void stop() { XML_StopParser(parser_, XML_FALSE); }

    // Of the event that is reported, or of the error: the offset in bytes, 0 if expat knows none.
    u64 offset() const {
        const XML_Index index = XML_GetCurrentByteIndex(parser_);
        return index < 0 ? 0 : static_cast<u64>(index);
    }
    u64 line() const { return XML_GetCurrentLineNumber(parser_); }      // from 1
    u64 column() const { return XML_GetCurrentColumnNumber(parser_); }  // from 0

  private:
    XML_Parser parser_ = nullptr;
    std::exception_ptr thrown_;
};

}  // namespace twigcast
