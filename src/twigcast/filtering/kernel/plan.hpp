// A plan: how documents of one schema are rewritten, as flat tables, made by `rewriting/planning.py`.
//
//   header | nodes | children | attributes | words | strings
//
// A node is an element type at a place of the source schema, or one that an operator makes; in the image all
// elements of a node have one name.  (node, name of a child) leads to the node of the child.  A list is a
// count and its items in `words`; so are the stages, the operators that need more than one tag at a time
// (rewriter.hpp).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "flat.hpp"

namespace twigcast {

struct PlanHeader {
    char magic[8];
    u32 version, nodes, children, attributes, words, first_stage, stages, root, root_name, root_length,
        strings;
};

enum PlanFlags : u32 {
    PLAN_NAMED = 1,   // its elements have the name of the plan; without it, that of the source
    PLAN_HIDDEN = 2,  // left out with all they contain
    PLAN_OPEN = 4,    // the plan does not have all children, so an unknown one is no stranger
    PLAN_KEPT = 8,  // never skipped: it can be at several places, or what it contains is copied or leaves it
    PLAN_COPIED = 16,  // an operator copies it or an element that contains it
};

struct PlanNode {
    u32 name, length, flags;
    u32 wrap, each,
        elements;       // lists: the path around all content; around the element; the attributes to elements
    u32 parent, makes;  // in the image; the nodes that are made because its elements are there
};

struct PlanChild {
    u32 node, name, length, child;
};

// Of an attribute at a tag of the source; a marked one is for a later stage.  An attribute without an action
// goes if the one that replaces it is there, which got its name.
enum AttributeAction : u32 {
    RENAME_ATTRIBUTE,
    DROP_ATTRIBUTE,
    ATTRIBUTE_TO_ELEMENT,
    MARK_ATTRIBUTE,
    REPLACE_ATTRIBUTE,
    ATTRIBUTE_ACTIONS
};

struct PlanAttribute {
    u32 node, name, length, attribute, action;
};

enum StageKind : u32 {
    INSERT,
    INSERT_EACH,
    INSERT_ALL,
    UPGRADE,
    UPGRADE_ALL,
    DOWNGRADE,
    EXCHANGE,
    TO_ELEMENT,
    HIDE_ELEMENT,
    HIDE_ATTRIBUTE,
    STAGE_KINDS
};

struct PlanStage {
    u32 kind, node, other, path, members;
};

constexpr char PLAN_MAGIC[8] = {'t', 'w', 'i', 'g', 'p', 'l', 'a', 'n'};
constexpr u32 PLAN_VERSION = 1;

// A start tag of the image.  `origin` numbers the source element that it or its attribute comes from, from 1.
struct Tag {
    const char* name = "";
    u32 length = 0, node = NONE, origin = 0;
    bool named = false;           // the name is that of the plan
    bool from_attribute = false;  // it was an attribute of `origin`
    u64 hash = 0;
    const char** attributes = nullptr;
};

inline const char* no_attributes[1] = {nullptr};

// A checked copy of the bytes of a plan; `open` refuses bytes that would not be safe to use.
class Plan {
  public:
    // Returns what is wrong, or null.
    const char* open(const char* data, std::size_t size) {
        if (size < sizeof(PlanHeader)) return "the plan is shorter than its header";
        std::memcpy(&header, data, sizeof(PlanHeader));
        if (std::memcmp(header.magic, PLAN_MAGIC, sizeof PLAN_MAGIC)) return "not a plan";
        if (header.version != PLAN_VERSION) return "a plan of another version";
        const u64 expected = sizeof(PlanHeader) + u64(header.nodes) * sizeof(PlanNode) +
                             u64(header.children) * sizeof(PlanChild) +
                             u64(header.attributes) * sizeof(PlanAttribute) + u64(header.words) * 4 +
                             header.strings;
        if (size != expected) return "the plan has another size than its header says";
        const char* at = data + sizeof(PlanHeader);
        at = take(nodes, header.nodes, at);
        at = take(children, header.children, at);
        at = take(attributes, header.attributes, at);
        at = take(words_, header.words, at);
        strings_.assign(at, header.strings);
        return check();
    }

    Span list(u32 at) const {
        return at == NONE ? Span{nullptr, 0} : Span{words_.data() + at + 1, words_[at]};
    }
    const char* string(u32 at) const { return strings_.data() + at; }
    std::string_view root_name() const { return {string(header.root_name), header.root_length}; }

    PlanStage stage(u32 number) const {
        PlanStage stage;
        std::memcpy(&stage, &words_[header.first_stage + 5 * number], sizeof stage);
        return stage;
    }

    std::size_t bytes() const {
        return bytes_of(nodes) + bytes_of(children) + bytes_of(words_) + strings_.size();
    }

    PlanHeader header{};
    std::vector<PlanNode> nodes;
    std::vector<PlanChild> children;
    std::vector<PlanAttribute> attributes;
    u32 made = 0;         // nodes that operators make
    bool copies = false;  // some operator copies elements

  private:
    static constexpr u32 MOST_NODES = 1 << 20, MOST_STAGES = 1 << 10;

    template <class T>
    const char* take(std::vector<T>& items, u32 count, const char* from) {
        items.resize(count);
        if (count) std::memcpy(items.data(), from, count * sizeof(T));
        return from + count * sizeof(T);
    }

    const char* check() {
        if (header.nodes > MOST_NODES || header.stages > MOST_STAGES) return "the plan is too large";
        if (header.root >= header.nodes) return "the plan has no root";
        if (!is_name(header.root_name, header.root_length)) return "a name of the plan is damaged";
        std::vector<bool> from_source(header.nodes, false), made_before(header.nodes, false);
        from_source[header.root] = true;
        for (const PlanChild& child : children) {
            if (child.node >= header.nodes || child.child >= header.nodes)
                return "a child of the plan is damaged";
            if (!is_name(child.name, child.length)) return "a name of the plan is damaged";
            from_source[child.child] = true;
        }
        for (const PlanNode& node : nodes) {
            if (!is_name(node.name, node.length)) return "a name of the plan is damaged";
            if (!is_list(node.wrap) || !is_list(node.each) || !is_list(node.elements) || !is_list(node.makes))
                return "a list of the plan is damaged";
            if (node.parent != NONE && node.parent >= header.nodes) return "a node of the plan is damaged";
            if (!makes(node.wrap, from_source, made_before)) return "a made element of the plan is damaged";
        }
        std::vector<bool> around(words_.size(), false);
        for (const PlanNode& node : nodes) {  // members of one InsertEach share a path
            if (node.each == NONE || around[node.each]) continue;
            around[node.each] = true;
            if (!makes(node.each, from_source, made_before)) return "a made element of the plan is damaged";
        }
        for (const PlanAttribute& each : attributes) {
            if (each.node >= header.nodes || each.attribute >= header.nodes ||
                each.action >= ATTRIBUTE_ACTIONS || from_source[each.attribute])
                return "an attribute of the plan is damaged";
            if (!is_name(each.name, each.length)) return "a name of the plan is damaged";
        }
        if (header.first_stage > header.words || u64(header.stages) * 5 > header.words - header.first_stage)
            return "the stages of the plan are damaged";
        for (u32 s = 0; s < header.stages; ++s) {
            const PlanStage each = stage(s);
            const bool needs_other = each.kind >= DOWNGRADE && each.kind <= TO_ELEMENT;
            if (each.kind >= STAGE_KINDS || each.node >= header.nodes)
                return "a stage of the plan is damaged";
            if ((needs_other || each.kind == HIDE_ATTRIBUTE) && each.other >= header.nodes)
                return "a stage of the plan is damaged";
            if (!is_list(each.path) || !is_list(each.members)) return "a list of the plan is damaged";
            if (!makes(each.path, from_source, made_before)) return "a made element of the plan is damaged";
            copies = copies || each.kind == DOWNGRADE || each.kind == EXCHANGE;
        }
        return nullptr;
    }

    // The items of a list are nodes.
    bool is_list(u32 at) const {
        if (at == NONE) return true;
        if (at >= words_.size() || words_[at] > words_.size() - at - 1) return false;
        for (u32 item : list(at))
            if (item >= header.nodes) return false;
        return true;
    }

    // A node is made by one operator at most, and is none of the source: so what operators make is bounded.
    bool makes(u32 path, const std::vector<bool>& from_source, std::vector<bool>& made_before) {
        for (u32 node : list(path)) {
            if (from_source[node] || made_before[node]) return false;
            made_before[node] = true;
            ++made;
        }
        return true;
    }

    // UTF-8 without control characters but the separator of namespaces, with a zero behind it.
    bool is_name(u32 at, u32 length) const {
        if (u64(at) + length >= strings_.size() || strings_[at + length] != 0) return false;
        for (u32 i = at, end = at + length; i < end;) {
            const u8 byte = static_cast<u8>(strings_[i++]);
            if (byte < 0x20 && byte != '\f') return false;
            u32 more = byte < 0x80   ? 0
                       : byte < 0xC2 ? 4
                       : byte < 0xE0 ? 1
                       : byte < 0xF0 ? 2
                       : byte < 0xF5 ? 3
                                     : 4;
            if (more == 4 || more > end - i) return false;
            for (; more; --more)
                if ((static_cast<u8>(strings_[i++]) & 0xC0) != 0x80) return false;
        }
        return true;
    }

    std::vector<u32> words_;
    std::string strings_;
};

// The tags of all nodes, with the names of the image.
inline std::vector<Tag> tags_of(const Plan& plan) {
    std::vector<Tag> tags(plan.nodes.size());
    for (u32 i = 0; i < tags.size(); ++i) {
        tags[i].name = plan.string(plan.nodes[i].name);
        tags[i].length = plan.nodes[i].length;
        tags[i].hash = hash_bytes(tags[i].name, tags[i].length);
        tags[i].node = i;
        tags[i].named = true;
        tags[i].attributes = no_attributes;
    }
    return tags;
}

}  // namespace twigcast
