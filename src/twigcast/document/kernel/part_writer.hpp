// The part of an output that is being written: its bytes and source map since the last slice was given.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
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
    void give(std::uint32_t output, bool whole, std::vector<PartSlice>& given) {
        slice.output = output;
        slice.part = part;
        slice.whole = whole;
        given.push_back(std::move(slice));
        slice = PartSlice{};
        slice.start = length;
    }

    // The part is whole: the next one begins.
    void end(std::uint32_t output, std::vector<PartSlice>& given) {
        give(output, true, given);
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
