// The bytes of a document that are not yet decided: what is left of earlier blocks, and the block of this
// call.
//
//     tail: kept from earlier blocks      block: the caller's bytes, not copied
//     ├────────────────────────────┤├──────────────────────────────────────────┤
//     start                        end of the tail                           end
//
// Offsets count the bytes that were fed.  What is still needed of a block is copied when the call ends
// (`keep`).
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "integers.hpp"

namespace twigcast {

class InputWindow {
  public:
    void add(const char* data, std::size_t size) {
        if (end_ == 0 && size) first_ = data[0];
        if (end_ < 2 && end_ + size >= 2) detect_width(end_ ? data[0] : data[1]);
        block_ = data;
        block_start_ = end_;
        end_ += size;
    }

    // The call is over: keeps the bytes from an offset on.
    void keep(u64 from) {
        from = std::min(from, end_);
        if (from >= block_start_) {
            tail_.assign(block_ + (from - block_start_), end_ - from);
        } else {
            if (from > start_) tail_.erase(0, from - start_);
            tail_.append(block_, end_ - block_start_);
        }
        start_ = std::max(start_, from);
        block_ = nullptr;
        block_start_ = end_;
    }

    u64 start() const { return start_; }
    u64 end() const { return end_; }
    std::string_view tail() const { return tail_; }

    // Appends the bytes of a range, which must be in the window.
    void copy(std::string& to, u64 from, u64 until) const {
        if (from < block_start_) {
            const u64 middle = std::min(until, block_start_);
            to.append(tail_, from - start_, middle - from);
            from = middle;
        }
        if (from < until) to.append(block_ + (from - block_start_), until - from);
    }

    // The character at an offset, if it is one of ASCII.
    char sign(u64 at) const {
        if (at + width_ > end_) return '\0';
        return width_ == 2 && byte(at + 1 - low_) ? '\x7f' : byte(at + low_);
    }

    // The end of the tag or reference at an offset, by its last character.
    u64 token_end(u64 at, char last) const {
        char quote = '\0';
        for (;; at += width_) {
            const char c = sign(at);
            if (at >= end_) return end_;
            if (quote) quote = c == quote ? '\0' : quote;
            else if (c == last) return at + width_;
            else if (last == '>' && (c == '"' || c == '\'')) quote = c;
        }
    }

    // Bytes of a character of ASCII, and the one of them that has it.
    std::size_t width() const { return width_; }

    void put(std::string& to, std::string_view ascii) const {
        for (const char c : ascii) {
            if (width_ == 2 && low_ == 1) to.push_back('\0');
            to.push_back(c);
            if (width_ == 2 && low_ == 0) to.push_back('\0');
        }
    }

    // The bytes of the name in a start tag.
    std::string_view name_in(std::string_view tag) const {
        std::size_t end = width_;
        while (!ends_name(tag, end)) end += width_;
        return tag.substr(width_, end - width_);
    }

  private:
    char byte(u64 at) const { return at < block_start_ ? tail_[at - start_] : block_[at - block_start_]; }

    void detect_width(char second) {
        const auto a = static_cast<unsigned char>(first_), b = static_cast<unsigned char>(second);
        if ((a == 0xFF && b == 0xFE) || (a == '<' && b == 0)) width_ = 2, low_ = 0;
        if ((a == 0xFE && b == 0xFF) || (a == 0 && b == '<')) width_ = 2, low_ = 1;
    }

    bool ends_name(std::string_view tag, std::size_t at) const {
        if (width_ == 2 && tag[at + 1 - low_]) return false;
        const char c = tag[at + low_];
        return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '/' || c == '>';
    }

    std::string tail_;
    const char* block_ = nullptr;
    u64 start_ = 0, block_start_ = 0, end_ = 0;
    char first_ = 0;
    std::size_t width_ = 1, low_ = 0;
};

}  // namespace twigcast
