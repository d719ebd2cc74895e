// What the patterns of a segment want to know of elements with a label path, without any document.
#pragma once

#include <vector>

#include "automaton.hpp"
#include "flat.hpp"
#include "segment.hpp"
#include "tuning.hpp"

namespace twigcast {

class PathInterest {
  public:
    PathInterest(const Segment& segment, Automaton& automaton) : segment_(segment), automaton_(automaton) {}

    // Whether elements with this label path, or anything in them, can make a difference.
    bool sees(const std::vector<Label>& path) {
        if (segment_.schema_count()) return true;
        const Place place = walk(path, false);
        return place.is_in_text || place.node;
    }

    // Whether the text of elements with this label path, or of those above them, can make a difference.
    bool reads_text(const std::vector<Label>& path) {
        const Place place = walk(path, false);
        return place.is_in_text || keeps_text(place.node);
    }

    // How much an element with this label path, or with `below` anything in it, can contribute: 0 if it makes
    // no difference.  With `any_space`, the last label is a local name in an unknown namespace.
    u32 amount(const std::vector<Label>& path, bool below, bool any_space) {
        if (segment_.schema_count()) return 1;
        const Place place = walk(path, any_space);
        if (place.is_in_text) return 1;
        if (place.node == 0) return 0;
        const Automaton::Node& node = automaton_[place.node];
        u32 found = node.push_count + ((node.flags & HAS_ROWS) ? 1 : 0) + (below ? 1 : 0);
        for (u32 i = 0; i < node.accept_count; ++i)
            found += automaton_.blocks[automaton_.accepts(node)[i]].size;
        return found;
    }

  private:
    struct Place {
        u32 node;         // 0: no pattern looks at such elements
        bool is_in_text;  // of an element above, so that all text in it counts
    };

    bool keeps_text(u32 node) { return automaton_[node].flags & (NEEDS_TEXT | NEEDS_STRING); }

    Place walk(const std::vector<Label>& path, bool any_space) {
        u32 node = Automaton::DOCUMENT;
        for (std::size_t i = 0; i < path.size() && node; ++i) {
            if (keeps_text(node)) return Place{node, true};
            const Label& label = path[i];
            const bool is_local = any_space && i + 1 == path.size();
            node = automaton_.child(node, is_local ? automaton_.local_symbol(label.name, label.length)
                                                   : automaton_.symbol(label.name, label.length, label.hash));
        }
        return Place{node, false};
    }

    const Segment& segment_;
    Automaton& automaton_;
};

}  // namespace twigcast
