// What a segment asks of the structure of a document: the same patterns without what a structure does not
// have.
//
//   {c/d, @x = 1, not e} -> slot     becomes   {c/d, not e} -> slot
//   {c[@x = 1], not f[@y]} -> slot   becomes   {c} -> slot           c[@x = 1] and not f[@y] are possible
//   {@x = 1} -> slot                 becomes   an end of the node
//
// A literal is open if a structure cannot decide it: a value predicate, or an atom with a row that has an
// open literal. Open predicates of either sign are left out, and so are negated open atoms; an open atom
// itself stays, with rows that are weaker than they were.  So a document that has a pattern has the weakened
// pattern, too; and a pattern without open literals is the same.  If structures have the names of attributes,
// the existence of attributes is no open literal.
//
// Everything that a matcher needs is copied or shared, so that the matcher of structures is an ordinary one.
#pragma once

#include "segment.hpp"

namespace twigcast {

class StructuralSegment {
  public:
    StructuralSegment(const Segment& segment, bool with_attributes)
        : view(segment), header_(*segment.header) {
        const u32 nodes = segment.nodes(), atoms = segment.atoms();
        for (u32 p = 0; p < segment.predicate_count(); ++p) {
            const bool kept = with_attributes && is_attribute_test(segment.predicates[p]);
            number_.push_back(kept ? atoms + static_cast<u32>(predicates_.size()) : NONE);
            if (kept) predicates_.push_back(segment.predicates[p]);
        }
        find_open(segment);
        row_start_.reserve(nodes + 1);
        more_start_.reserve(nodes + 1);
        for (u32 node = 0; node < nodes; ++node) weaken(segment, node);
        row_start_.push_back(static_cast<u32>(rows_.size()));
        more_start_.push_back(static_cast<u32>(more_ends_.size()));
        rows_.push_back(0), more_ends_.push_back(0);  // so that there is an address even if there are none
        predicates_.emplace_back();
        header_.count[PREDICATES] = predicates_.size() - 1;
        view.header = &header_;
        view.predicates = predicates_.data();
        view.row_start = row_start_.data(), view.rows = rows_.data();
        view.more_start = more_start_.data(), view.more_ends = more_ends_.data();
        view.flags = flags_.data();
        release(number_), release(open_atoms_);
    }
    StructuralSegment(const StructuralSegment&) = delete;

    Segment view;

    static bool is_attribute_test(const Predicate& predicate) {
        return predicate.kind == ON_ATTRIBUTE && predicate.op == EXISTS;
    }

    // Sets the bits of the positions with open literals, whose matches are only possible ones.
    void set_open(u64* bitmap) const {
        for (u32 position : open_positions_) bitmap[position >> 6] |= 1ull << (position & 63);
    }

  private:
    struct Edge {
        u32 literal, atom;
    };

    static bool is_open(const std::vector<u8>& atoms, const std::vector<u32>& number, u32 literal) {
        const u32 id = literal & LITERAL;
        return id < atoms.size() ? atoms[id] != 0 : number[id - atoms.size()] == NONE;
    }

    // Finds the atoms and positions that depend on what a structure does not have.
    void find_open(const Segment& segment) {
        const u32 nodes = segment.nodes(), atoms = segment.atoms();
        std::vector<u8> document(
            nodes, 0);  // whether the node is one of the document's trie, where payloads are slots
        document[0] = 1;
        open_atoms_.assign(atoms, 0);
        std::vector<u32> waiting;
        std::vector<Edge> edges;  // an atom, and another one with a row that has it
        for (u32 node = 0; node < nodes; ++node) {
            for (u32 child = segment.first_child[node]; child < segment.first_child[node + 1]; ++child)
                document[child] = document[node];
            if (document[node]) continue;
            for_rows(segment, node, [&](u32 payload, const u32* literal, const u32* end) {
                for (; literal < end; ++literal) {
                    if ((*literal & LITERAL) < atoms) edges.push_back(Edge{*literal & LITERAL, payload});
                    else if (number_[(*literal & LITERAL) - atoms] == NONE && !open_atoms_[payload])
                        open_atoms_[payload] = 1, waiting.push_back(payload);
                }
            });
        }
        std::sort(edges.begin(), edges.end(), [](Edge a, Edge b) { return a.literal < b.literal; });
        while (!waiting.empty()) {
            const u32 atom = waiting.back();
            waiting.pop_back();
            auto edge = std::lower_bound(edges.begin(), edges.end(), atom,
                                         [](Edge e, u32 a) { return e.literal < a; });
            for (; edge != edges.end() && edge->literal == atom; ++edge)
                if (!open_atoms_[edge->atom]) open_atoms_[edge->atom] = 1, waiting.push_back(edge->atom);
        }
        const u32 single = segment.header->positions, base = segment.header->base;
        for (u32 node = 0; node < nodes; ++node) {
            if (!document[node]) continue;
            for_rows(segment, node, [&](u32 slot, const u32* literal, const u32* end) {
                if (std::none_of(literal, end, [&](u32 l) { return is_open(open_atoms_, number_, l); }))
                    return;
                if (slot < single) return open_positions_.push_back(base + slot);
                const u32* start = segment.slot_start + (slot - single);
                open_positions_.insert(open_positions_.end(), segment.positions + start[0],
                                       segment.positions + start[1]);
            });
        }
    }

    void weaken(const Segment& segment, u32 node) {
        row_start_.push_back(static_cast<u32>(rows_.size()));
        more_start_.push_back(static_cast<u32>(more_ends_.size()));
        const u32 atoms = segment.atoms();
        auto stays = [&](u32 literal) {
            if ((literal & LITERAL) >= atoms) return number_[(literal & LITERAL) - atoms] != NONE;
            return !(literal & NEGATIVE) || !open_atoms_[literal & LITERAL];
        };
        const auto ends = more_ends_.end() - more_ends_.begin();
        for_rows(segment, node, [&](u32 payload, const u32* literal, const u32* end) {
            if (std::none_of(literal, end, stays)) more_ends_.push_back(payload);
        });
        std::sort(more_ends_.begin() + ends, more_ends_.end());
        more_ends_.erase(std::unique(more_ends_.begin() + ends, more_ends_.end()), more_ends_.end());
        u32 flags = 0;
        for_rows(segment, node, [&](u32 payload, const u32* literal, const u32* end) {
            if (std::binary_search(more_ends_.begin() + ends, more_ends_.end(), payload)) return;
            bool pure = true, positive = false, positive_predicate = false;
            rows_.push_back(payload);
            for (; literal < end; ++literal) {
                if (!stays(*literal)) continue;
                const u32 id = *literal & LITERAL, sign = *literal & NEGATIVE;
                positive = positive || !sign;
                if (id >= atoms) {
                    pure = false;
                    positive_predicate = positive_predicate || !sign;
                    flags |= NEEDS_ATTRIBUTES;
                }
                rows_.push_back(sign | (id < atoms ? id : number_[id - atoms]));
            }
            rows_.back() |= LAST;
            flags |= pure ? HAS_PURE : HAS_PREDICATE;
            if (pure && !positive) flags |= ALWAYS_PURE;
            if (!pure && !positive_predicate) flags |= ALWAYS_PREDICATE;
        });
        flags_.push_back(static_cast<u8>(flags));
    }

    template <class Take>
    static void for_rows(const Segment& segment, u32 node, const Take& take) {
        for (u32 at = segment.row_start[node], to = segment.row_start[node + 1]; at < to;) {
            const u32 payload = segment.rows[at++], from = at;
            while (!(segment.rows[at++] & LAST)) {}
            take(payload, segment.rows + from, segment.rows + at);
        }
    }

    Header header_;
    std::vector<Predicate> predicates_;
    std::vector<u32> rows_, row_start_, more_ends_, more_start_, open_positions_;
    std::vector<u8> flags_;
    std::vector<u32> number_;     // by predicate: the literal that stands for it, NONE if it is left out
    std::vector<u8> open_atoms_;  // whether the atom has an open literal
};

}  // namespace twigcast
