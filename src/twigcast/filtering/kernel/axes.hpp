// Walks the axes of a document tree.
#pragma once

#include "document_tree.hpp"
#include "expressions.hpp"

namespace twigcast {

struct WorkLimitExceeded {};

// A budget of steps; a step is a visit to a node, or to 16 bytes of a string.
class Work {
  public:
    void begin(u64 limit) { left_ = limit; }
    void spend(u64 steps) {
        if (steps > left_) throw WorkLimitExceeded();
        left_ -= steps;
    }
    void read(std::size_t bytes) { spend(1 + bytes / 16); }

  private:
    u64 left_ = 0;
};

inline bool is_reverse(u32 axis) {
    return axis == AXIS_PARENT || axis == AXIS_ANCESTOR || axis == AXIS_ANCESTOR_OR_SELF ||
           axis == AXIS_PRECEDING_SIBLING || axis == AXIS_PRECEDING;
}

// A node test, with what it says of each name of the tree.
class NodeTests {
  public:
    NodeTests(const Expressions& expressions, const DocumentTree& tree)
        : expressions_(expressions), tree_(tree) {}

    void begin() {
        if (generation_ == tree_.generation) return;
        generation_ = tree_.generation;
        verdicts_.clear();
    }

    // Tests have other numbers from now on.
    void forget() { verdicts_.clear(); }

    bool admits_name(u32 test, u32 name) {
        if (test >= verdicts_.size()) verdicts_.resize(expressions_.tests());
        std::vector<u8>& verdicts = verdicts_[test];
        if (name >= verdicts.size()) verdicts.resize(tree_.names() + 16, 0);
        if (!verdicts[name]) verdicts[name] = decide(expressions_.test(test), tree_.spelling(name)) ? 1 : 2;
        return verdicts[name] == 1;
    }

    // The number of the name that an exact test admits; NONE if it admits several, or one that the tree does
    // not know.
    u32 single_name(u32 test) const {
        const Expressions::Test& it = expressions_.test(test);
        if (it.any_space || it.any_local || tree_.with_prefixes) return NONE;
        return tree_.find_name(it.space.empty() ? it.local : it.space + '\f' + it.local);
    }

    // Whether a node passes the test on this axis, whose principal kind of node is attributes or elements.
    bool admits(u32 axis, u32 kind, u32 which, const TreeNode& node) {
        switch (kind) {
            case TEST_NODE: return true;
            case TEST_TEXT: return node.kind() == TEXT_NODE;
            case TEST_COMMENT: return node.kind() == COMMENT_NODE;
            case TEST_INSTRUCTION:
                return node.kind() == INSTRUCTION_NODE &&
                       (which == NONE || expressions_.string(which) == tree_.spelling(node.name()));
            default:
                return node.kind() == (axis == AXIS_ATTRIBUTE ? ATTRIBUTE_NODE : ELEMENT_NODE) &&
                       admits_name(which, node.name());
        }
    }

  private:
    static bool decide(const Expressions::Test& test, std::string_view spelling) {
        const Name name = split_name(spelling);
        return (test.any_space || name.space == test.space) && (test.any_local || name.local == test.local);
    }

    const Expressions& expressions_;
    const DocumentTree& tree_;
    std::vector<std::vector<u8>> verdicts_;  // by test and name: 0 not known yet, 1 yes, 2 no
    u32 generation_ = 0;
};

class Axes {
  public:
    Axes(DocumentTree& tree, NodeTests& tests, Work& work) : tree_(tree), tests_(tests), work_(work) {}

    // Calls `visit(node)` for the nodes that a step reaches from one node, in the order of the axis, until it
    // returns false; returns false then, too.
    template <class Visit>
    bool walk(u32 from, u32 axis, u32 kind, u32 which, Visit visit) {
        const std::vector<TreeNode>& nodes = tree_.nodes;
        auto offer = [&](u32 node) {
            work_.spend(1);
            return !tests_.admits(axis, kind, which, nodes[node]) || visit(node);
        };
        const TreeNode& origin = nodes[from];
        const bool leaf = origin.kind() > ELEMENT_NODE;
        switch (axis) {
            case AXIS_CHILD:
                if (leaf) return true;
                for (u32 at = tree_.first_child(from); at < origin.end; at = nodes[at].end)
                    if (!offer(at)) return false;
                return true;
            case AXIS_DESCENDANT_OR_SELF:
                if (!offer(from)) return false;
                [[fallthrough]];
            case AXIS_DESCENDANT:
                if (leaf) return true;
                for (u32 at = from + 1; at < origin.end; ++at)
                    if (nodes[at].kind() != ATTRIBUTE_NODE && !offer(at)) return false;
                return true;
            case AXIS_SELF: return offer(from);
            case AXIS_ATTRIBUTE:
                if (origin.kind() != ELEMENT_NODE) return true;
                for (u32 at = from + 1; at < origin.end && nodes[at].kind() == ATTRIBUTE_NODE; ++at)
                    if (!offer(at)) return false;
                return true;
            case AXIS_PARENT: return origin.parent == NONE || offer(origin.parent);
            case AXIS_ANCESTOR_OR_SELF:
                if (!offer(from)) return false;
                [[fallthrough]];
            case AXIS_ANCESTOR:
                for (u32 at = origin.parent; at != NONE; at = nodes[at].parent)
                    if (!offer(at)) return false;
                return true;
            case AXIS_FOLLOWING_SIBLING:
                if (origin.kind() == ATTRIBUTE_NODE || origin.parent == NONE) return true;
                for (u32 at = origin.end; at < nodes[origin.parent].end; at = nodes[at].end)
                    if (!offer(at)) return false;
                return true;
            case AXIS_PRECEDING_SIBLING: {
                if (origin.kind() == ATTRIBUTE_NODE || origin.parent == NONE) return true;
                std::vector<u32> before;
                for (u32 at = tree_.first_child(origin.parent); at < from; at = nodes[at].end)
                    before.push_back(at);
                work_.spend(before.size());
                for (std::size_t i = before.size(); i-- > 0;)
                    if (!offer(before[i])) return false;
                return true;
            }
            case AXIS_FOLLOWING:
                for (u32 at = origin.end; at < nodes.size(); ++at)
                    if (nodes[at].kind() != ATTRIBUTE_NODE && !offer(at)) return false;
                return true;
            default: {  // AXIS_PRECEDING
                for (u32 at = from; at-- > 1;) {
                    work_.spend(1);
                    if (nodes[at].kind() == ATTRIBUTE_NODE || nodes[at].end > from) continue;
                    if (!offer(at)) return false;
                }
                return true;
            }
        }
    }

    // The same for a step from one node, in document order if the axis is not reverse.
    template <class Visit>
    bool walk_one(u32 from, u32 axis, u32 kind, u32 which, Visit visit) {
        return axis == AXIS_DESCENDANT ? walk_down(from, axis, kind, which, visit)
                                       : walk(from, axis, kind, which, visit);
    }

    // Calls `visit(node)` at least once for each node that a step reaches from some node of a sorted set, in
    // any order, until it returns false.  Nodes that several origins reach are visited few times, not once
    // for each origin.
    template <class Visit>
    bool walk_set(const std::vector<u32>& from, u32 axis, u32 kind, u32 which, Visit visit) {
        const std::vector<TreeNode>& nodes = tree_.nodes;
        // `visit` may begin other walks, which overwrite marks of this one: then some nodes are visited
        // again.
        const bool marks = axis >= AXIS_PARENT && axis <= AXIS_PRECEDING_SIBLING;
        const u32 round = marks ? fresh() : 0;
        switch (axis) {
            case AXIS_DESCENDANT:
            case AXIS_DESCENDANT_OR_SELF: {
                u32 done = 0;  // the subtrees before this node were visited
                for (u32 origin : from) {
                    if (nodes[origin].kind() == ATTRIBUTE_NODE || origin >= done) {
                        if (!walk_down(origin, axis, kind, which, visit)) return false;
                        done = std::max(done, nodes[origin].end);
                    }
                }
                return true;
            }
            case AXIS_ANCESTOR:
            case AXIS_ANCESTOR_OR_SELF:
                for (u32 origin : from) {
                    if (axis == AXIS_ANCESTOR_OR_SELF && !walk(origin, AXIS_SELF, kind, which, visit))
                        return false;
                    for (u32 at = nodes[origin].parent; at != NONE && mark(at, round); at = nodes[at].parent)
                        if (!walk(at, AXIS_SELF, kind, which, visit)) return false;
                }
                return true;
            case AXIS_PARENT:
                for (u32 origin : from) {
                    u32 parent = nodes[origin].parent;
                    if (parent != NONE && mark(parent, round) && !walk(parent, AXIS_SELF, kind, which, visit))
                        return false;
                }
                return true;
            case AXIS_FOLLOWING_SIBLING:  // the first of several siblings reaches what the others do
                for (u32 origin : from) {
                    u32 parent = nodes[origin].parent;
                    if (parent == NONE || nodes[origin].kind() == ATTRIBUTE_NODE || !mark(parent, round))
                        continue;
                    if (!walk(origin, axis, kind, which, visit)) return false;
                }
                return true;
            case AXIS_PRECEDING_SIBLING:  // and here the last
                for (std::size_t i = from.size(); i-- > 0;) {
                    u32 parent = nodes[from[i]].parent;
                    if (parent == NONE || nodes[from[i]].kind() == ATTRIBUTE_NODE || !mark(parent, round))
                        continue;
                    if (!walk(from[i], axis, kind, which, visit)) return false;
                }
                return true;
            case AXIS_FOLLOWING: {
                if (from.empty()) return true;
                u32 first = from[0];  // the one that ends first
                for (u32 origin : from)
                    if (nodes[origin].end < nodes[first].end) first = origin;
                return walk(first, axis, kind, which, visit);
            }
            case AXIS_PRECEDING: return from.empty() || walk(from.back(), axis, kind, which, visit);
            default:
                for (u32 origin : from)
                    if (!walk(origin, axis, kind, which, visit)) return false;
                return true;
        }
    }

    // The number of nodes on the descendant axis with a name, without visiting them.
    u32 count_named_below(u32 from, u32 which) {
        const TreeNode& origin = tree_.nodes[from];
        if (origin.kind() > ELEMENT_NODE) return 0;
        u32 name = tests_.single_name(which);
        if (name == NONE) return NONE;
        Span all = tree_.elements_named(name);
        work_.spend(1);
        return static_cast<u32>(std::lower_bound(all.begin(), all.end(), origin.end) -
                                std::upper_bound(all.begin(), all.end(), from));
    }

    std::size_t bytes() const { return marks_.capacity() * sizeof(u32); }

    void release() { twigcast::release(marks_); }

  private:
    // The descendants of one node; those of a name are found in the list of that name.
    template <class Visit>
    bool walk_down(u32 from, u32 axis, u32 kind, u32 which, Visit visit) {
        u32 name = kind == TEST_NAME && axis == AXIS_DESCENDANT ? tests_.single_name(which) : NONE;
        const TreeNode& origin = tree_.nodes[from];
        if (name == NONE || origin.kind() > ELEMENT_NODE) return walk(from, axis, kind, which, visit);
        Span all = tree_.elements_named(name);
        const u32* at = std::upper_bound(all.begin(), all.end(), from);
        for (; at < all.end() && *at < origin.end; ++at) {
            work_.spend(1);
            if (!visit(*at)) return false;
        }
        return true;
    }

    u32 fresh() {
        if (marks_.size() < tree_.nodes.size()) marks_.resize(tree_.nodes.size(), 0);
        if (++round_ == 0) std::fill(marks_.begin(), marks_.end(), 0), round_ = 1;
        return round_;
    }
    bool mark(u32 node, u32 round) {
        if (marks_[node] == round) return false;
        marks_[node] = round;
        return true;
    }

    DocumentTree& tree_;
    NodeTests& tests_;
    Work& work_;
    std::vector<u32> marks_;
    u32 round_ = 0;
};

}  // namespace twigcast
