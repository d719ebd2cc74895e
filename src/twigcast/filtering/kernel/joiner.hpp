// Closes the elements of a partial that are complete: their rows are joined with the literals that all parts
// have found.
//
// The entries are a tree, from the document down to elements at the cuts.  The matchers walk it as they walk
// a document: each element is opened below its parent, given its literals, and closed after its children.
#pragma once

#include "piece_recorder.hpp"

namespace twigcast {

class Joiner {
  public:
    // Closes complete elements; if `early`, it also completes what holds whatever the missing parts contain.
    void derive(Partial& partial, const std::vector<Matcher*>& matchers, bool early) {
        if (partial.decided) return;
        Entry& document = partial.entries[Partial::DOCUMENT];
        document.literals.resize(matchers.size());
        for (std::size_t i = 0; i < matchers.size(); ++i) {
            matchers[i]->begin(partial.accepted.data());
            matchers[i]->inject(0, document.literals[i]);
        }
        std::vector<Child> children;
        for (const auto& [id, entry] : partial.entries)
            if (id != Partial::DOCUMENT) children.push_back(Child{entry.parent, id});
        std::sort(children.begin(), children.end(),
                  [](const Child& a, const Child& b) { return a.parent < b.parent; });
        std::vector<Visit> visits;
        push(visits, children, Partial::DOCUMENT);
        while (!visits.empty()) {
            Visit visit = visits.back();
            visits.pop_back();
            auto found = partial.entries.find(visit.id);
            if (visit.closing) {
                if (close(found->second, matchers, early)) partial.entries.erase(found);
                continue;
            }
            Entry& entry = found->second;
            entry.literals.resize(matchers.size());
            const u64 hash = hash_bytes(entry.name.data(), entry.name.size());
            for (std::size_t i = 0; i < matchers.size(); ++i) {
                matchers[i]->reopen(entry.name.data(), entry.name.size(), hash, entry.depth);
                matchers[i]->inject(entry.depth, entry.literals[i]);
            }
            visits.push_back(Visit{visit.id, true});
            push(visits, children, visit.id);
        }
        finish(partial, document, matchers, early);
    }

  private:
    struct Child {
        u64 parent, id;
    };
    struct Visit {
        u64 id;
        bool closing;
    };

    static void push(std::vector<Visit>& visits, const std::vector<Child>& children, u64 parent) {
        auto child = std::lower_bound(children.begin(), children.end(), parent,
                                      [](const Child& each, u64 id) { return each.parent < id; });
        for (; child != children.end() && child->parent == parent; ++child)
            visits.push_back(Visit{child->id, false});
    }

    // Returns whether the element is complete.
    bool close(Entry& entry, const std::vector<Matcher*>& matchers, bool early) {
        if (!entry.is_complete()) {
            for (std::size_t i = 0; i < matchers.size(); ++i) {
                if (early) matchers[i]->close_waiting(entry.depth);
                matchers[i]->take_joined(entry.depth, entry.literals[i]);
                matchers[i]->end(entry.depth);
            }
            cancel(entry);
            if (!entry.text.empty()) TextSummaries(matchers).compact(entry.text);
            return false;
        }
        TextSummary summary;
        const bool summarised = std::any_of(entry.text.begin(), entry.text.end(),
                                            [](const TextItem& item) { return item.summarised; });
        text_.clear();
        if (summarised) summary = TextSummaries(matchers).whole(entry.text);
        else
            for (const TextItem& item : entry.text) text_ += item.text;
        for (std::size_t i = 0; i < matchers.size(); ++i)
            matchers[i]->close_complete(entry.depth, text_, summarised ? &summary : nullptr, i);
        return true;
    }

    void finish(Partial& partial, Entry& document, const std::vector<Matcher*>& matchers, bool early) {
        const bool complete = document.is_complete();
        for (std::size_t i = 0; i < matchers.size(); ++i) {
            matchers[i]->finish_join(complete, complete || early);
            if (!complete) matchers[i]->take_joined(0, document.literals[i]);
        }
        if (!complete) return cancel(document);
        for (Matcher* matcher : matchers)
            for (u32 s = 0; s < matcher->segment().schema_count(); ++s) {
                const u32 position = matcher->segment().schemas[s].position;
                if (!std::binary_search(partial.left.begin(), partial.left.end(), position))
                    partial.accepted[position >> 6] |= 1ull << (position & 63);
            }
        partial.decided = true;
        partial.entries.clear();
    }

    // Forgets the holes that are filled: only the others say what is missing.
    static void cancel(Entry& entry) {
        std::vector<u64> opened, filled;
        std::set_difference(entry.opened.begin(), entry.opened.end(), entry.filled.begin(),
                            entry.filled.end(), std::back_inserter(opened));
        std::set_difference(entry.filled.begin(), entry.filled.end(), entry.opened.begin(),
                            entry.opened.end(), std::back_inserter(filled));
        entry.opened.swap(opened);
        entry.filled.swap(filled);
    }

    std::string text_;
};

}  // namespace twigcast
