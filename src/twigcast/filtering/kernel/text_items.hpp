// The text of an element that is in several parts of a document, in the order of the document.
//
// Short texts are kept as they are.  A long one is replaced by a summary that answers every predicate on
// string-values: its first and last bytes, as many as the longest constant has; its length; the substrings
// found in it; and, if it may be a number, its digits.  Summaries of neighbouring texts are joined, so an
// element needs little memory however long it is.
#pragma once

#include <string>
#include <vector>

#include "numbers.hpp"

namespace twigcast {

struct TextSummary {
    u64 bytes = 0, characters = 0;
    std::string head, tail;
    std::string number;                   // the text without repeated white space, or NOT_A_NUMBER
    std::vector<std::vector<u32>> found;  // literals of `contains`, by segment

    static constexpr char NOT_A_NUMBER[] = "x";

    void append_to_number(const char* text, std::size_t length) {
        for (std::size_t i = 0; i < length && number != NOT_A_NUMBER; ++i) {
            const char c = text[i];
            const bool space = c == ' ' || c == '\t' || c == '\n' || c == '\r';
            if (space && !number.empty() && number.back() == ' ') continue;
            if (space) number.push_back(' ');
            else if ((c >= '0' && c <= '9') || c == '.' || c == '-') number.push_back(c);
            else number = NOT_A_NUMBER;
        }
    }
};

struct TextItem {
    u64 place = 0, end = 0;  // the bytes of the document that have it; the next item begins at the end
    std::string text;        // empty if it is summarised
    bool summarised = false;
    TextSummary summary;

    u64 bytes() const { return summarised ? summary.bytes : text.size(); }
};

}  // namespace twigcast
