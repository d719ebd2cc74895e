// The text of a document, kept once for all open elements: a string-value is a range of it, which ends where
// the text ends now.
//
//   <a>one<b>two</b></a>       onetwo      the string-value of b from 3, that of a from 0
//
// What a comparison needs is counted while the text comes (characters, words, occurrences of substrings), or
// bounded by the strings that it is compared with; so nested elements cost the same as others.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "numbers.hpp"
#include "predicates.hpp"
#include "substrings.hpp"
#include "text_items.hpp"

namespace twigcast {

class TextBuffer {
  public:
    struct Place {
        std::size_t at = 0, characters = 0;
    };

    explicit TextBuffer(const PredicateGroup& strings)
        : strings_(strings), occurrences_(strings.substrings()) {}

    // `place` is where the text begins in the document.
    void begin(u64 place) {
        text_.clear();
        runs_.assign(1, Run{0, place, place});
        characters_ = 0;
        number_.begin();
        occurrences_.begin();
    }

    void append(const char* bytes, std::size_t length) {
        if (!strings_.substrings().empty()) occurrences_.scan(bytes, length, text_.size());
        if (strings_.has_lengths()) characters_ += code_points(bytes, length);
        if (strings_.has_numbers()) number_.append(bytes, length, text_.size());
        text_.append(bytes, length);
    }

    // Another part of the document belongs here: the document goes to `before`, and on at `place`.
    void hole(u64 place, u64 before) { runs_.push_back(Run{text_.size(), place, before}); }

    // Appends the text from `start` on, in items between holes; the last of them ends at `place_end`.
    void items(Place start, u64 place_end, std::vector<TextItem>& out) const {
        for (std::size_t i = 0; i < runs_.size(); ++i) {
            const bool is_last = i + 1 == runs_.size();
            const std::size_t begin = std::max(start.at, runs_[i].at),
                              end = is_last ? size() : runs_[i + 1].at;
            if (begin >= end) continue;
            TextItem item;
            item.place = runs_[i].place;
            item.end = is_last ? place_end : runs_[i + 1].before;
            item.text.assign(from(begin), end - begin);
            out.push_back(std::move(item));
        }
    }

    std::size_t size() const { return text_.size(); }
    const char* from(std::size_t at) const { return text_.data() + at; }
    Place here() const { return Place{text_.size(), characters_}; }

    // Appends the literals that hold for the string-value that began at `start`; returns the work that this
    // was.
    std::size_t compare(Place start, LiteralSet& out) {
        const char* value = text_.data() + start.at;
        std::size_t length = text_.size() - start.at, work = 1;
        strings_.compare(value, length, characters_ - start.characters, out);
        if (strings_.has_numbers()) strings_.compare_number(number_.value(text_.data(), start.at), out);
        if (!strings_.substrings().empty()) work += occurrences_.within(start.at, out.literals);
        return work;
    }

    // Gives back what one large document has taken.
    void shrink(std::size_t most) {
        if (text_.capacity() > most) std::string().swap(text_);
    }

    std::size_t bytes() const { return text_.capacity() + occurrences_.bytes(); }

  private:
    // Text without a hole in it.
    struct Run {
        std::size_t at;
        u64 place, before;  // in the document: of its bytes; where the bytes before the hole end
    };

    const PredicateGroup& strings_;
    std::string text_;
    Occurrences occurrences_;
    GrowingNumber number_;
    std::size_t characters_ = 0;
    std::vector<Run> runs_;
};

}  // namespace twigcast
