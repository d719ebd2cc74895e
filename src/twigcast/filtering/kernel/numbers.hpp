// Strings as numbers, as XPath reads them.
#pragma once

#include <charconv>
#include <cmath>
#include <limits>
#include <string>

#include "flat.hpp"

namespace twigcast {

inline bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

// XPath's number(): optional white space around an optional minus and decimal digits; NaN for anything else.
inline double to_number(const char* from, std::size_t length) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const char* to = from + length;
    while (from < to && is_space(*from)) ++from;
    while (to > from && is_space(to[-1])) --to;
    const char* at = from;
    if (at < to && *at == '-') ++at;
    bool digits = false, point = false;
    for (; at < to; ++at) {
        if (*at >= '0' && *at <= '9') digits = true;
        else if (*at == '.' && !point) point = true;
        else return nan;
    }
    if (!digits) return nan;
    double value = nan;
    auto [end, error] = std::from_chars(from, to, value, std::chars_format::fixed);
    if (error == std::errc::result_out_of_range) {
        // Too large becomes infinite, too small zero, as IEEE rounding would have it.
        bool negative = *from == '-', large = false;
        for (at = from + negative; at < to && *at != '.'; ++at) large = large || *at != '0';
        value = large ? std::numeric_limits<double>::infinity() : 0.0;
        return negative ? -value : value;
    }
    return end == to ? value : nan;
}

// Reads the end of a growing text as a number, from any place on, without reading long texts again.
//
// Places of the text are noted while it comes: where its last word begins and ends, where the word before it
// ends, and where the last signs are that a number has once or not at all.  What is left to read is one word,
// of which 1,500 digits decide.
class GrowingNumber {
  public:
    void begin() { *this = GrowingNumber(); }

    void append(const char* bytes, std::size_t length, std::size_t position) {
        for (std::size_t i = 0; i < length; ++i) {
            const char c = bytes[i];
            const std::size_t at = position + i + 1;  // places count from 1, so that 0 is "nowhere"
            if (is_space(c)) {
                in_word_ = false;
                continue;
            }
            if (!in_word_) before_ = end_, start_ = at, in_word_ = true;
            end_ = at;
            if (c >= '0' && c <= '9') {
                if (c != '0') not_zero_ = at;
            } else if (c == '.') {
                point_before_ = point_, point_ = at;
            } else {
                other_ = at;
            }
        }
    }

    // The number that the text is from `from` on.
    double value(const char* text, std::size_t from) const {
        const double nan = std::numeric_limits<double>::quiet_NaN();
        if (end_ <= from || before_ > from) return nan;  // no word, or two
        const std::size_t first = std::max(start_, from + 1) - 1;
        if (end_ - first <= LONG) return to_number(text + first, end_ - first);
        const bool negative = text[first] == '-';
        if (other_ > first + negative || point_before_ > first) return nan;
        const char *at = text + first + negative, *end = text + end_;
        const char* point = point_ > first ? text + point_ - 1 : end;
        const double sign = negative ? -1.0 : 1.0;
        at = skip_zeros(at, point);
        if (point - at > MOST_DIGITS) return sign * std::numeric_limits<double>::infinity();
        if (at == point && skip_zeros(std::min(at + 1, end), end) - at > MOST_DIGITS) return sign * 0.0;
        std::string digits = "0";  // for the zeros that were skipped: "0." is a number, "." is none
        digits.append(at, std::min<std::size_t>(static_cast<std::size_t>(end - at), LONG));
        if (at + LONG < end && not_zero_ > static_cast<std::size_t>(at - text) + LONG)
            digits += '1';  // for rounding
        return sign * to_number(digits.data(), digits.size());
    }

  private:
    static constexpr std::size_t LONG = 1500;
    static constexpr std::ptrdiff_t MOST_DIGITS =
        400;  // before the point, or zeros after it: infinite, or zero

    static const char* skip_zeros(const char* at, const char* end) {
        for (u64 word; end - at >= 8; at += 8) {
            std::memcpy(&word, at, 8);
            if (word != 0x3030303030303030ull) break;
        }
        while (at < end && *at == '0') ++at;
        return at;
    }

    std::size_t start_ = 0, end_ = 0, before_ = 0;  // of the last word, and the end of the word before it
    std::size_t point_ = 0, point_before_ = 0, other_ = 0, not_zero_ = 0;
    bool in_word_ = false;
};

}  // namespace twigcast
