// The nodes of one document in document order, recorded while it is parsed.
//
//     <r x="1">a<b/>c</r>      0 document  1 r  2 @x  3 "a"  4 b  5 "c"        text: a c     values: 1
//
// The subtree of a node is the range from the node to its `end`; its attributes come right behind it.  So the
// children of r are  first = behind its attributes, next = nodes[child].end;  the string-value of an element
// is a range of `text`. Cost: 20 bytes for each node, and the text once.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "predicates.hpp"

namespace twigcast {

enum NodeKind : u32 {
    DOCUMENT_NODE,
    ELEMENT_NODE,
    ATTRIBUTE_NODE,
    TEXT_NODE,
    COMMENT_NODE,
    INSTRUCTION_NODE
};

struct TreeNode {
    u32 name_and_kind, parent, end;  // end: one more than the last node of the subtree
    u32 from, to;                    // of the string-value: in the text, or in the values if `in_values()`

    NodeKind kind() const { return static_cast<NodeKind>(name_and_kind & 7); }
    u32 name() const { return name_and_kind >> 3; }
    bool in_values() const { return kind() == ATTRIBUTE_NODE || kind() >= COMMENT_NODE; }
};

// The parts of a name as expat gives it: `local`, `uri \f local` or `uri \f local \f prefix`.
struct Name {
    std::string_view space, local, prefix;
};

inline Name split_name(std::string_view spelling) {
    std::size_t cut = spelling.find('\f');
    if (cut == std::string_view::npos) return Name{{}, spelling, {}};
    Name name{spelling.substr(0, cut), spelling.substr(cut + 1), {}};
    if ((cut = name.local.find('\f')) != std::string_view::npos) {
        name.prefix = name.local.substr(cut + 1);
        name.local = name.local.substr(0, cut);
    }
    return name;
}

class DocumentTree {
  public:
    // Begins a document of this many bytes.  Memory is kept from document to document, unless this one needs
    // far less.
    void begin(std::size_t length) {
        if (bytes_of(nodes) > KEPT + 32 * length) twigcast::release(nodes), twigcast::release(by_name_);
        nodes.clear();
        nodes.reserve(length / 8);  // growing costs a copy of all nodes; pages that are not used cost nothing
        release(text_, length), release(values_, length);
        if (names_.size() > MOST_NAMES) forget_names();
        nodes.push_back(TreeNode{DOCUMENT_NODE, NONE, 0, 0, 0});
        open_.assign(1, 0);
        in_text_ = false;
        by_name_stale_ = true;
        overflow = false;
    }

    // Records names with their prefixes from the next document on, for the function name().
    void keep_prefixes() {
        if (with_prefixes) return;
        with_prefixes = true;
        forget_names();
    }

    void start(const char* name, std::size_t length, u64 hash, const char** attributes) {
        in_text_ = false;
        u32 element = add(ELEMENT_NODE, number(name, length, hash));
        nodes[element].from = static_cast<u32>(text_.size());
        for (; *attributes; attributes += 2) {
            std::size_t size = std::strlen(attributes[0]);
            u32 number_of_name = number(attributes[0], size, hash_bytes(attributes[0], size));
            u32 attribute =
                add_value(ATTRIBUTE_NODE, number_of_name, attributes[1], std::strlen(attributes[1]));
            nodes[attribute].parent = element;
        }
        open_.push_back(element);
    }

    void end() {
        in_text_ = false;
        close(open_.back());
        open_.pop_back();
    }

    void text(const char* bytes, std::size_t length) {
        if (!length) return;
        if (!in_text_) {
            u32 node = add(TEXT_NODE, 0);
            nodes[node].from = static_cast<u32>(text_.size());
            nodes[node].end = node + 1;
            in_text_ = true;
        }
        text_.append(bytes, length);
        overflow = overflow || text_.size() > NONE;
        nodes.back().to = static_cast<u32>(text_.size());
    }

    void comment(const char* data) {
        in_text_ = false;
        add_value(COMMENT_NODE, 0, data, std::strlen(data));
    }

    void instruction(const char* target, const char* data) {
        in_text_ = false;
        std::size_t size = std::strlen(target);
        add_value(INSTRUCTION_NODE, number(target, size, hash_bytes(target, size)), data, std::strlen(data));
    }

    void finish() { close(0); }

    std::string_view string_value(u32 node) const {
        const TreeNode& it = nodes[node];
        const std::string& source = it.in_values() ? values_ : text_;
        return std::string_view(source).substr(it.from, it.to - it.from);
    }

    std::string_view spelling(u32 name) const { return std::string_view(spellings_[name]); }
    u32 find_name(const std::string& spelling) const { return names_.find(spelling); }
    std::size_t names() const { return spellings_.size(); }

    u32 first_child(u32 node) const {
        u32 at = node + 1, end = nodes[node].end;
        while (at < end && nodes[at].kind() == ATTRIBUTE_NODE) ++at;
        return at;
    }

    // The elements of a name, in document order.
    Span elements_named(u32 name) {
        if (by_name_stale_) sort_by_name();
        return Span{by_name_.data() + name_start_[name], name_start_[name + 1] - name_start_[name]};
    }

    std::size_t bytes() const {
        return nodes.capacity() * sizeof(TreeNode) + text_.capacity() + values_.capacity() + names_.bytes() +
               (by_name_.capacity() + name_start_.capacity()) * sizeof(u32);
    }

    std::vector<TreeNode> nodes;
    u32 generation = 0;          // names have other numbers when it changes
    bool with_prefixes = false;  // names have prefixes, so that elements of one name may have several numbers
    bool overflow = false;       // the text or the values are too long for 32 bits

  private:
    static constexpr std::size_t MOST_NAMES = 1 << 16, KEPT = 1 << 20;

    static void release(std::string& buffer, std::size_t length) {
        buffer.clear();
        if (buffer.capacity() > KEPT + 8 * length) std::string().swap(buffer);
    }

    void forget_names() {
        names_.clear();
        spellings_.clear();
        ++generation;
    }

    u32 add(NodeKind kind, u32 name) {
        u32 node = static_cast<u32>(nodes.size());
        nodes.push_back(TreeNode{name << 3 | kind, open_.back(), 0, 0, 0});
        return node;
    }

    u32 add_value(NodeKind kind, u32 name, const char* data, std::size_t length) {
        u32 node = add(kind, name);
        nodes[node].from = static_cast<u32>(values_.size());
        values_.append(data, length);
        overflow = overflow || values_.size() > NONE;
        nodes[node].to = static_cast<u32>(values_.size());
        nodes[node].end = node + 1;
        return node;
    }

    void close(u32 node) {
        nodes[node].end = static_cast<u32>(nodes.size());
        nodes[node].to = static_cast<u32>(text_.size());
    }

    u32 number(const char* name, std::size_t length, u64 hash) {
        u32 found = names_.find(name, length, hash);
        if (found == NONE) {
            found = static_cast<u32>(spellings_.size());
            names_.insert(name, length, hash, found);
            spellings_.emplace_back(name, length);
        }
        return found;
    }

    void sort_by_name() {
        name_start_.assign(names() + 2, 0);
        for (const TreeNode& node : nodes)
            if (node.kind() == ELEMENT_NODE) ++name_start_[node.name() + 2];
        for (std::size_t i = 2; i < name_start_.size(); ++i) name_start_[i] += name_start_[i - 1];
        by_name_.resize(name_start_.back());
        for (u32 i = 0; i < nodes.size(); ++i)
            if (nodes[i].kind() == ELEMENT_NODE) by_name_[name_start_[nodes[i].name() + 1]++] = i;
        by_name_stale_ = false;
    }

    std::string text_, values_;
    NameTable names_;
    std::vector<std::string> spellings_;
    std::vector<u32> open_, by_name_, name_start_;
    bool in_text_ = false, by_name_stale_ = true;
};

}  // namespace twigcast
