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
// Below an element of which no output keeps anything more, frames are quiet: only their states are tracked,
// to know which names occur in which.  tests/oracles/naive_projection.py defines the bytes.
//
// A piece of a document is fed after its preamble, the prolog and the start tags that are open where the
// piece begins, and before end tags for those that are open where it ends.  Of these, nothing is written: an
// output that is not divided has the start tags from the piece before, or leaves them out, and goes on in the
// next.
//
// Memory: a window of the bytes that are not yet decided, the frames, and what is not yet taken.
// Each call of XML_Parse that is not the last makes expat count lines once more, up to 20 % of its time.
#pragma once

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "codes.hpp"
#include "encoding_map.hpp"
#include "input_window.hpp"
#include "integers.hpp"
#include "part_writer.hpp"
#include "state_table.hpp"

namespace twigcast {

enum KeepLevel : u8 { KEEP_DROP, KEEP_ABOVE, KEEP_TAG, KEEP_OWN, KEEP_TREE };

struct ProjectionLimits {
    u32 depth = 1000, attributes = 1000;
    float amplification = 100.0f;
    u64 amplification_threshold = 8ull << 20;
};

// A stretch of a document that is read by itself.
struct PieceBounds {
    bool is_first = true, is_last = true;
    u64 preamble = 0;       // how many bytes are fed before it
    u64 start = 0;          // its offset in the document
    std::vector<u64> tags;  // the offsets in the document of the start tags in the preamble
};

struct ProjectionFault {
    int code = 0;
    u64 line = 0, column = 0, offset = 0;
};

// Asks for the state of a child: fills its Keep for each output; false stops the parse.
using Oracle = bool (*)(void* self, u32 state, const char* name, std::size_t size, u32& child, u8* keeps);

class Projector {
  public:
    Projector(std::vector<bool> divided, u64 part_bytes, ProjectionLimits limits, Oracle oracle, void* asked,
              EncodingMap encoding, u32 start, const std::vector<u8>& whole, PieceBounds piece)
        : outputs_(divided.size()), part_bytes_(part_bytes), limits_(limits), oracle_(oracle), asked_(asked),
          encoding_(encoding), table_(divided.size()), piece_(std::move(piece)),
          shift_(piece_.start - piece_.preamble) {
        parser_.begin(nullptr, true);
        XML_SetUserData(parser_, this);
        XML_SetElementHandler(parser_, on_start, on_end);
        XML_SetExternalEntityRefHandler(parser_, on_external);
        XML_SetSkippedEntityHandler(parser_, on_skipped);
        XML_SetUnknownEncodingHandler(parser_, on_encoding, this);
        XML_SetBillionLaughsAttackProtectionMaximumAmplification(parser_, limits.amplification);
        XML_SetBillionLaughsAttackProtectionActivationThreshold(parser_, limits.amplification_threshold);
        frames_.emplace_back();
        frames_.back().state = start;
        keeps_.assign(outputs_.size(), KEEP_ABOVE);
        for (std::size_t o = 0; o < outputs_.size(); ++o) {
            PartWriter& output = outputs_[o];
            output.divided = divided[o];
            output.begun = !piece_.is_first && !output.divided;
            output.from = piece_.preamble;
            if (whole[o]) output.tree = WHOLE_DOCUMENT;
        }
    }
    Projector(const Projector&) = delete;

    // False after an error, which `fault` has; after the last block all parts are finished.
    bool feed(const char* data, std::size_t size, bool final) {
        if (fault_.code) return false;
        window_.add(data, size);
        const auto status = parser_.parse(data, size, final);
        if (!fault_.code && status != XML_STATUS_OK) fault(XML_GetErrorCode(parser_));
        if (!fault_.code && is_closing_ && !is_over_) fault(CUT_IN_RECORD);
        if (fault_.code) {
            if (piece_.is_first && piece_.is_last)
                for (u32 o = 0; o < outputs_.size(); ++o) take_back(o);
            window_.keep(fault_.offset);
            return false;
        }
        if (is_over_) return true;
        const u64 safe = final ? window_.end() : parser_.offset();
        const u64 needed = settle(safe);
        if (final)
            for (u32 o = 0; o < outputs_.size(); ++o)
                if (outputs_[o].tree == WHOLE_DOCUMENT) finish_part(o);
        window_.keep(has_root() ? needed : 0);
        return true;
    }

    // Ends a piece that is not the last; `end_tags` closes what is open there.
    bool close_piece(const char* end_tags, std::size_t size) {
        is_closing_ = true;
        piece_end_ = window_.end();
        return feed(end_tags, size, true);
    }

    std::vector<PartSlice>& slices() {
        for (u32 o = 0; o < outputs_.size(); ++o)
            if (!outputs_[o].slice.body.empty()) outputs_[o].give(o, false, queue_);
        return queue_.given();
    }
    void slices_taken() { queue_.taken(outputs_.size()); }

    const ProjectionFault& fault() const { return fault_; }
    std::string_view window() const { return window_.tail(); }
    u64 window_start() const { return window_.start(); }
    StateTable& table() { return table_; }

    // The offset in the document of the event that is being reported.
    u64 position() const { return parser_.offset() + shift_; }

  private:
    static constexpr u64 MOST_GAP = 64, NOWHERE = PartWriter::NOWHERE;
    static constexpr u32 WHOLE_DOCUMENT = ~0u;

    struct Frame {
        u32 state = 0;
        bool quiet = false, in_entity = false;
        u32 base = 0;   // the innermost frame, this or an outer one, that is in no entity
        u64 start = 0;  // in the document
        std::string tag;
    };

    u8& keep(std::size_t depth, std::size_t o) { return keeps_[depth * outputs_.size() + o]; }

    // Events

    static void on_start(void* self, const char* name, const char** attributes) {
        Projector& own = *static_cast<Projector*>(self);
        own.parser_.guard([&] { own.start(name, attributes); });
    }
    static void on_end(void* self, const char*) {
        Projector& own = *static_cast<Projector*>(self);
        own.parser_.guard([&] { own.end(); });
    }

    void start(const char* name, const char** attributes) {
        if (fault_.code) return;
        end_unit();
        const std::size_t depth = depth_ + 1;
        if (depth > limits_.depth) return stop(TOO_DEEP);
        if (attributes[0] && too_many(attributes)) return stop(TOO_MANY_ATTRIBUTES);
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
        const u64 at = parser_.offset();
        if (depth == 1) begin_document(at);
        frame.start = at + shift_;
        frame.in_entity = window_.sign(at) == '&';
        frame.base = frame.in_entity ? parent.base : static_cast<u32>(depth);
        const u8* wanted = table_.keeps(frame.state);
        if (at < piece_.preamble) return start_in_preamble(frame, at, wanted);
        if (frame.in_entity) return start_in_entity(frame, at, wanted);
        u64 tag_end = 0;  // searched for if it is needed
        bool active = false, unnamed = true;
        for (u32 o = 0; o < outputs_.size(); ++o) {
            PartWriter& output = outputs_[o];
            u8& own = keep(depth, o);
            own = KEEP_DROP;
            if (output.tree) continue;
            own = wanted[o];
            const bool in_own = keep(depth - 1, o) == KEEP_OWN;
            if (in_own || (depth == 1 && !output.divided)) own = std::max<u8>(own, KEEP_TAG);
            const u64 gap = output.gap;
            output.gap = NOWHERE;
            if (own == KEEP_DROP) continue;
            active = true;
            if (in_own) write(o, output.from, at);
            if (own == KEEP_TREE) {
                output.tree = static_cast<u32>(depth);
                output.from = gap != NOWHERE && at - gap <= MOST_GAP ? gap : at;
                if (output.from == at) open_ancestors(o, depth - 1);
                continue;
            }
            if (!tag_end) tag_end = token_end(at, '>');
            if (unnamed) set_tag(frame, at, tag_end);
            unnamed = false;
            if (own == KEEP_ABOVE) continue;
            open_ancestors(o, depth - 1);
            write(o, at, tag_end);
            output.written = static_cast<u32>(depth);
            output.from = tag_end;
            if (depth == 1) output.note_good();
        }
        frame.quiet = !active;
    }

    // An element that is open where the piece begins: its start tag is in the piece before, or left out
    // there.
    void start_in_preamble(Frame& frame, u64 at, const u8* wanted) {
        if (depth_ > piece_.tags.size()) return stop(CUT_IN_RECORD);
        frame.start = piece_.tags[depth_ - 1];
        set_tag(frame, at, token_end(at, '>'));
        frame.quiet = true;
        for (u32 o = 0; o < outputs_.size(); ++o) {
            PartWriter& output = outputs_[o];
            u8& own = keep(depth_, o);
            own = KEEP_DROP;
            if (output.tree) continue;
            own = wanted[o];
            const bool is_tag = keep(depth_ - 1, o) == KEEP_OWN || (depth_ == 1 && !output.divided);
            if (is_tag) own = std::max<u8>(own, KEEP_TAG);
            if (own == KEEP_DROP) continue;
            frame.quiet = false;
            if (own == KEEP_TREE && output.divided) return stop(CUT_IN_RECORD);
            if (own == KEEP_TREE) output.tree = static_cast<u32>(depth_);
            else if (!output.divided) output.written = static_cast<u32>(depth_);
        }
    }

    void start_in_entity(Frame& frame, u64 at, const u8* wanted) {
        if (at != unit_start_) {
            unit_start_ = at;
            unit_end_ = token_end(at, ';');
            for (PartWriter& output : outputs_) output.unit_kept = false;
        }
        for (u32 o = 0; o < outputs_.size(); ++o) {
            PartWriter& output = outputs_[o];
            keep(depth_, o) = KEEP_DROP;
            if (output.tree) continue;
            output.gap = NOWHERE;
            if (wanted[o] < KEEP_TAG || output.unit_kept || keep(frame.base, o) == KEEP_OWN) continue;
            output.unit_kept = true;
            open_ancestors(o, frame.base);
            write(o, unit_start_, unit_end_);
            is_unit_open_ = true;
        }
    }

    // With the first event after a reference, all that its entity brings in was whole.
    void end_unit() {
        if (!is_unit_open_ || parser_.offset() == unit_start_) return;
        is_unit_open_ = false;
        for (u32 o = 0; o < outputs_.size(); ++o) {
            PartWriter& output = outputs_[o];
            if (!output.unit_kept) continue;
            output.unit_kept = false;
            output.note_good();
            if (output.divided && output.length >= part_bytes_) finish_part(o);
        }
    }

    void end() {
        if (fault_.code) return;
        end_unit();
        if (is_closing_ && parser_.offset() >= piece_end_) return end_piece();
        const std::size_t depth = depth_--;
        const Frame& frame = frames_[depth];
        if (frame.quiet || frame.in_entity) return;
        const u64 at = parser_.offset();
        const auto count = static_cast<u64>(XML_GetCurrentByteCount(parser_));
        const u64 after = at + count;  // an empty element has no end tag: its end is reported after it
        for (u32 o = 0; o < outputs_.size(); ++o) {
            PartWriter& output = outputs_[o];
            const bool in_own = keep(depth - 1, o) == KEEP_OWN;
            if (output.tree) {
                if (output.tree != depth) continue;
                write(o, output.from, after);
                output.tree = 0;
                output.note_good();
                if (output.divided && output.length >= part_bytes_) finish_part(o);
                else if (!in_own) output.gap = after;
            } else {
                output.gap = NOWHERE;
                if (output.written < depth) continue;
                write(o, keep(depth, o) == KEEP_OWN ? output.from : at, after);
                output.written = static_cast<u32>(depth - 1);
                output.note_good();
            }
            if (in_own) output.from = after;
            if (depth == 1 && output.begun) finish_part(o);
        }
    }

    // At the first of the end tags that close a piece.  Every open element that an output has not left out
    // counts as written from here on.
    void end_piece() {
        if (is_over_) return;
        settle(piece_end_);
        for (u32 o = 0; o < outputs_.size(); ++o) {
            PartWriter& output = outputs_[o];
            if (output.divided) {
                if (output.tree) return stop(CUT_IN_RECORD);
                if (output.begun) finish_part(o);
                continue;
            }
            std::size_t depth = 0;
            const auto is_kept = [&](u8 each) { return each != KEEP_DROP && each != KEEP_TREE; };
            if (!output.tree)
                while (depth < depth_ && !frames_[depth + 1].quiet && is_kept(keep(depth + 1, o))) ++depth;
            open_ancestors(o, depth);
            output.give(o, true, queue_);
        }
        is_over_ = true;
    }

    static int on_external(XML_Parser parser, const char*, const char*, const char*, const char*) {
        static_cast<Projector*>(XML_GetUserData(parser))->stop(XML_ERROR_EXTERNAL_ENTITY_HANDLING);
        return XML_STATUS_ERROR;
    }
    static void on_skipped(void* self, const char*, int parameter) {
        if (!parameter) static_cast<Projector*>(self)->stop(UNDECLARED_ENTITY);
    }
    static int on_encoding(void* self, const char* name, XML_Encoding* info) {
        return map_encoding(static_cast<Projector*>(self)->encoding_, name, info);
    }

    bool too_many(const char** attributes) const {
        u32 count = 0;
        while (attributes[2 * count]) ++count;
        return count > limits_.attributes;
    }

    bool find_state(u32 state, const char* name, u32& child) {
        std::size_t size = 0;
        const u32 number = table_.name(name, size);
        if (table_.find(state, number, child)) return true;
        asked_keeps_.assign(outputs_.size(), 0);
        if (!oracle_(asked_, state, name, size, child, asked_keeps_.data())) {
            stop(ORACLE_FAILED);
            return false;
        }
        table_.add(state, number, child, asked_keeps_.data());
        return true;
    }

    // Writing

    void begin_document(u64 root) {
        window_.copy(prolog_, 0, root);
        for (PartWriter& output : outputs_)
            if (output.tree == WHOLE_DOCUMENT) output.begun = true;
    }

    void set_tag(Frame& frame, u64 start, u64 end) {
        frame.tag.clear();
        window_.copy(frame.tag, start, end);
    }

    void open_ancestors(u32 o, std::size_t depth) {
        PartWriter& output = outputs_[o];
        if (!output.begun) {
            output.begun = true;
            output.append(prolog_, 0);
        }
        for (std::size_t d = output.written + 1; d <= depth; ++d)
            if (!frames_[d].in_entity) output.append(frames_[d].tag, frames_[d].start);
        output.written = static_cast<u32>(std::max<std::size_t>(output.written, depth));
    }

    void write(u32 o, u64 start, u64 end) { outputs_[o].append(window_, start, end, start + shift_); }

    // Makes the end tags of open elements: the only bytes that are not copied.
    void close(PartWriter& output, u32 written) {
        for (std::size_t d = written; d > 0; --d) {
            if (frames_[d].in_entity) continue;
            window_.put(output.slice.body, "</");
            output.slice.body.append(window_.name_in(frames_[d].tag));
            window_.put(output.slice.body, ">");
        }
    }

    void finish_part(u32 o) {
        close(outputs_[o], outputs_[o].written);
        outputs_[o].end(o, queue_);
    }

    // After an error: back to the last element that was whole; what is still open is closed.
    void take_back(u32 o) {
        PartWriter& output = outputs_[o];
        if (!output.begun || !output.good) return;
        output.take_back();
        close(output, output.good_written);
        output.end(o, queue_);
    }

    // Copies what is certain up to an offset, and returns the offset of the first byte that is still needed.
    u64 settle(u64 safe) {
        u64 needed = safe;
        const Frame& frame = frames_[depth_];
        for (u32 o = 0; o < outputs_.size(); ++o) {
            PartWriter& output = outputs_[o];
            const bool own = !output.tree && depth_ && !frame.quiet && keep(frame.base, o) == KEEP_OWN;
            if (output.tree || own) {
                if (output.tree == WHOLE_DOCUMENT) output.begun = true;
                if (safe > output.from) {
                    write(o, output.from, safe);
                    output.from = safe;
                }
                needed = std::min(needed, output.from);
            }
            if (output.gap != NOWHERE && safe > output.gap && safe - output.gap > MOST_GAP)
                output.gap = NOWHERE;
            needed = std::min(needed, output.gap);
        }
        return needed;
    }

    bool has_root() const { return frames_.size() > 1; }

    // Where the tag or reference at an offset ends.  Expat reports it, too, but not after some references.
    u64 token_end(u64 at, char last) const {
        const auto count = static_cast<u64>(XML_GetCurrentByteCount(parser_));
        if (count > window_.width() && window_.sign(at + count - window_.width()) == last) return at + count;
        return window_.token_end(at, last);
    }

    // Errors

    void fault(int code) { fault_ = {code, parser_.line(), parser_.column(), parser_.offset()}; }

    void stop(int code) {
        if (fault_.code) return;
        fault(code);
        parser_.stop();
    }

    ExpatParser parser_;
    std::vector<PartWriter> outputs_;
    u64 part_bytes_;
    ProjectionLimits limits_;
    Oracle oracle_;
    void* asked_;
    EncodingMap encoding_;
    StateTable table_;
    PieceBounds piece_;
    u64 shift_;  // from offsets of what is fed to offsets in the document
    u64 piece_end_ = NOWHERE;
    bool is_closing_ = false, is_over_ = false;
    std::vector<u8> asked_keeps_;
    std::vector<Frame> frames_;  // the document node, then the open elements
    std::vector<u8> keeps_;      // what each output keeps of each of them
    std::size_t depth_ = 0;
    InputWindow window_;
    std::string prolog_;
    u64 unit_start_ = NOWHERE, unit_end_ = 0;
    bool is_unit_open_ = false;  // its reference was written, and its entity may go on
    ProjectionFault fault_;
    SliceQueue queue_;
};

}  // namespace twigcast
