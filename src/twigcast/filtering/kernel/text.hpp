// The text of a document, kept once for all open elements: a string-value is a range of it, which ends where the text
// ends now.
//
//   <a>one<b>two</b></a>       onetwo      the string-value of b from 3, that of a from 0
//
// What a comparison needs is counted while the text comes (characters, words, occurrences of substrings), or bounded by the
// strings that it is compared with; so nested elements cost the same as others.
#pragma once

#include "predicates.hpp"

namespace twigcast {

class TextBuffer {
  public:
    struct Place {
        std::size_t at = 0, characters = 0;
    };

    explicit TextBuffer(const PredicateGroup& strings) : strings_(strings), occurrences_(strings.substrings()) {}

    void begin() {
        text_.clear();
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

    std::size_t size() const { return text_.size(); }
    const char* from(std::size_t at) const { return text_.data() + at; }
    Place here() const { return Place{text_.size(), characters_}; }

    // Appends the literals that hold for the string-value that began at `start`; returns the work that this was.
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
    const PredicateGroup& strings_;
    std::string text_;
    Occurrences occurrences_;
    GrowingNumber number_;
    std::size_t characters_ = 0;
};

}  // namespace twigcast
