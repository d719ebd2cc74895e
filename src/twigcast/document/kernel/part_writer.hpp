// The part of an output that is being written: its bytes and source map since the last slice was given.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "input_window.hpp"
#include "integers.hpp"

namespace twigcast {

// Bytes of a part.  They belong at `start`; what was given beyond that before is taken back.
struct PartSlice {
    u32 output = 0, part = 0;
    u64 start = 0;
    std::string body;
    std::vector<u64> map;  // pairs: offset in the part, offset in the document
    bool whole = false;
};

// Slices that wait to be taken, and the memory of slices that were: growing new strings from nothing for each
// block took a tenth of the pass.
class SliceQueue {
  public:
    void give(PartSlice&& slice) { given_.push_back(std::move(slice)); }
    std::vector<PartSlice>& given() { return given_; }

    PartSlice empty_slice() {
        PartSlice slice;
        if (!spare_.empty()) {
            slice = std::move(spare_.back());
            spare_.pop_back();
        }
        return slice;
    }

    // The caller has copied what was given.
    void taken(std::size_t most_spare) {
        for (PartSlice& slice : given_) {
            if (spare_.size() == most_spare) break;
            if (slice.body.capacity() > MOST_SPARE_BYTES) continue;
            slice.body.clear();
            slice.map.clear();
            slice.whole = false;
            spare_.push_back(std::move(slice));
        }
        given_.clear();
    }

  private:
    static constexpr std::size_t MOST_SPARE_BYTES = 4 << 20;

    std::vector<PartSlice> given_, spare_;
};

struct PartWriter {
    static constexpr u64 NOWHERE = ~0ull;

    bool divided = false, begun = false;
    bool unit_kept = false;  // the entity reference that is being read
    u32 written = 0, tree = 0, part = 0, good_written = 0;
    u64 from = 0, gap = NOWHERE, last = NOWHERE, length = 0, good = 0;
    PartSlice slice;

    // Appends bytes that are at `source` of the document.
    void append(std::string_view text, u64 source) {
        if (text.empty()) return;
        note(text.size(), source);
        slice.body.append(text);
    }

    void append(const InputWindow& window, u64 start, u64 end, u64 source) {
        if (start >= end) return;
        note(end - start, source);
        window.copy(slice.body, start, end);
    }

    void note_good() {
        good = length;
        good_written = written;
    }

    // Moves the slice to those that are given.
    void give(u32 output, bool whole, SliceQueue& queue) {
        slice.output = output;
        slice.part = part;
        slice.whole = whole;
        queue.give(std::move(slice));
        slice = queue.empty_slice();
        slice.start = length;
    }

    // The part is whole: the next one begins.
    void end(u32 output, SliceQueue& queue) {
        give(output, true, queue);
        ++part;
        begun = false;
        written = good_written = 0;
        length = good = slice.start = 0;
        last = gap = NOWHERE;
    }

    // Takes the part back to the end of its last element that was whole.
    void take_back() {
        if (good >= slice.start) {
            slice.body.resize(good - slice.start);
        } else {
            slice.body.clear();
            slice.start = good;
        }
        std::vector<u64>& map = slice.map;
        while (!map.empty() && map[map.size() - 2] >= good) map.resize(map.size() - 2);
    }

  private:
    void note(u64 size, u64 source) {
        if (source != last) {
            slice.map.push_back(length);
            slice.map.push_back(source);
        }
        length += size;
        last = source + size;
    }
};

}  // namespace twigcast
