// The string functions of XPath on UTF-8, and the conversions between strings, numbers and dates.
#pragma once

#include <charconv>
#include <cmath>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "predicates.hpp"

namespace twigcast {

inline std::size_t character_length(char lead) {
    const unsigned byte = static_cast<unsigned char>(lead);
    return byte < 0x80 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
}

// The byte at which the character of this number (from 0) begins; the length of the text if there are fewer.
inline std::size_t character_offset(std::string_view text, std::size_t number) {
    std::size_t at = 0;
    while (number && at < text.size()) at += character_length(text[at]), --number;
    return std::min(at, text.size());
}

inline std::string normalize_space(std::string_view text) {
    std::string out;
    bool pending = false;
    for (char c : text) {
        if (is_space(c)) pending = !out.empty();
        else {
            if (pending) out += ' ';
            pending = false;
            out += c;
        }
    }
    return out;
}

// XPath's round(): the integer that is closest, of two equally close the greater one.
inline double round_half_up(double x) {
    if (x != x || std::isinf(x) || x == 0) return x;
    double floor = std::floor(x);
    double rounded = x - floor >= 0.5 ? floor + 1 : floor;
    return rounded == 0 && x < 0 ? -0.0 : rounded;
}

inline std::string_view substring(std::string_view text, double from, double length, bool bounded) {
    double first = round_half_up(from),
           last = bounded ? first + round_half_up(length) : std::numeric_limits<double>::infinity();
    if (!(first < last)) return {};  // not-a-number, too
    double start = std::max(first, 1.0);
    if (!(start < last)) return {};
    constexpr double MOST = 1e18;
    std::size_t begin = character_offset(text, static_cast<std::size_t>(std::min(start, MOST)) - 1);
    std::string_view rest = text.substr(begin);
    if (std::isinf(last)) return rest;
    return rest.substr(0, character_offset(rest, static_cast<std::size_t>(std::min(last - start, MOST))));
}

inline std::string translate(std::string_view text, std::string_view from, std::string_view to) {
    std::string out;
    for (std::size_t at = 0; at < text.size();) {
        std::size_t size = std::min(character_length(text[at]), text.size() - at);
        std::string_view character = text.substr(at, size);
        at += size;
        std::size_t f = 0, t = 0;
        bool found = false;
        while (f < from.size()) {
            std::size_t length = character_length(from[f]);
            found = from.substr(f, length) == character;
            if (found) break;
            f += length;
            if (t < to.size()) t += character_length(to[t]);
        }
        if (!found) out += character;
        else if (t < to.size()) out += to.substr(t, character_length(to[t]));
    }
    return out;
}

// XPath's string() of a number: decimal digits without an exponent.
inline std::string number_text(double value) {
    if (value != value) return "NaN";
    if (std::isinf(value)) return value < 0 ? "-Infinity" : "Infinity";
    if (value == 0) return "0";
    char buffer[800];
    auto [end, error] = std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::fixed);
    return std::string(buffer, end);
}

// A date of ISO 8601 or HL7, without a time zone as if in UTC; a text that is none has no order.
struct Instant {
    bool valid = false;
    long seconds = 0, nanoseconds = 0;  // seconds since 1970

    bool operator<(const Instant& other) const {
        return valid && other.valid &&
               (seconds != other.seconds ? seconds < other.seconds : nanoseconds < other.nanoseconds);
    }
    bool operator==(const Instant& other) const {
        return valid && other.valid && seconds == other.seconds && nanoseconds == other.nanoseconds;
    }
    bool operator<=(const Instant& other) const { return *this < other || *this == other; }
    bool operator>(const Instant& other) const { return other < *this; }
    bool operator>=(const Instant& other) const { return other <= *this; }
    bool operator!=(const Instant& other) const { return valid && other.valid && !(*this == other); }
};

inline std::string_view stripped(std::string_view text) {
    while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
    while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
    return text;
}

// Reads what ``pattern/dates.py`` defines: the extended form with "-" and ":", and the basic form without
// them.
inline Instant to_instant(std::string_view text) {
    text = stripped(text);
    std::size_t at = 0;
    auto digits = [&](std::size_t count, long& value) {
        value = 0;
        for (std::size_t i = 0; i < count; ++i, ++at) {
            if (at >= text.size() || text[at] < '0' || text[at] > '9') return false;
            value = value * 10 + (text[at] - '0');
        }
        return true;
    };
    auto sign = [&](char c) { return at < text.size() && text[at] == c && ++at; };
    auto is_digit = [&] { return at < text.size() && text[at] >= '0' && text[at] <= '9'; };
    long year, month = 1, day = 1, hour = 0, minute = 0, second = 0, nanoseconds = 0, zone = 0;
    if (!digits(4, year)) return {};
    bool extended = false, to_the_day = false;
    if (at < text.size()) {
        extended = sign('-');
        if (!digits(2, month)) return {};
        if (at < text.size()) {
            if ((extended && !sign('-')) || !digits(2, day)) return {};
            to_the_day = true;
        }
    }
    static const int lengths[] = {31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    const bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    if (year < 1 || month < 1 || month > 12 || day < 1 || day > lengths[month - 1]) return {};
    if (month == 2 && day == 29 && !leap) return {};
    if (sign('T') || (!extended && is_digit())) {
        if (!digits(2, hour)) return {};
        const bool colons = sign(':');
        if (colons || is_digit()) {
            if (!digits(2, minute)) return {};
            if (colons ? sign(':') : is_digit()) {
                if (!digits(2, second)) return {};
                if (sign('.') || sign(',')) {
                    if (!is_digit()) return {};
                    for (long unit = 100'000'000; is_digit(); ++at, unit /= 10)
                        nanoseconds += unit * (text[at] - '0');
                }
            }
        }
        const bool last_moment = hour == 24 && minute == 0 && second == 0 && nanoseconds == 0;
        if ((hour > 23 && !last_moment) || minute > 59 || second > 59) return {};
    }
    if (to_the_day && !sign('Z') && at < text.size()) {
        const long direction = text[at] == '+' ? 1 : text[at] == '-' ? -1 : 0;
        long hours, minutes = 0;
        ++at;
        if (!direction || !digits(2, hours)) return {};
        const bool colon = sign(':');
        if ((colon || is_digit()) && !digits(2, minutes)) return {};
        if (minutes > 59 || hours * 60 + minutes > 14 * 60) return {};
        zone = direction * (hours * 3600 + minutes * 60);
    }
    if (at != text.size()) return {};
    // Days since 1970, with years that begin in March.
    const long shifted = month <= 2 ? year - 1 : year, era = shifted / 400, of_era = shifted - era * 400;
    const long of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    const long days = era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
    return Instant{true, days * 86400 + hour * 3600 + minute * 60 + second - zone, nanoseconds};
}

// Whether a text is a number and a date at the same time, and not a mere year or month.
inline bool is_day_number(std::string_view text) {
    const double value = to_number(text.data(), text.size());
    return value == value && stripped(text).size() >= 8 && to_instant(text).valid;
}

}  // namespace twigcast
