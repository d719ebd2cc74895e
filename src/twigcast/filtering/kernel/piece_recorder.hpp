// Records the elements that a piece of a document does not finish, as entries of a partial.
#pragma once

#include "text_summaries.hpp"

namespace twigcast {

struct PieceHole {
    u64 offset;  // in the body of the piece
    u64 id;
    u64 place;  // in the document, of the bytes after the hole
};

// A run of a fragment: bytes that stand together in the document, inside elements that other parts have
// opened.
struct Piece {
    const char* body = "";
    u64 length = 0, place = 0;
    std::string opening;  // what the parser needs to read before: declarations, and the tags of the context
    std::string closing;  // the end tags of the elements that are open at its end
    std::string marker;   // an instruction that stands for a hole, in the encoding of the document
    std::string marker_data;            // what the parser then reports
    std::vector<u64> context;           // the node ids of the elements around, the root first
    std::vector<PieceHole> holes;       // by offset
    std::vector<u64> fills;             // the hole that the piece fills, if any
    u64 first = 1;                      // the id of the first element that begins in the piece
    bool starts = false, ends = false;  // whether the piece has the begin, or the end, of the document
};

class PieceRecorder {
  public:
    void begin(const Piece& piece, const std::vector<Matcher*>& matchers) {
        piece_ = &piece;
        matchers_ = &matchers;
        partial_ = Partial();
        next_ = piece.first;
        place_ = piece.place;
        from_ = 0;
        depth_ = entered_ = 0;
        least_depth = static_cast<u32>(piece.context.size());
        consistent = true;
        in_entity = false;
        open(Partial::DOCUMENT, "", 0, true);
        open_[0].started = piece.starts;
    }

    // Whether the element that begins now is one of the context.
    bool entering() const { return entered_ < piece_->context.size(); }

    void start(const char* name, std::size_t length) {
        ++depth_;
        if (entering()) open(piece_->context[entered_++], name, length, true);
        else open(in_entity ? 0 : next_++, name, length, false);
    }

    // To be called before the matchers end the element.
    void end() {
        if (open_[depth_].incomplete) take(true);
        least_depth = std::min(least_depth, --depth_);
    }

    // The place in the document of an offset in the piece that is not beyond the next hole.
    u64 place_at(u64 offset) const { return place_ + (offset - from_); }

    void hole(const PieceHole& hole) {
        from_ = hole.offset;
        place_ = hole.place;
        for (u32 d = 0; d <= depth_; ++d) {
            open_[d].incomplete = true;
            open_[d].holes.push_back(hole.id);
        }
    }

    // Takes what is open at the end; `ended` is called for each element after that.
    template <class Ended>
    void finish(const Ended& ended) {
        last_depth = depth_;
        for (; depth_; --depth_) {
            take(false);
            ended(depth_);
        }
        take(piece_->ends);
    }

    Partial& partial() { return partial_; }
    u64 elements() const { return next_ - piece_->first; }

    u32 least_depth = 0, last_depth = 0;  // of elements open in the piece, and at its end
    bool in_entity = false;               // the next element has no start tag in the piece, so no number
    bool consistent = true;               // whether no two elements have the same id

  private:
    struct Open {
        u64 id;
        std::string name;
        bool entered, started, incomplete;
        std::vector<u64> holes;
    };

    void open(u64 id, const char* name, std::size_t length, bool entered) {
        if (depth_ >= open_.size()) open_.resize(2 * depth_ + 1);
        Open& open = open_[depth_];
        open.id = id;
        open.name.assign(name, length);
        open.entered = open.incomplete = entered;
        open.started = !entered;
        open.holes.clear();
    }

    void take(bool ended) {
        const Open& open = open_[depth_];
        Entry entry;
        entry.parent = depth_ ? open_[depth_ - 1].id : 0;
        entry.depth = depth_;
        entry.name = open.name;
        entry.started = open.started;
        entry.ended = ended;
        entry.opened = open.holes;
        sort_unique(entry.opened);
        if (open.entered) entry.filled = piece_->fills;
        for (Matcher* matcher : *matchers_)
            if (entry.text.empty()) matcher->take_text(depth_, place_at(piece_->length), entry.text);
        TextSummaries(*matchers_).compact(entry.text);
        entry.literals.resize(matchers_->size());
        for (std::size_t i = 0; i < matchers_->size(); ++i) (*matchers_)[i]->take(depth_, entry.literals[i]);
        consistent = partial_.add(open.id, std::move(entry)) && consistent;
    }

    const Piece* piece_ = nullptr;
    const std::vector<Matcher*>* matchers_ = nullptr;
    Partial partial_;
    std::vector<Open> open_;
    u64 next_ = 1, place_ = 0, from_ = 0;
    u32 depth_ = 0, entered_ = 0;
};

}  // namespace twigcast
