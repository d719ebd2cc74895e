// Where the events of a document go, whether they are its own or those of its image: the matchers, the tree
// if one is recorded, and the structure if one is wanted.  Sinks count their own depth, because an image may
// be deeper than its source.
#pragma once

#include "confirmation.hpp"
#include "piece_recorder.hpp"
#include "structure.hpp"

namespace twigcast {

class Sinks {
  public:
    std::vector<Matcher*> matchers;
    DocumentTree* tree = nullptr;
    StructureBuilder* structure = nullptr;  // null: not wanted
    bool recording = false;                 // also record the tree
    bool too_costly = false;
    const Piece* piece = nullptr;  // if a piece of a document is read
    PieceRecorder recorder;        // of the piece
    u64 generation = 0;            // to be increased when there are other matchers

    void begin(u64* result, u64 length, bool with_prefixes, u64 most_work) {
        depth_ = 0;
        too_costly = false;
        with_prefixes_ = with_prefixes;
        if (recording) tree->begin(length);
        if (structure) structure->begin();
        if (piece) recorder.begin(*piece, matchers);
        for (Matcher* matcher : matchers)
            piece ? matcher->begin_piece(result, piece->place) : matcher->begin(result);
        const u64 now = work();
        most_work_ = most_work < NO_LIMIT - now ? now + most_work : NO_LIMIT;
    }

    bool needs_text() const {
        bool needed = recording;
        for (const Matcher* matcher : matchers) needed = needed || matcher->needs_text();
        return needed;
    }

    void start(const char* name, std::size_t length, u64 hash, const char** attributes) {
        ++depth_;
        if (recording) tree->start(name, length, hash, attributes);
        if (with_prefixes_ && (structure || !matchers.empty())) {
            attributes = without_prefixes(name, attributes);
            name = stripped_[0].c_str();
            length = stripped_[0].size();
            hash = hash_bytes(name, length);
        }
        if (piece) {
            const bool entering = recorder.entering();
            recorder.start(name, length);
            if (entering) {
                for (Matcher* matcher : matchers) matcher->enter(name, length, hash, depth_);
                return;
            }
        }
        for (Matcher* matcher : matchers) matcher->start(name, length, hash, attributes, depth_);
        if (structure) structure->start(name, length, hash, attributes);
    }

    void end() {
        if (piece) recorder.end();
        for (Matcher* matcher : matchers) matcher->end(depth_);
        if (++ended_ % WORK_EVERY == 0 && work() > most_work_) too_costly = true;
        if (recording) tree->end();
        if (structure) structure->end();
        --depth_;
    }

    // Another part of the document belongs here.
    void hole(const PieceHole& hole) {
        const u64 before = recorder.place_at(hole.offset);
        recorder.hole(hole);
        for (Matcher* matcher : matchers) matcher->hole(depth_, before, hole.place);
    }

    // Null is text that nobody needs.
    void text(const char* bytes, std::size_t length) {
        if (!bytes) return;
        for (Matcher* matcher : matchers) matcher->text(bytes, length);
        if (recording) tree->text(bytes, length);
    }

    void comment(const char* data) {
        interrupt();
        if (recording) tree->comment(data);
    }

    void instruction(const char* target, const char* data) {
        interrupt();
        if (recording) tree->instruction(target, data);
    }

    // Whether every element makes a difference.
    bool sees_all() const { return recording || structure; }

    // Whether elements with this label path, or what they contain, can make a difference.
    bool sees(const std::vector<Label>& path) const {
        if (sees_all()) return true;
        for (Matcher* matcher : matchers)
            if (matcher->interest().sees(path)) return true;
        return false;
    }

    // Whether the text of elements with this label path, or of those above them, is needed.
    bool reads_text(const std::vector<Label>& path) const {
        if (recording) return true;
        for (Matcher* matcher : matchers)
            if (matcher->interest().reads_text(path)) return true;
        return false;
    }

    // Whether no matcher looks into the open element.
    bool is_skipping() const {
        for (const Matcher* matcher : matchers)
            if (!matcher->is_skipping()) return false;
        return true;
    }

    // From now on, note what elements give to the open one, so that it can be given to others; returns a
    // number for it.
    u64 begin_copy() {
        for (Matcher* matcher : matchers) matcher->begin_copy(depth_);
        return ++copies_;
    }

    void end_copy() {
        for (Matcher* matcher : matchers) matcher->end_copy(depth_);
    }

    // Gives the open element what was noted; false if that is not known any more.
    bool repeat_copy(u64 number, const std::string& text) {
        if (number != copies_) return false;
        for (Matcher* matcher : matchers)
            if (!matcher->has_copy(depth_)) return false;
        for (Matcher* matcher : matchers) matcher->repeat_copy(depth_, text);
        return true;
    }

    void finish() {
        if (piece) return finish_piece();
        for (Matcher* matcher : matchers) matcher->finish();
        if (recording) tree->finish();
    }

  private:
    static constexpr u64 WORK_EVERY = 64;  // elements between two looks at the work
    static constexpr u64 NO_LIMIT = ~0ull;

    void finish_piece() {
        recorder.finish([this](u32 depth) {
            for (Matcher* matcher : matchers) matcher->end(depth);
        });
        for (Matcher* matcher : matchers) {
            matcher->finish_piece();
            matcher->conformance().for_left(
                [this](u32 position) { recorder.partial().left.push_back(position); });
        }
        sort_unique(recorder.partial().left);
    }

    u64 work() const {
        u64 sum = 0;
        for (const Matcher* matcher : matchers) sum += matcher->work();
        return sum;
    }

    // Ends the text node before a comment or an instruction.
    void interrupt() {
        for (Matcher* matcher : matchers) matcher->interrupt(depth_);
    }

    // The name and the attributes as they are without prefixes; the name is the first of `stripped_`.
    const char** without_prefixes(const char* name, const char** attributes) {
        auto strip = [](const char* spelling) {
            const Name parts = split_name(spelling);
            const std::size_t prefix = parts.prefix.empty() ? 0 : parts.prefix.size() + 1;
            return std::string(spelling, std::strlen(spelling) - prefix);
        };
        stripped_.assign(1, strip(name));
        for (const char** at = attributes; *at; at += 2) stripped_.push_back(strip(*at));
        stripped_attributes_.clear();
        for (std::size_t i = 1; i < stripped_.size(); ++i) {
            stripped_attributes_.push_back(stripped_[i].c_str());
            stripped_attributes_.push_back(attributes[2 * (i - 1) + 1]);
        }
        stripped_attributes_.push_back(nullptr);
        return stripped_attributes_.data();
    }

    u32 depth_ = 0;
    u64 ended_ = 0, most_work_ = NO_LIMIT, copies_ = 0;
    bool with_prefixes_ = false;
    std::vector<std::string> stripped_;
    std::vector<const char*> stripped_attributes_;
};

}  // namespace twigcast
