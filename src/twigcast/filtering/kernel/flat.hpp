// Flat building blocks of the kernel: keyed hashes, an open-addressing map, a pool of hash-consed lists, a
// bit set.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <vector>

#include "twigcast/document/kernel/integers.hpp"

namespace twigcast {

constexpr u32 NONE = 0xFFFFFFFFu;

// Random numbers of the process: an author of documents who does not know them cannot choose names, values or
// paths that collide in a hash table.
inline u64 secret[2] = {0x2545F4914F6CDD1Dull, 0x9E3779B97F4A7C15ull};

inline void seed_hashes(u64 first, u64 second) {
    secret[0] = first;
    secret[1] = second | 1;
}

// The high and low half of a product, folded (the mixing step of wyhash).
inline u64 fold(u64 a, u64 b) {
    unsigned __int128 product = static_cast<unsigned __int128>(a) * b;
    return static_cast<u64>(product) ^ static_cast<u64>(product >> 64);
}

inline u64 mix(u64 x) { return fold(x ^ secret[0], secret[1]); }

inline u64 hash_bytes(const char* bytes, std::size_t length) {
    u64 h = secret[0] ^ length, word;
    for (; length > 8; bytes += 8, length -= 8) {
        std::memcpy(&word, bytes, 8);
        h = fold(h ^ word, secret[1]);
    }
    word = 0;
    std::memcpy(&word, bytes, length);
    return fold(h ^ word, secret[1] ^ 0xA0761D6478BD642Full);
}

inline u64 hash_list(const u32* items, std::size_t length) {
    u64 h = secret[0] ^ length;
    std::size_t i = 0;
    for (; i + 2 <= length; i += 2) h = fold(h ^ (u64(items[i]) << 32 | items[i + 1]), secret[1]);
    if (i < length) h = fold(h ^ items[i], secret[1]);
    return fold(h, secret[1] ^ 0xE7037ED1A0B428DBull);
}

// Empties a vector and gives its memory back; `v = {}` would keep the memory.
template <class T>
void release(std::vector<T>& items) {
    std::vector<T>().swap(items);
}

template <class T>
std::size_t bytes_of(const std::vector<T>& items) {
    return items.capacity() * sizeof(T);
}

template <class T>
void sort_unique(std::vector<T>& items) {
    std::sort(items.begin(), items.end());
    items.erase(std::unique(items.begin(), items.end()), items.end());
}

// u64 -> u32, linear probing, at most 5/8 full.  The key ~0 is reserved for "empty".
class FlatMap {
  public:
    static constexpr u64 EMPTY = ~0ull;

    u32 find(u64 key) const {
        if (keys_.empty()) return NONE;
        for (std::size_t i = mix(key) & mask_;; i = (i + 1) & mask_) {
            if (keys_[i].key == key) return keys_[i].value;
            if (keys_[i].key == EMPTY) return NONE;
        }
    }

    void insert(u64 key, u32 value) {
        if ((size_ + 1) * 8 > keys_.size() * 5) grow();
        place(key, value);
        ++size_;
    }

    std::size_t size() const { return size_; }
    std::size_t bytes() const { return keys_.capacity() * sizeof(Slot); }

    void clear() {
        release(keys_);
        mask_ = size_ = 0;
    }

  private:
    struct Slot {
        u64 key;
        u32 value;
        u32 unused;
    };

    void place(u64 key, u32 value) {
        std::size_t i = mix(key) & mask_;
        while (keys_[i].key != EMPTY) i = (i + 1) & mask_;
        keys_[i] = Slot{key, value, 0};
    }

    void grow() {
        std::vector<Slot> old;
        old.swap(keys_);
        keys_.assign(old.empty() ? 64 : old.size() * 2, Slot{EMPTY, 0, 0});
        mask_ = keys_.size() - 1;
        for (const Slot& slot : old)
            if (slot.key != EMPTY) place(slot.key, slot.value);
    }

    std::vector<Slot> keys_;
    std::size_t mask_ = 0, size_ = 0;
};

struct Span {
    const u32* data;
    u32 size;
    const u32* begin() const { return data; }
    const u32* end() const { return data + size; }
    bool empty() const { return size == 0; }
};

// Lists of u32, each stored once; equal lists have equal ids.  Id 0 is the empty list.
class ListPool {
  public:
    ListPool() { clear(); }

    u32 intern(const u32* items, u32 length) {
        if (length == 0) return 0;
        u64 hash = hash_list(items, length);
        if ((count() + 1) * 8 > index_.size() * 5) grow();
        std::size_t i = hash & mask_;
        for (; index_[i] != NONE; i = (i + 1) & mask_) {
            u32 id = index_[i];
            if (hashes_[id] == hash && starts_[id + 1] - starts_[id] == length &&
                std::memcmp(&items_[starts_[id]], items, length * sizeof(u32)) == 0)
                return id;
        }
        u32 id = static_cast<u32>(count());
        items_.insert(items_.end(), items, items + length);
        starts_.push_back(items_.size());
        hashes_.push_back(hash);
        index_[i] = id;
        return id;
    }

    u32 intern(const std::vector<u32>& items) { return intern(items.data(), static_cast<u32>(items.size())); }

    Span operator[](u32 id) const {
        return Span{items_.data() + starts_[id], static_cast<u32>(starts_[id + 1] - starts_[id])};
    }

    std::size_t count() const { return hashes_.size(); }

    std::size_t bytes() const {
        return bytes_of(items_) + bytes_of(starts_) + bytes_of(hashes_) + bytes_of(index_);
    }

    void clear() {
        release(items_), release(starts_), release(hashes_), release(index_);
        starts_.assign(2, 0);
        hashes_.assign(1, 0);
        mask_ = 0;
    }

  private:
    void grow() {
        index_.assign(index_.empty() ? 64 : index_.size() * 2, NONE);
        mask_ = index_.size() - 1;
        for (u32 id = 1; id < count(); ++id) {
            std::size_t i = hashes_[id] & mask_;
            while (index_[i] != NONE) i = (i + 1) & mask_;
            index_[i] = id;
        }
    }

    std::vector<u32> items_;
    std::vector<std::size_t> starts_;
    std::vector<u64> hashes_;
    std::vector<u32> index_;
    std::size_t mask_ = 0;
};

class Bits {
  public:
    void resize(std::size_t bits) { words_.assign((bits + 63) / 64, 0); }
    bool test(u32 i) const { return words_[i >> 6] >> (i & 63) & 1; }
    // Returns whether the bit was not set before.
    bool set(u32 i) {
        u64 &word = words_[i >> 6], bit = 1ull << (i & 63);
        bool is_new = !(word & bit);
        word |= bit;
        return is_new;
    }
    std::vector<u64>& words() { return words_; }

  private:
    std::vector<u64> words_;
};

}  // namespace twigcast
