// Turns the events of a source document into those of its image, while it is parsed.
//
//   expat ─► source tags ─► stages ─► sinks
//            names, hidden elements and attributes, attributes to elements, paths around elements or their
//            content
//
// Here is what can be done at a tag of the source by itself; what must wait for other tags is in stages.hpp.
// An element has the node of the plan that its name leads to from the node of its parent; one without a node
// is a stranger, which keeps its name and place.
//
// Places that no pattern can see are skipped, with all that they contain; what an operator makes because of
// them, or copies, or moves elsewhere must not be seen either.
//
// Cost: one look-up per start tag; elements in skipped places cost only the parser.
#pragma once

#include <deque>

#include "stages.hpp"

namespace twigcast {

class Rewriter {
  public:
    Rewriter(const Plan& plan, Sinks& sinks, const Tuning& tuning)
        : plan_(plan), sinks_(sinks), stages_(plan, sinks), skips_(tuning.dead_places) {
        stages_.shares_copies = tuning.shared_copies;
        stages_.skips = tuning.dead_places;
        for (u32 i = 0; i < plan.children.size(); ++i) {
            const PlanChild& child = plan.children[i];
            children_.insert(child_key(child.node, hash_bytes(plan.string(child.name), child.length)), i);
        }
        std::vector<u32> filled = by_node(plan.children, first_child_);
        child_nodes_.resize(plan.children.size());
        for (const PlanChild& child : plan.children) child_nodes_[filled[child.node]++] = child.child;
        filled = by_node(plan.attributes, first_attribute_);
        attributes_.resize(plan.attributes.size());
        for (const PlanAttribute& each : plan.attributes) {
            Attribute& to = attributes_[filled[each.node]++];
            to.source = std::string(plan.string(each.name), each.length);
            to.number = each.attribute;
            to.action = each.action;
            if (each.action == MARK_ATTRIBUTE) to.mark = mark_of(each.attribute);
        }
        needs_content_ = stages_.needs_content();
        for (const PlanNode& node : plan.nodes) needs_content_ = needs_content_ || node.wrap != NONE;
    }
    Rewriter(const Rewriter&) = delete;

    std::string_view root_name() const { return plan_.root_name(); }

    // Whether text is needed even if no matcher asks for it: for operators on all content, or to count
    // copies.
    bool needs_content() const { return needs_content_ || (counts_text_ && plan_.copies); }

    // Counts the text of copies from the next document on.  Until then, more than it can be is assumed: that
    // is enough for most documents, and the parser need not report their text.
    void count_text() { counts_text_ = true; }
    bool counts_text() const { return counts_text_; }

    // Of the document that was read last: the topmost elements that its schema does not know, in the places
    // that were looked at, and the bytes kept.
    u64 strangers = 0;
    u64 cached() const { return stages_.cached; }

    // Begins a document; `most_bytes` bounds its size after copying.  `before` is the size of what stands
    // before its root. `text` is 0, or more than its text can have if that is not reported.
    void begin(u64 most_bytes, bool with_prefixes, u64 before, u64 text) {
        stages_.begin(most_bytes, before, plan_.copies ? text : 0);
        needs_text_ = sinks_.needs_text();
        open_.clear();
        skipped_ = 0;
        looks_ = !skips_ || sinks_.sees_all();
        if (generation_ != sinks_.generation || interest_.empty()) {
            generation_ = sinks_.generation;
            interest_.assign(plan_.nodes.size(), UNKNOWN);
        }
        with_prefixes_ = with_prefixes;
        strangers = 0;
        origins_ = 0;
    }

    // A comment or instruction beside the root, which no operator has a part in.
    void beside(u64 bytes) { stages_.count(NODE_COST + bytes); }

    // Whether copies make the image too large; its events have stopped then.
    bool expanded() const { return stages_.expanded(); }

    void start(const char* name, std::size_t length, const char** attributes) {
        ++origins_;
        stages_.count_element(plan_.copies ? cost_of(attributes) : NODE_COST);
        if (skipped_ || (!open_.empty() && open_.back().is_closed)) return void(++skipped_);
        std::string_view plain(name, length);
        if (with_prefixes_) plain = without_prefix(plain);
        const u64 hash = hash_bytes(plain.data(), plain.size());
        Open open;
        open.node = open_.empty() ? plan_.header.root : child(open_.back(), plain, hash);
        open.hidden = !open_.empty() && open_.back().hidden;
        if (open.node != NONE && (plan_.nodes[open.node].flags & PLAN_HIDDEN)) open.hidden = true;
        if (open.hidden || stages_.has_stopped()) {
            open_.push_back(open);
            return;
        }
        if (!looks_ && open.node != NONE) {
            const Interest interest = interest_in(open.node);
            if (interest == IN_NOTHING) return void(++skipped_);
            open.is_closed = interest == IN_TAGS;
        }
        content();
        open.is_copied =
            open.node == NONE ? open_.back().is_copied : (plan_.nodes[open.node].flags & PLAN_COPIED) != 0;
        open_.push_back(open);
        Tag tag;
        if (open.node != NONE) {
            stages_.start_path(plan_.list(plan_.nodes[open.node].each));
            if (plan_.nodes[open.node].flags & PLAN_NAMED) tag = stages_.tags[open.node];
        }
        if (!tag.named) {
            tag.name = name;
            tag.length = static_cast<u32>(length);
            tag.hash = hash;
            tag.node = open.node;
        }
        if (with_prefixes_) use_prefix(tag, name, length);
        tag.attributes = attributes;
        tag.origin = origins_;
        if (open.node == NONE) return stages_.start(tag);
        values_.clear();
        if (*attributes && first_attribute_[open.node] < first_attribute_[open.node + 1])
            tag.attributes = rewrite_attributes(open.node, attributes);
        stages_.start(tag);
        for (u32 attribute : plan_.list(plan_.nodes[open.node].elements))
            for (const Value& value : values_)
                if (value.attribute == attribute) {
                    content();
                    stages_.element(attribute, tag.origin, value.value);
                }
    }

    void end() {
        if (skipped_) return void(--skipped_);
        const Open open = open_.back();
        open_.pop_back();
        if (open.hidden || stages_.has_stopped()) return;
        if (open.wrapped) stages_.end_path(plan_.list(plan_.nodes[open.node].wrap));
        stages_.end();
        if (open.node != NONE) stages_.end_path(plan_.list(plan_.nodes[open.node].each));
    }

    void text(const char* bytes, std::size_t length) {
        if (!length) return;
        stages_.count(length);
        if (is_silent()) return;
        content();
        if (needs_text_) stages_.text(bytes, length);
        else if (open_.back().is_copied || stages_.needs_content()) stages_.text(nullptr, length);
    }

    void comment(const char* data) {
        stages_.count(NODE_COST + std::strlen(data));
        if (is_silent()) return;
        content();
        stages_.comment(data);
    }

    void instruction(const char* target, const char* data) {
        stages_.count(NODE_COST + std::strlen(data) + std::strlen(target));
        if (is_silent()) return;
        content();
        stages_.instruction(target, data);
    }

    // The name of a tag without its prefix, which stands behind the last separator if there are two.
    static std::string_view without_prefix(std::string_view spelling) {
        const std::size_t prefix = split_name(spelling).prefix.size();
        return prefix ? spelling.substr(0, spelling.size() - prefix - 1) : spelling;
    }

  private:
    // An open element of the source.
    struct Open {
        u32 node = NONE;
        bool hidden = false, wrapped = false;  // wrapped: the path around its content is open
        bool is_closed = false;                // what it contains is skipped
        bool is_copied = false;                // the length of its text counts
    };
    struct Attribute {
        std::string source, mark;
        u32 number = NONE, action = 0;
    };
    struct Value {
        u32 attribute;
        const char* value;
    };

    // Where the items of each node begin if they are ordered by node; returns a copy of this.
    template <class T>
    std::vector<u32> by_node(const std::vector<T>& items, std::vector<u32>& first) const {
        first.assign(plan_.nodes.size() + 1, 0);
        for (const T& each : items) ++first[each.node + 1];
        for (std::size_t i = 1; i < first.size(); ++i) first[i] += first[i - 1];
        return first;
    }

    static u64 child_key(u32 node, u64 hash) {
        return fold(hash ^ node, secret[1]) >> 1;
    }  // not the reserved key

    bool is_silent() const {
        return skipped_ || stages_.has_stopped() || open_.empty() || open_.back().hidden ||
               open_.back().is_closed;
    }

    u32 child(const Open& above, std::string_view name, u64 hash) {
        if (above.node == NONE) return NONE;
        const u32 found = children_.find(child_key(above.node, hash));
        if (found != NONE) {
            const PlanChild& child = plan_.children[found];
            if (child.node == above.node && name == std::string_view(plan_.string(child.name), child.length))
                return child.child;
            for (const PlanChild& each : plan_.children)  // two names of one hash
                if (each.node == above.node && name == std::string_view(plan_.string(each.name), each.length))
                    return each.child;
        }
        if (!(plan_.nodes[above.node].flags & PLAN_OPEN)) ++strangers;
        return NONE;
    }

    // What must be sent of elements of a node: all, the tags because something is made of them, or nothing.
    enum Interest : u8 { UNKNOWN, IN_ALL, IN_TAGS, IN_NOTHING };

    Interest interest_in(u32 node, u32 depth = 0) {
        if (interest_[node] != UNKNOWN) return interest_[node];
        interest_[node] = IN_ALL;  // while it is computed, for a plan with a circle
        if (depth > DEEPEST || (plan_.nodes[node].flags & PLAN_KEPT) || is_seen(node)) return IN_ALL;
        for (u32 i = first_child_[node]; i < first_child_[node + 1]; ++i)
            if (interest_in(child_nodes_[i], depth + 1) != IN_NOTHING) return IN_ALL;
        for (u32 path : plan_.list(plan_.nodes[node].wrap))
            if (interest_in(path, depth + 1) != IN_NOTHING) return IN_ALL;
        interest_[node] = IN_NOTHING;
        for (u32 made : plan_.list(plan_.nodes[node].makes))
            if (interest_in(made, depth + 1) != IN_NOTHING) interest_[node] = IN_TAGS;
        return interest_[node];
    }

    // Whether a pattern can see elements of a node, or an element above them needs their text.
    bool is_seen(u32 node) {
        const std::vector<Label>& path = stages_.image_path(node);
        return path.empty() || sinks_.sees(path);
    }

    // To be called before anything in the open element of the source: opens the path around its content.
    void content() {
        if (open_.empty()) return;
        Open& open = open_.back();
        if (open.node == NONE || open.wrapped || plan_.nodes[open.node].wrap == NONE) return;
        open.wrapped = true;
        stages_.start_path(plan_.list(plan_.nodes[open.node].wrap));
    }

    // The image's name has the prefix of the source if both are in one namespace.
    void use_prefix(Tag& tag, const char* name, std::size_t length) {
        const Name source = split_name(std::string_view(name, length));
        const Name image = split_name(std::string_view(tag.name, tag.length));
        if (!tag.named || source.prefix.empty() || source.space != image.space) {
            tag.hash = hash_bytes(tag.name, tag.length);
            return;
        }
        prefixed_.assign(tag.name, tag.length).append(1, '\f').append(source.prefix);
        tag.name = prefixed_.c_str();
        tag.length = static_cast<u32>(prefixed_.size());
        tag.hash = hash_bytes(tag.name, tag.length);
        tag.named = false;
    }

    const char** rewrite_attributes(u32 node, const char** attributes) {
        rewritten_.clear();
        spelled_.clear();
        for (const char** at = attributes; *at; at += 2) {
            std::string_view plain(at[0]);
            if (with_prefixes_) plain = without_prefix(plain);
            const Attribute* known = find_attribute(node, plain);
            if (!known && is_replaced(node, plain, attributes)) continue;
            if (known && known->action == DROP_ATTRIBUTE) continue;
            if (known && known->action == ATTRIBUTE_TO_ELEMENT) {
                values_.push_back(Value{known->number, at[1]});
                continue;
            }
            rewritten_.push_back(known ? spelling(*known, at[0]) : at[0]);
            rewritten_.push_back(at[1]);
        }
        rewritten_.push_back(nullptr);
        return rewritten_.data();
    }

    const Attribute* find_attribute(u32 node, std::string_view name) const {
        for (u32 i = first_attribute_[node]; i < first_attribute_[node + 1]; ++i)
            if (attributes_[i].action != REPLACE_ATTRIBUTE && attributes_[i].source == name)
                return &attributes_[i];
        return nullptr;
    }

    // Whether an attribute that the plan does not know goes because another one, which is there, got its
    // name.
    bool is_replaced(u32 node, std::string_view name, const char** attributes) const {
        for (u32 i = first_attribute_[node]; i < first_attribute_[node + 1]; ++i) {
            if (attributes_[i].action != REPLACE_ATTRIBUTE || attributes_[i].source != name) continue;
            for (const char** at = attributes; *at; at += 2) {
                std::string_view plain(at[0]);
                const Attribute* other = find_attribute(node, with_prefixes_ ? without_prefix(plain) : plain);
                if (other && other->number == attributes_[i].number) return true;
            }
        }
        return false;
    }

    // The name of an attribute that stays one, with the prefix of the source if both are in one namespace.
    const char* spelling(const Attribute& known, const char* written) {
        if (known.action == MARK_ATTRIBUTE) return known.mark.c_str();
        const char* name = stages_.tags[known.number].name;
        const Name source = split_name(written);
        if (source.prefix.empty() || source.space != split_name(name).space) return name;
        spelled_.push_back(std::string(name) + '\f' + std::string(source.prefix));
        return spelled_.back().c_str();
    }

    static constexpr u32 DEEPEST = 500;

    const Plan& plan_;
    Sinks& sinks_;
    Stages stages_;
    FlatMap children_;
    std::vector<u32> first_child_, child_nodes_, first_attribute_;
    std::vector<Attribute> attributes_;  // by node
    bool needs_content_ = false, counts_text_ = false, needs_text_ = true, with_prefixes_ = false;

    std::vector<Interest> interest_;  // by node, for the matchers of a generation
    u64 generation_ = 0;
    bool skips_ = true, looks_ = true;  // looks_: at all elements of this document

    std::vector<Open> open_;
    u32 origins_ = 0, skipped_ = 0;  // skipped_: open elements that are not looked at
    std::vector<Value> values_;
    std::vector<const char*> rewritten_;
    std::deque<std::string> spelled_;
    std::string prefixed_;
};

}  // namespace twigcast
