// Summarises the texts of elements for the segments of some matchers; see text_items.hpp.
#pragma once

#include "matcher.hpp"

namespace twigcast {

class TextSummaries {
  public:
    explicit TextSummaries(const std::vector<Matcher*>& matchers) : matchers_(matchers) {
        for (const Matcher* matcher : matchers) longest_ = std::max(longest_, matcher->longest_string());
    }

    // Summarises the items of a text if they are long, and joins neighbours.
    void compact(std::vector<TextItem>& items) const {
        u64 bytes = 0;
        for (const TextItem& item : items) bytes += item.text.size();
        if (matchers_.empty() || bytes <= matchers_[0]->text_limit()) return;
        std::size_t kept = 0;
        for (TextItem& item : items) {
            summarise(item);
            if (kept && items[kept - 1].end == item.place) join(items[kept - 1], item);
            else if (&items[kept++] != &item) items[kept - 1] = std::move(item);
        }
        items.resize(kept);
    }

    // The summary of a whole text.
    TextSummary whole(std::vector<TextItem>& items) const {
        for (TextItem& item : items) {
            summarise(item);
            if (&item != &items[0]) join(items[0], item);
        }
        return items[0].summary;
    }

  private:
    void summarise(TextItem& item) const {
        if (item.summarised) return;
        const std::string& text = item.text;
        TextSummary& summary = item.summary;
        summary.bytes = text.size();
        summary.characters = code_points(text.data(), text.size());
        summary.head = text.substr(0, longest_);
        summary.tail = text.size() > longest_ ? text.substr(text.size() - longest_) : text;
        summary.append_to_number(text.data(), text.size());
        summary.found.resize(matchers_.size());
        find(text, summary);
        item.summarised = true;
        std::string().swap(item.text);
    }

    void join(TextItem& one, const TextItem& other) const {
        TextSummary &a = one.summary, b = other.summary;
        find(a.tail + b.head, a);  // what lies across the seam
        for (std::size_t i = 0; i < b.found.size(); ++i) {
            a.found[i].insert(a.found[i].end(), b.found[i].begin(), b.found[i].end());
            std::sort(a.found[i].begin(), a.found[i].end());
            a.found[i].erase(std::unique(a.found[i].begin(), a.found[i].end()), a.found[i].end());
        }
        if (a.head.size() < longest_) a.head = (a.head + b.head).substr(0, longest_);
        b.tail = b.tail.size() < longest_ ? a.tail + b.tail : b.tail;
        a.tail = b.tail.size() > longest_ ? b.tail.substr(b.tail.size() - longest_) : b.tail;
        if (b.number == TextSummary::NOT_A_NUMBER) a.number = b.number;
        else a.append_to_number(b.number.data(), b.number.size());
        a.bytes += b.bytes;
        a.characters += b.characters;
        one.end = other.end;
    }

    void find(const std::string& text, TextSummary& summary) const {
        for (std::size_t i = 0; i < matchers_.size(); ++i)
            matchers_[i]->find_substrings(text, summary.found[i]);
    }

    const std::vector<Matcher*>& matchers_;
    std::size_t longest_ = 1;
};

}  // namespace twigcast
