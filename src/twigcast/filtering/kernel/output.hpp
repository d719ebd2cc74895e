// A vector of the payloads that joins find.
#pragma once

#include "flat.hpp"

namespace twigcast {

// The payloads of complete rows, in the order in which they are found; a vector that grows without initialisation.
class Output {
  public:
    // Returns room for `more` items behind the last; the caller reports with `take` how much of it was used.
    u32* room(std::size_t more) {
        if (size_ + more > items_.size()) items_.resize((size_ + more) * 2);
        return items_.data() + size_;
    }
    void take(const u32* end) { size_ = static_cast<std::size_t>(end - items_.data()); }
    void push(u32 item) { *room(1) = item, ++size_; }
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
    std::vector<u32> items_;
    std::size_t size_ = 0;
};

}  // namespace twigcast
