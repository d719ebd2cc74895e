// Names as numbers, and the automaton of decisions as a table: (state, name) to the state of the child.
//
// Both are open-addressing tables that double.  States are numbers that the caller gives; each has the Keep
// of every output.
#pragma once

#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "integers.hpp"

namespace twigcast {

class StateTable {
  public:
    explicit StateTable(std::size_t outputs) : outputs_(outputs), names_(256, 0), steps_(1024) {}

    // The number of a name that ends with a zero byte, and its size.
    u32 name(const char* text, std::size_t& size) {
        u64 hash = 0x9E3779B97F4A7C15ull;
        const char* c = text;
        for (; *c; ++c) hash = (hash ^ static_cast<unsigned char>(*c)) * 0x100000001B3ull;
        hash ^= hash >> 32;
        size = static_cast<std::size_t>(c - text);
        for (std::size_t i = hash & (names_.size() - 1);; i = (i + 1) & (names_.size() - 1)) {
            const u32 number = names_[i];
            if (!number) return add_name(text, size, hash);
            const Known& known = texts_[number - 1];
            if (known.hash == hash && known.text.size() == size &&
                !std::memcmp(known.text.data(), text, size))
                return number - 1;
        }
    }

    // The state of a child, if it is known; most names occur again below the state below which they occurred
    // last.
    bool find(u32 state, u32 name, u32& child) {
        Known& known = texts_[name];
        if (known.parent != state) {
            const Step* step = probe(state, name);
            if (!step) return false;
            known.parent = state;
            known.child = step->state;
        }
        child = known.child;
        return true;
    }

    void add(u32 state, u32 name, u32 child, const u8* keeps) {
        if (2 * (count_ + 1) > steps_.size()) {
            std::vector<Step> old(2 * steps_.size());
            old.swap(steps_);
            for (const Step& step : old)
                if (step.key) put(step);
        }
        ++count_;
        if (keeps_.size() < (child + 1) * outputs_) keeps_.resize((child + 1) * outputs_);
        std::memcpy(keeps_.data() + child * outputs_, keeps, outputs_);
        order_.emplace_back(state, name);
        put({key_of(state, name), child});
    }

    const u8* keeps(u32 state) const { return keeps_.data() + state * outputs_; }

    // The steps that were asked for, in the order in which they occurred first.
    std::size_t size() const { return order_.size(); }
    u32 state(std::size_t i) const { return order_[i].first; }
    const std::string& text(std::size_t i) const { return texts_[order_[i].second].text; }

  private:
    struct Step {
        u64 key = 0;  // state and name, plus 1; 0: free
        u32 state = 0;
    };

    struct Known {
        std::string text;
        u64 hash;
        u32 parent = ~0u, child = 0;  // of its last occurrence
    };

    const Step* probe(u32 state, u32 name) const {
        const u64 key = key_of(state, name);
        for (std::size_t i = mixed(key) & (steps_.size() - 1);; i = (i + 1) & (steps_.size() - 1)) {
            if (steps_[i].key == key) return &steps_[i];
            if (!steps_[i].key) return nullptr;
        }
    }

    static u64 key_of(u32 state, u32 name) { return (static_cast<u64>(state) << 32 | name) + 1; }
    static u64 mixed(u64 key) {
        key *= 0x9E3779B97F4A7C15ull;
        return key ^ key >> 29;
    }
    u32 add_name(const char* text, std::size_t size, u64 hash) {
        if (2 * (texts_.size() + 1) > names_.size()) {
            names_.assign(2 * names_.size(), 0);
            for (std::size_t i = 0; i < texts_.size(); ++i) put_name(texts_[i].hash, i);
        }
        texts_.push_back({std::string(text, size), hash});
        put_name(hash, texts_.size() - 1);
        return static_cast<u32>(texts_.size() - 1);
    }

    void put_name(u64 hash, std::size_t number) {
        std::size_t i = hash & (names_.size() - 1);
        while (names_[i]) i = (i + 1) & (names_.size() - 1);
        names_[i] = static_cast<u32>(number + 1);
    }

    void put(const Step& step) {
        std::size_t i = mixed(step.key) & (steps_.size() - 1);
        while (steps_[i].key) i = (i + 1) & (steps_.size() - 1);
        steps_[i] = step;
    }

    std::size_t outputs_, count_ = 0;
    std::vector<u32> names_;  // number plus 1; 0: free
    std::vector<Known> texts_;
    std::vector<Step> steps_;
    std::vector<u8> keeps_;
    std::vector<std::pair<u32, u32>> order_;
};

}  // namespace twigcast
