// The part of an output that is being written: its bytes and source map since the last slice was given.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "input_window.hpp"

namespace twigcast {

// Bytes of a part.  They belong at `start`; what was given beyond that before is taken back.
struct PartSlice {
    std::uint32_t output = 0, part = 0;
    std::uint64_t start = 0;
    std::string body;
    std::vector<std::uint64_t> map;  // pairs: offset in the part, offset in the document
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
            if (slice.body.capacity() > most_spare_bytes) continue;
            slice.body.clear();
            slice.map.clear();
            slice.whole = false;
            spare_.push_back(std::move(slice));
        }
        given_.clear();
    }

private:
    static constexpr std::size_t most_spare_bytes = 4 << 20;

    std::vector<PartSlice> given_, spare_;
};

struct PartWriter {
    static constexpr std::uint64_t none = ~0ull;

    bool divided = false, begun = false;
    bool unit_kept = false;  // the entity reference that is being read
    std::uint32_t written = 0, tree = 0, part = 0, good_written = 0;
    std::uint64_t from = 0, gap = none, last = none, length = 0, good = 0;
    PartSlice slice;

    // Appends bytes that are at `source` of the document.
    void append(std::string_view text, std::uint64_t source) {
        if (text.empty()) return;
        note(text.size(), source);
        slice.body.append(text);
    }

    void append(const InputWindow& window, std::uint64_t start, std::uint64_t end, std::uint64_t source) {
        if (start >= end) return;
        note(end - start, source);
        window.copy(slice.body, start, end);
    }

    void note_good() {
        good = length;
        good_written = written;
    }

    // Moves the slice to those that are given.
    void give(std::uint32_t output, bool whole, SliceQueue& queue) {
        slice.output = output;
        slice.part = part;
        slice.whole = whole;
        queue.give(std::move(slice));
        slice = queue.empty_slice();
        slice.start = length;
    }

    // The part is whole: the next one begins.
    void end(std::uint32_t output, SliceQueue& queue) {
        give(output, true, queue);
        ++part;
        begun = false;
        written = good_written = 0;
        length = good = slice.start = 0;
        last = gap = none;
    }

    // Takes the part back to the end of its last element that was whole.
    void take_back() {
        if (good >= slice.start) {
            slice.body.resize(good - slice.start);
        } else {
            slice.body.clear();
            slice.start = good;
        }
        std::vector<std::uint64_t>& map = slice.map;
        while (!map.empty() && map[map.size() - 2] >= good) map.resize(map.size() - 2);
    }

private:
    void note(std::uint64_t size, std::uint64_t source) {
        if (source != last) {
            slice.map.push_back(length);
            slice.map.push_back(source);
        }
        length += size;
        last = source + size;
    }
};

}  // namespace twigcast
