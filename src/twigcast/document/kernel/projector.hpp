// Writes several outputs of a document, each with things left out, while expat reads it in blocks.
//
//     block ─► window ─► expat ─► start, end ─► (state, name) ─► state, Keep of each output
//                 └───────── ranges of bytes, copied ─────────────────┴─► slices of parts, source maps
//
// What a name means in a state is asked for once, outside (`Oracle`); after that it is a table.  A stack of
// frames has the open elements.  For each output:
//
//     written   how many open elements, from the root, have their start tags in the part
//     tree      the depth of the subtree that is copied as a whole; 0: none
//     from      where the bytes begin that are to be copied next, in a subtree or directly in an OWN element
//     gap       where the last subtree ended, if no element has begun since
//     good      the length of the part after the last element that was whole, for input that breaks off
//
// Below an element of which no output keeps anything more, frames are quiet: only their states are tracked, to
// know which names occur in which.  document/projection/naive.py defines the bytes.
//
// Memory: a window of the bytes that are not yet decided, the frames, and what is not yet taken.
// Each call of XML_Parse that is not the last makes expat count lines once more, up to 20 % of its time.
#pragma once

#define XML_DTD 1
#include <expat.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "encoding_map.hpp"
#include "state_table.hpp"

namespace twigcast {

enum KeepLevel : std::uint8_t { keep_drop, keep_above, keep_tag, keep_own, keep_tree };

struct ProjectionLimits {
    std::uint32_t depth = 1000, attributes = 1000;
    float amplification = 100.0f;
    std::uint64_t amplification_threshold = 8ull << 20;
};

// Bytes of a part.  They belong at `start`; what was given beyond that before is taken back.
struct PartSlice {
    std::uint32_t output = 0, part = 0;
    std::uint64_t start = 0;
    std::string body;
    std::vector<std::uint64_t> map;  // pairs: offset in the part, offset in the document
    bool whole = false;
};

struct ProjectionFault {
    int code = 0;
    std::uint64_t line = 0, column = 0, offset = 0;
};

// Asks for the state of a child: fills its Keep for each output; false stops the parse.
using Oracle = bool (*)(void* self, std::uint32_t state, const char* name, std::size_t size, std::uint32_t& child,
                        std::uint8_t* keeps);

class Projector {
public:
    Projector(std::vector<bool> divided, std::uint64_t part_bytes, ProjectionLimits limits, Oracle oracle,
              void* asked, EncodingMap encoding, std::uint32_t start, const std::vector<std::uint8_t>& whole)
        : outputs_(divided.size()), part_bytes_(part_bytes), limits_(limits), oracle_(oracle), asked_(asked),
          encoding_(encoding), table_(divided.size()) {
        parser_ = XML_ParserCreateNS(nullptr, separator);
        XML_SetUserData(parser_, this);
        XML_SetElementHandler(parser_, on_start, on_end);
        XML_SetExternalEntityRefHandler(parser_, on_external);
        XML_SetSkippedEntityHandler(parser_, on_skipped);
        XML_SetUnknownEncodingHandler(parser_, on_encoding, this);
        XML_SetBillionLaughsAttackProtectionMaximumAmplification(parser_, limits.amplification);
        XML_SetBillionLaughsAttackProtectionActivationThreshold(parser_, limits.amplification_threshold);
        frames_.push_back({start});
        keeps_.assign(outputs_.size(), keep_above);
        for (std::size_t o = 0; o < outputs_.size(); ++o) {
            outputs_[o].divided = divided[o];
            if (whole[o]) outputs_[o].tree = whole_document;
        }
    }
    ~Projector() { XML_ParserFree(parser_); }
    Projector(const Projector&) = delete;

    // False after an error, which `fault` has; after the last block all parts are finished.
    bool feed(const char* data, std::size_t size, bool final) {
        if (fault_.code) return false;
        if (fed_ == 0 && size) first_ = data[0];
        if (fed_ < 2 && fed_ + size >= 2) detect_width(fed_ ? data[0] : data[1]);
        window_.append(data, size);
        fed_ += size;
        const auto status = XML_Parse(parser_, data, static_cast<int>(size), final);
        if (!fault_.code && status != XML_STATUS_OK) fault(XML_GetErrorCode(parser_));
        if (fault_.code) {
            for (std::uint32_t o = 0; o < outputs_.size(); ++o) take_back(o);
            return false;
        }
        const XML_Index index = XML_GetCurrentByteIndex(parser_);
        const std::uint64_t safe = final ? fed_ : index < 0 ? base_ : static_cast<std::uint64_t>(index);
        settle(safe);
        if (final)
            for (std::uint32_t o = 0; o < outputs_.size(); ++o)
                if (outputs_[o].tree == whole_document) finish_part(o);
        return true;
    }

    std::vector<PartSlice>& slices() {
        for (std::uint32_t o = 0; o < outputs_.size(); ++o)
            if (!outputs_[o].slice.body.empty()) give(o, false);
        return given_;
    }

    const ProjectionFault& fault() const { return fault_; }
    std::uint64_t fed() const { return fed_; }
    std::string_view window() const { return window_; }
    std::uint64_t window_start() const { return base_; }
    StateTable& table() { return table_; }

private:
    static constexpr char separator = '\f';
    static constexpr std::uint64_t most_gap = 64, none = ~0ull;
    static constexpr std::uint32_t whole_document = ~0u;
    enum Error : int { external_entity = 21, too_deep = 1002, too_many_attributes = 1003, undeclared_entity = 1004,
                       oracle_failed = 2001 };

    struct Frame {
        std::uint32_t state = 0;
        bool quiet = false, in_entity = false;
        std::uint32_t base = 0;  // the innermost frame, this or an outer one, that is in no entity
        std::uint64_t start = 0;
        std::string tag;
    };

    struct Output {
        bool divided = false, begun = false;
        std::uint32_t written = 0, tree = 0, part = 0, good_written = 0;
        std::uint64_t from = 0, gap = none, last = none, length = 0, good = 0;
        bool unit_kept = false;
        PartSlice slice;
    };

    std::uint8_t& keep(std::size_t depth, std::size_t o) { return keeps_[depth * outputs_.size() + o]; }

    // Events

    static void on_start(void* self, const char* name, const char** attributes) {
        static_cast<Projector*>(self)->start(name, attributes);
    }
    static void on_end(void* self, const char*) { static_cast<Projector*>(self)->end(); }

    void start(const char* name, const char** attributes) {
        if (fault_.code) return;
        const std::size_t depth = depth_ + 1;
        if (depth > limits_.depth) return stop(too_deep);
        if (attributes[0] && too_many(attributes)) return stop(too_many_attributes);
        if (frames_.size() <= depth) {
            frames_.emplace_back();
            keeps_.resize(frames_.size() * outputs_.size());
        }
        Frame& frame = frames_[depth];
        const Frame& parent = frames_[depth - 1];
        if (!find_state(parent.state, name, frame.state)) return;
        depth_ = depth;
        frame.quiet = parent.quiet;
        if (frame.quiet) return;
        const auto at = static_cast<std::uint64_t>(XML_GetCurrentByteIndex(parser_));
        if (depth == 1) begin_document(at);
        frame.start = at;
        frame.in_entity = sign(at) == '&';
        frame.base = frame.in_entity ? parent.base : static_cast<std::uint32_t>(depth);
        const std::uint8_t* wanted = table_.keeps(frame.state);
        if (frame.in_entity) return start_in_entity(frame, wanted);
        std::uint64_t tag_end = 0;  // searched for if it is needed
        bool active = false, unnamed = true;
        for (std::uint32_t o = 0; o < outputs_.size(); ++o) {
            Output& output = outputs_[o];
            std::uint8_t& own = keep(depth, o);
            own = keep_drop;
            if (output.tree) continue;
            own = wanted[o];
            const bool in_own = keep(depth - 1, o) == keep_own;
            if (in_own || (depth == 1 && !output.divided)) own = std::max<std::uint8_t>(own, keep_tag);
            const std::uint64_t gap = output.gap;
            output.gap = none;
            if (own == keep_drop) continue;
            active = true;
            if (in_own) write(o, output.from, at);
            if (own == keep_tree) {
                output.tree = static_cast<std::uint32_t>(depth);
                output.from = gap != none && at - gap <= most_gap ? gap : at;
                if (output.from == at) open_ancestors(o, depth - 1);
                continue;
            }
            if (!tag_end) tag_end = token_end(at, '>');
            if (unnamed) frame.tag.assign(bytes(at), tag_end - at);
            unnamed = false;
            if (own == keep_above) continue;
            open_ancestors(o, depth - 1);
            write(o, at, tag_end);
            output.written = static_cast<std::uint32_t>(depth);
            output.from = tag_end;
            if (depth == 1) note_good(output);
        }
        frame.quiet = !active;
    }

    void start_in_entity(Frame& frame, const std::uint8_t* wanted) {
        const std::uint64_t at = frame.start;
        if (at != unit_start_) {
            unit_start_ = at;
            unit_end_ = token_end(at, ';');
            for (Output& output : outputs_) output.unit_kept = false;
        }
        for (std::uint32_t o = 0; o < outputs_.size(); ++o) {
            Output& output = outputs_[o];
            keep(depth_, o) = keep_drop;
            if (output.tree) continue;
            output.gap = none;
            if (wanted[o] < keep_tag || output.unit_kept || keep(frame.base, o) == keep_own) continue;
            output.unit_kept = true;
            open_ancestors(o, frame.base);
            write(o, unit_start_, unit_end_);
            note_good(output);
            if (output.divided && output.length >= part_bytes_) finish_part(o);
        }
    }

    void end() {
        if (fault_.code) return;
        const std::size_t depth = depth_--;
        const Frame& frame = frames_[depth];
        if (frame.quiet || frame.in_entity) return;
        const auto at = static_cast<std::uint64_t>(XML_GetCurrentByteIndex(parser_));
        const auto count = static_cast<std::uint64_t>(XML_GetCurrentByteCount(parser_));
        const std::uint64_t after = at + count;  // an empty element has no end tag: its end is reported after it
        for (std::uint32_t o = 0; o < outputs_.size(); ++o) {
            Output& output = outputs_[o];
            const bool in_own = keep(depth - 1, o) == keep_own;
            if (output.tree) {
                if (output.tree != depth) continue;
                write(o, output.from, after);
                output.tree = 0;
                note_good(output);
                if (output.divided && output.length >= part_bytes_) finish_part(o);
                else if (!in_own) output.gap = after;
            } else {
                output.gap = none;
                if (output.written < depth) continue;
                write(o, keep(depth, o) == keep_own ? output.from : at, after);
                output.written = static_cast<std::uint32_t>(depth - 1);
                note_good(output);
            }
            if (in_own) output.from = after;
            if (depth == 1 && output.begun) finish_part(o);
        }
    }

    static int on_external(XML_Parser parser, const char*, const char*, const char*, const char*) {
        static_cast<Projector*>(XML_GetUserData(parser))->stop(external_entity);
        return XML_STATUS_ERROR;
    }
    static void on_skipped(void* self, const char*, int parameter) {
        if (!parameter) static_cast<Projector*>(self)->stop(undeclared_entity);
    }
    static int on_encoding(void* self, const char* name, XML_Encoding* info) {
        return map_encoding(static_cast<Projector*>(self)->encoding_, name, info);
    }

    bool too_many(const char** attributes) const {
        std::uint32_t count = 0;
        while (attributes[2 * count]) ++count;
        return count > limits_.attributes;
    }

    bool find_state(std::uint32_t state, const char* name, std::uint32_t& child) {
        std::size_t size = 0;
        const std::uint32_t number = table_.name(name, size);
        if (table_.find(state, number, child)) return true;
        asked_keeps_.assign(outputs_.size(), 0);
        if (!oracle_(asked_, state, name, size, child, asked_keeps_.data())) {
            stop(oracle_failed);
            return false;
        }
        table_.add(state, number, child, asked_keeps_.data());
        return true;
    }

    // Writing

    void begin_document(std::uint64_t root) {
        prolog_.assign(window_, 0, root);
        for (std::uint32_t o = 0; o < outputs_.size(); ++o)
            if (outputs_[o].tree == whole_document) outputs_[o].begun = true;
    }

    void open_ancestors(std::uint32_t o, std::size_t depth) {
        Output& output = outputs_[o];
        if (!output.begun) {
            output.begun = true;
            append(output, prolog_, 0);
        }
        for (std::size_t d = output.written + 1; d <= depth; ++d)
            if (!frames_[d].in_entity) append(output, frames_[d].tag, frames_[d].start);
        output.written = static_cast<std::uint32_t>(std::max<std::size_t>(output.written, depth));
    }

    void write(std::uint32_t o, std::uint64_t start, std::uint64_t end) {
        if (start < end) append(outputs_[o], {bytes(start), end - start}, start);
    }

    void append(Output& output, std::string_view text, std::uint64_t source) {
        if (text.empty()) return;
        if (source != output.last) {
            output.slice.map.push_back(output.length);
            output.slice.map.push_back(source);
        }
        output.slice.body.append(text);
        output.length += text.size();
        output.last = source + text.size();
    }

    void note_good(Output& output) {
        output.good = output.length;
        output.good_written = output.written;
    }

    void give(std::uint32_t o, bool whole) {
        Output& output = outputs_[o];
        output.slice.output = o;
        output.slice.part = output.part;
        output.slice.whole = whole;
        given_.push_back(std::move(output.slice));
        output.slice = PartSlice{};
        output.slice.start = output.length;
    }

    void close(Output& output, std::uint32_t written) {
        for (std::size_t d = written; d > 0; --d) {
            if (frames_[d].in_entity) continue;
            put(output, "</");
            const std::string& tag = frames_[d].tag;
            std::size_t end = width_;
            while (!ends_name(tag, end)) end += width_;
            output.slice.body.append(tag, width_, end - width_);
            put(output, ">");
        }
    }

    bool ends_name(const std::string& tag, std::size_t at) const {
        if (width_ == 2 && tag[at + 1 - low_]) return false;
        const char c = tag[at + low_];
        return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '/' || c == '>';
    }

    void put(Output& output, const char* text) {
        for (; *text; ++text) {
            if (width_ == 2 && low_ == 1) output.slice.body.push_back('\0');
            output.slice.body.push_back(*text);
            if (width_ == 2 && low_ == 0) output.slice.body.push_back('\0');
        }
    }

    void finish_part(std::uint32_t o) {
        Output& output = outputs_[o];
        close(output, output.written);
        end_part(o);
    }

    void end_part(std::uint32_t o) {
        Output& output = outputs_[o];
        give(o, true);
        ++output.part;
        output.begun = false;
        output.written = output.good_written = 0;
        output.length = output.good = 0;
        output.last = output.gap = none;
        output.slice.start = 0;
    }

    // After an error: back to the last element that was whole; what is still open is closed.
    void take_back(std::uint32_t o) {
        Output& output = outputs_[o];
        if (!output.begun || !output.good) return;
        PartSlice& slice = output.slice;
        if (output.good >= slice.start) {
            slice.body.resize(output.good - slice.start);
        } else {
            slice.body.clear();
            slice.start = output.good;
        }
        while (!slice.map.empty() && slice.map[slice.map.size() - 2] >= output.good) slice.map.resize(slice.map.size() - 2);
        close(output, output.good_written);
        end_part(o);
    }

    // At the end of a block: copies what is certain, and forgets the bytes that nobody needs any more.
    void settle(std::uint64_t safe) {
        std::uint64_t needed = safe;
        const Frame& frame = frames_[depth_];
        for (std::uint32_t o = 0; o < outputs_.size(); ++o) {
            Output& output = outputs_[o];
            const bool own = !output.tree && depth_ && !frame.quiet && keep(frame.base, o) == keep_own;
            if (output.tree || own) {
                if (output.tree == whole_document) output.begun = true;
                if (safe > output.from) {
                    write(o, output.from, safe);
                    output.from = safe;
                }
                needed = std::min(needed, output.from);
            }
            if (output.gap != none && safe > output.gap && safe - output.gap > most_gap) output.gap = none;
            needed = std::min(needed, output.gap);
        }
        if (has_root()) drop_before(needed);
    }

    bool has_root() const { return frames_.size() > 1; }

    void drop_before(std::uint64_t offset) {
        if (offset <= base_) return;
        window_.erase(0, offset - base_);
        base_ = offset;
    }

    // Bytes and characters

    const char* bytes(std::uint64_t at) const { return window_.data() + (at - base_); }

    void detect_width(char second) {
        const auto a = static_cast<unsigned char>(first_), b = static_cast<unsigned char>(second);
        if ((a == 0xFF && b == 0xFE) || (a == '<' && b == 0)) width_ = 2, low_ = 0;
        if ((a == 0xFE && b == 0xFF) || (a == 0 && b == '<')) width_ = 2, low_ = 1;
    }

    // The character at an offset, if it is one of ASCII.
    char sign(std::uint64_t at) const {
        if (at + width_ > fed_) return '\0';
        const char* p = bytes(at);
        return width_ == 2 && p[1 - low_] ? '\x7f' : p[low_];
    }

    // Where the tag or reference at an offset ends.  Expat reports it, too, but not after some references.
    std::uint64_t token_end(std::uint64_t at, char last) const {
        const auto count = static_cast<std::uint64_t>(XML_GetCurrentByteCount(parser_));
        if (count > width_ && sign(at + count - width_) == last) return at + count;
        char quote = '\0';
        for (;; at += width_) {
            const char c = sign(at);
            if (at >= fed_) return fed_;
            if (quote) quote = c == quote ? '\0' : quote;
            else if (c == last) return at + width_;
            else if (last == '>' && (c == '"' || c == '\'')) quote = c;
        }
    }

    // Errors

    void fault(int code) {
        const XML_Index offset = XML_GetCurrentByteIndex(parser_);
        fault_ = {code, XML_GetCurrentLineNumber(parser_), XML_GetCurrentColumnNumber(parser_),
                  offset < 0 ? 0 : static_cast<std::uint64_t>(offset)};
    }

    void stop(int code) {
        if (fault_.code) return;
        fault(code);
        XML_StopParser(parser_, XML_FALSE);
    }

    XML_Parser parser_;
    std::vector<Output> outputs_;
    std::uint64_t part_bytes_;
    ProjectionLimits limits_;
    Oracle oracle_;
    void* asked_;
    EncodingMap encoding_;
    StateTable table_;
    std::vector<std::uint8_t> asked_keeps_;
    std::vector<Frame> frames_;          // the document node, then the open elements
    std::vector<std::uint8_t> keeps_;    // what each output keeps of each of them
    std::size_t depth_ = 0;
    std::string window_, prolog_;
    std::uint64_t base_ = 0, fed_ = 0;   // offset of the window; bytes so far
    std::uint64_t unit_start_ = none, unit_end_ = 0;
    char first_ = 0;
    std::size_t width_ = 1, low_ = 0;    // of a character, and its byte that has ASCII
    ProjectionFault fault_;
    std::vector<PartSlice> given_;
};

}  // namespace twigcast
