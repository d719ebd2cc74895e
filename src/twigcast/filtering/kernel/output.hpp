// The payloads of complete rows, in the order in which they are found: a vector that grows without
// initialisation.
#pragma once

#include <vector>

#include "flat.hpp"

namespace twigcast {

class Output {
  public:
    void complete(u32 payload) { *room(1) = payload, ++size_; }

    // Pairs of a literal and a payload: takes the payloads whose literals are marked.  Whether one is, is
    // unpredictable, so the code does not branch on it.
    void complete_pairs(const u32* pair, const u32* end, const u64* marks) {
        u32* out = room(static_cast<std::size_t>(end - pair) / 2 + 1);
        for (; pair < end; pair += 2) {
            *out = pair[1];
            out += marks[pair[0] >> 6] >> (pair[0] & 63) & 1;
        }
        size_ = static_cast<std::size_t>(out - items_.data());
    }

    void clear() { size_ = 0; }
    void shrink(std::size_t most) {
        if (bytes() > most) release(items_), size_ = 0;
    }
    std::size_t bytes() const { return bytes_of(items_); }
    std::size_t size() const { return size_; }
    bool empty() const { return size_ == 0; }
    const u32* begin() const { return items_.data(); }
    const u32* end() const { return items_.data() + size_; }

  private:
    // Room for `more` items behind the last.
    u32* room(std::size_t more) {
        if (size_ + more > items_.size()) items_.resize((size_ + more) * 2);
        return items_.data() + size_;
    }

    std::vector<u32> items_;
    std::size_t size_ = 0;
};

}  // namespace twigcast
