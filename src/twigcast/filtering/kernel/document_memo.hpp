// What is known about the nodes of one document.
#pragma once

#include "flat.hpp"

namespace twigcast {

// Values by expression and node, for one document: `begin` forgets them all at once.
class DocumentMemo {
  public:
    void begin() {
        if (slots_.size() > KEPT) release(slots_);
        size_ = 0;
        if (++document_ == 0) release(slots_), document_ = 1;
    }

    u32 find(u64 key) const {
        if (slots_.empty()) return NONE;
        for (std::size_t i = mix(key) & (slots_.size() - 1);; i = (i + 1) & (slots_.size() - 1)) {
            if (slots_[i].document != document_) return NONE;
            if (slots_[i].key == key) return slots_[i].value;
        }
    }

    void insert(u64 key, u32 value) {
        if ((size_ + 1) * 2 > slots_.size()) grow();
        place(key, value);
        ++size_;
    }

    std::size_t bytes() const { return bytes_of(slots_); }

  private:
    static constexpr std::size_t KEPT = 1 << 16;

    struct Slot {
        u64 key = 0;
        u32 document = 0, value = 0;
    };

    void place(u64 key, u32 value) {
        std::size_t i = mix(key) & (slots_.size() - 1);
        while (slots_[i].document == document_) i = (i + 1) & (slots_.size() - 1);
        slots_[i] = Slot{key, document_, value};
    }

    void grow() {
        std::vector<Slot> old(slots_.empty() ? 256 : slots_.size() * 2);
        old.swap(slots_);
        for (const Slot& slot : old)
            if (slot.document == document_) place(slot.key, slot.value);
    }

    std::vector<Slot> slots_;
    std::size_t size_ = 0;
    u32 document_ = 1;
};

}  // namespace twigcast
