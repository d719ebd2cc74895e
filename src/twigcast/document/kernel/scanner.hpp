// Finds the places where a document can be cut: just before the "<" of a start tag.
//
//     text  <a p="1>2">  <!-- <b> -->  <![CDATA[ <b> ]]>  <? <b> ?>  </a>
//     memchr '<'  └ quotes ┘   └── hidden: memmem of the end ──────┘
//
// In well-formed XML a "<" in content begins markup, always.  The scanner looks at tags, skips what can hide
// a tag, and searches for the next "<" in between.  It keeps a stack of the open names, and compares each end
// tag with it.  What it does not look at is text (entities, characters, encoding) and whether attribute names
// are different; what it looks at and does not know is an error, never a guess.  The document type
// declaration comes before the root element, where the scanner begins; anywhere else it is an error.
//
// Bytes are those of UTF-8 or of another encoding in which ASCII characters are one byte of the same value.
//
// Elements are numbered in document order from 1.  Between two stops the scanner notes what a header needs:
//
//     low       the least number of open elements since the last stop: those above are of the piece before
//     roots     elements whose parent was open at the last stop, by depth and name, with count and height
//     paths     numbers of the label paths of all elements
//     run       of each open element: its children that have ended since they were last taken (subtrees only)
#pragma once

#include <expat.h>  // for the numbers of errors

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "codes.hpp"
#include "integers.hpp"
#include "label_paths.hpp"
#include "signs.hpp"

namespace twigcast {

enum class ScanResult { MORE, STOP, ERROR };

struct ChildRun {
    u64 start = 0, end = 0;   // byte range in the document
    u64 first = 0, last = 0;  // numbers of its first element, and of the element after it
    bool exists = false;
};

struct OpenTag {
    std::size_t name;  // offset in the arena of names
    u32 size;          // of the name
    u32 declared;      // of the declarations, which follow the name
    u32 path;
    u64 number;
    u64 start;  // byte offset of the start tag
};

struct RootCount {
    std::string name;
    u32 depth, count, height;
};

struct ScanRule {
    u64 elements = 0;                    // stop before the first start tag after so many elements
    u64 bytes = 0;                       // … after so many bytes
    std::vector<u64> numbers;            // … before the elements of these numbers, in rising order
    std::size_t open = ~std::size_t{0};  // stop only where at most so many elements are open
    bool subtrees = false;  // stop only where an open element has a run; a stop counts its own element
    bool content = false;   // any content, not one root element with white space around it
    bool roots = false;     // count roots
    u32 depth = 1000;
};

class Scanner {
  public:
    Scanner(ScanRule rule, u64 at, LabelPathTable* paths, u32 path)
        : rule_(std::move(rule)), paths_(paths), path_(path), at_(at) {
        if (rule_.elements) most_elements_ = rule_.elements;
        if (rule_.bytes) most_offset_ = rule_.bytes;
        if (!rule_.numbers.empty()) next_number_ = rule_.numbers[0];
    }

    // Scans on from where it stopped; data[0] is the byte at `base` of the document.
    ScanResult scan(const char* data, std::size_t size, u64 base, bool final) {
        data_ = data;
        base_ = base;
        end_ = data + size;
        if (!final && base + size < resume_) return ScanResult::MORE;
        sign_ = nullptr;
        return run(data + (at_ - base), final);
    }

    // Before the first scan: an element around the content, below those that were entered before.  It is not
    // counted.
    void enter(std::string_view name) {
        end_ = name.data() + name.size();
        push(name, path_, 0, 0);
        start_depth_ = low_ = stack_.size();
    }

    // After a stop: what comes next belongs to the next piece.
    void begin_piece() {
        if (rule_.bytes) most_offset_ = at_ + rule_.bytes;
        piece_elements_ = 0;
        start_depth_ = low_ = stack_.size();
        roots_.clear();
        root_index_.clear();
        used_.clear();
        ++piece_;
        if (rule_.subtrees) {
            for (ChildRun& each : child_runs_) each.exists = false;
            runs_ = 0;
        }
    }

    u64 at() const { return at_; }
    u64 elements() const { return elements_; }
    int fault() const { return fault_; }
    std::size_t closes() const { return start_depth_ - low_; }
    std::size_t low() const { return low_; }
    const std::vector<OpenTag>& open() const { return stack_; }
    const std::vector<ChildRun>& child_runs() const { return child_runs_; }
    const std::vector<RootCount>& roots() const { return roots_; }
    const std::vector<u32>& used_paths() const { return used_; }
    std::string_view name(const OpenTag& tag) const { return {names_.data() + tag.name, tag.size}; }
    std::string_view declared(const OpenTag& tag) const {
        return {names_.data() + tag.name + tag.size, tag.declared};
    }

  private:
    enum class Step { DONE, MORE, ERROR };
    enum class Hiding { NONE, COMMENT, INSTRUCTION, CDATA };

    ScanResult run(const char* p, bool final) {
        for (;;) {
            if (hiding_ != Hiding::NONE) {
                const Step step = reveal(p);
                if (step == Step::ERROR) return ScanResult::ERROR;
                if (step == Step::MORE) return suspended(p, p, final);
            }
            const char* const q = sign_ ? sign_ : next_sign(p, end_);
            sign_ = nullptr;
            if (stack_.empty() && !rule_.content) {
                const char* stop = q ? q : end_;
                for (const char* c = p; c < stop; ++c)
                    if (!is_space(*c))
                        return fail(c, ended_ ? XML_ERROR_JUNK_AFTER_DOC_ELEMENT : XML_ERROR_INVALID_TOKEN);
            }
            if (!q) {
                at_ = offset(end_);
                return final ? finished() : ScanResult::MORE;
            }
            if (end_ - q < 2) return suspended(q, q, final);
            Step step = Step::DONE;
            p = q;
            switch (q[1]) {
                case '/': step = end_tag(p); break;
                case '!': step = declaration(p); break;
                case '?':
                    hiding_ = Hiding::INSTRUCTION;
                    p = q + 2;
                    break;
                default:
                    if (!is_in_name(q[1]) || is_no_name_start(q[1])) return fail(q, XML_ERROR_INVALID_TOKEN);
                    if (ended_ && stack_.empty() && !rule_.content)
                        return fail(q, XML_ERROR_JUNK_AFTER_DOC_ELEMENT);
                    if (stops(q)) {
                        at_ = offset(q);
                        return ScanResult::STOP;
                    }
                    step = start_tag(p);
            }
            if (step == Step::ERROR) return ScanResult::ERROR;
            if (step == Step::MORE) return suspended(q, q, final);
        }
    }

    // Waits for more data at p; a tag that is fed in many blocks is looked at again only when it has doubled.
    ScanResult suspended(const char* p, const char* token, bool final) {
        at_ = offset(p);
        if (final) {
            const bool cdata = hiding_ == Hiding::CDATA;
            return fail(p, cdata                       ? XML_ERROR_UNCLOSED_CDATA_SECTION
                           : stack_.empty() && !ended_ ? XML_ERROR_NO_ELEMENTS
                                                       : XML_ERROR_UNCLOSED_TOKEN);
        }
        resume_ = offset(end_) + (end_ - token) / 2;
        return ScanResult::MORE;
    }

    ScanResult finished() {
        if (!stack_.empty() || (!ended_ && !rule_.content)) return fail(end_, XML_ERROR_NO_ELEMENTS);
        return ScanResult::STOP;
    }

    ScanResult fail(const char* p, int number) {
        at_ = offset(p);
        fault_ = number;
        return ScanResult::ERROR;
    }

    Step failed(const char* p, int number) {
        fail(p, number);
        return Step::ERROR;
    }

    // Comments, CDATA sections and processing instructions

    Step declaration(const char*& p) {
        static constexpr std::string_view comment = "<!--", cdata = "<![CDATA[";
        const std::string_view here(p, end_ - p);
        if (here.substr(0, comment.size()) == comment) {
            hiding_ = Hiding::COMMENT;
            p += comment.size();
            return Step::DONE;
        }
        if (here.substr(0, cdata.size()) == cdata && (rule_.content || !stack_.empty())) {
            hiding_ = Hiding::CDATA;
            p += cdata.size();
            return Step::DONE;
        }
        const bool partial = here == comment.substr(0, here.size()) || here == cdata.substr(0, here.size());
        return partial ? Step::MORE : failed(p, XML_ERROR_INVALID_TOKEN);
    }

    Step reveal(const char*& p) {
        static constexpr std::string_view ends[] = {"", "--", "?>", "]]>"};
        const std::string_view sign = ends[static_cast<int>(hiding_)];
        const char* found = find(p, end_, sign);
        if (hiding_ == Hiding::COMMENT && found && found + 2 == end_) found = nullptr;
        if (!found) {
            p = std::max(p, end_ - std::min<std::ptrdiff_t>(end_ - p, sign.size()));
            return Step::MORE;
        }
        if (hiding_ == Hiding::COMMENT && found[2] != '>') return failed(found, XML_ERROR_INVALID_TOKEN);
        p = found + (hiding_ == Hiding::COMMENT ? 3 : sign.size());
        hiding_ = Hiding::NONE;
        return Step::DONE;
    }

    // Tags

    Step end_tag(const char*& p) {
        if (stack_.empty()) return failed(p, XML_ERROR_INVALID_TOKEN);
        const OpenTag& tag = stack_.back();
        const char* name = p + 2;
        if (!same_name(name, end_, names_.data() + tag.name, tag.size))
            return failed(name, XML_ERROR_TAG_MISMATCH);
        const char* c = name + tag.size;
        if (c >= end_) return Step::MORE;
        if (*c != '>') {
            if (is_in_name(*c)) return failed(name, XML_ERROR_TAG_MISMATCH);
            while (c < end_ && is_space(*c)) ++c;
            if (c == end_) return Step::MORE;
            if (*c != '>') return failed(c, XML_ERROR_INVALID_TOKEN);
        }
        p = c + 1;
        close(offset(p));
        return Step::DONE;
    }

    Step start_tag(const char*& p) {
        const char* const name = p + 1;
        const char* c = name_end(name, end_);
        const std::string_view name_view(name, c - name);
        declared_.clear();
        if (stack_.size() >= rule_.depth) return failed(p, TOO_DEEP);
        for (;;) {
            if (c == end_) return Step::MORE;
            if (*c == '>') {
                // Most elements have text only: their end tag is the next "<".
                const char* const sign = sign_ = next_sign(c + 1, end_);
                const std::size_t size = name_view.size() + 2;  // of the end tag, without its ">"
                if (sign && static_cast<std::size_t>(end_ - sign) > size && sign[1] == '/' &&
                    sign[size] == '>' && same_name(sign + 2, end_, name, name_view.size())) {
                    p = sign + size + 1;
                    leaf(name - 1, name_view, p);
                    sign_ = nullptr;
                } else {
                    open(p, name_view);
                    p = c + 1;
                }
                return Step::DONE;
            }
            if (*c == '/') {
                if (end_ - c < 2) return Step::MORE;
                if (c[1] != '>') return failed(c, XML_ERROR_INVALID_TOKEN);
                leaf(p, name_view, c + 2);
                p = c + 2;
                return Step::DONE;
            }
            if (!is_space(*c)) return failed(c, XML_ERROR_INVALID_TOKEN);
            while (c < end_ && is_space(*c)) ++c;
            if (c == end_) return Step::MORE;
            if (*c == '>' || *c == '/') continue;
            const char* const attribute = c;
            c = name_end(c, end_);
            const std::size_t size = c - attribute;
            if (c < end_ && (!size || is_no_name_start(*attribute)))
                return failed(attribute, XML_ERROR_INVALID_TOKEN);
            while (c < end_ && is_space(*c)) ++c;
            if (c == end_) return Step::MORE;
            if (*c++ != '=') return failed(c - 1, XML_ERROR_INVALID_TOKEN);
            while (c < end_ && is_space(*c)) ++c;
            if (c == end_) return Step::MORE;
            if (*c != '"' && *c != '\'') return failed(c, XML_ERROR_INVALID_TOKEN);
            const char* const value = c + 1;
            c = static_cast<const char*>(std::memchr(value, *c, end_ - value));
            const char* const value_end = c ? c : end_;
            if (const void* sign = std::memchr(value, '<', value_end - value))
                return failed(static_cast<const char*>(sign), XML_ERROR_INVALID_TOKEN);
            if (!c) return Step::MORE;
            ++c;
            if (size >= 5 && std::memcmp(attribute, "xmlns", 5) == 0 && (size == 5 || attribute[5] == ':')) {
                declared_.push_back(' ');
                declared_.append(attribute, c - attribute);
            }
        }
    }

    // Counts an element and returns the number of its label path.
    u32 count(std::string_view name) {
        const std::size_t depth = stack_.size();
        ++elements_;
        ++piece_elements_;
        if (rule_.roots) {
            if (depth == low_) root_ = count_root(name);
            RootCount& root = roots_[root_];
            root.height = std::max(root.height, static_cast<u32>(depth - low_));
        }
        if (!paths_) return 0;
        const u32 path = paths_->step(depth ? stack_.back().path : path_, name, declared_);
        if (path >= stamps_.size()) stamps_.resize(std::max<std::size_t>(2 * stamps_.size(), path + 64));
        if (stamps_[path] != piece_) {
            stamps_[path] = piece_;
            used_.push_back(path);
        }
        return path;
    }

    // An element without child elements, from p to end: it need not be on the stack.
    void leaf(const char* p, std::string_view name, const char* end) {
        count(name);
        if (rule_.subtrees) extend_run(offset(p), elements_, offset(end));
        ended_ = ended_ || stack_.empty();
    }

    void open(const char* p, std::string_view name) {
        const u32 path = count(name);
        push(name, path, elements_, offset(p));
    }

    void push(std::string_view name, u32 path, u64 number, u64 start) {
        std::size_t at = 0;
        if (!stack_.empty()) at = stack_.back().name + stack_.back().size + stack_.back().declared;
        const std::size_t end = at + name.size() + declared_.size();
        if (names_.size() < end + 8) names_.resize(2 * end + 1024);
        if (name.size() <= 8 && end_ - name.data() >= 8)
            std::memcpy(names_.data() + at, name.data(), 8);  // one instruction; the arena has room
        else std::memcpy(names_.data() + at, name.data(), name.size());
        if (!declared_.empty())
            std::memcpy(names_.data() + at + name.size(), declared_.data(), declared_.size());
        stack_.push_back(
            {at, static_cast<u32>(name.size()), static_cast<u32>(declared_.size()), path, number, start});
        if (rule_.subtrees) child_runs_.emplace_back();
    }

    void close(u64 end) {
        const u64 start = stack_.back().start, number = stack_.back().number;
        stack_.pop_back();
        if (rule_.subtrees) {
            runs_ -= child_runs_.back().exists;
            child_runs_.pop_back();
            extend_run(start, number, end);
        }
        low_ = std::min(low_, stack_.size());
        ended_ = ended_ || stack_.empty();
    }

    // The innermost open element has one more child that has ended.
    void extend_run(u64 start, u64 number, u64 end) {
        if (child_runs_.empty()) return;
        ChildRun& run = child_runs_.back();
        if (!run.exists) {
            run.start = start;
            run.first = number;
            run.exists = true;
            ++runs_;
        }
        run.end = end;
        run.last = elements_ + 1;
    }

    // Whether the piece ends before the start tag at p.  The three bounds are never reached where the rule
    // has none, so most tags cost three comparisons.
    bool stops(const char* p) {
        if (piece_elements_ < most_elements_ && offset(p) < most_offset_ && elements_ + 1 < next_number_)
            return false;
        if (stack_.size() > rule_.open) return false;
        const bool is_given = elements_ + 1 == next_number_;
        if (is_given) next_number_ = ++next_ < rule_.numbers.size() ? rule_.numbers[next_] : NEVER;
        const bool is_over = piece_elements_ >= most_elements_ || offset(p) >= most_offset_;
        return (is_given || is_over) && (rule_.subtrees ? runs_ > 0 : piece_elements_ > 0);
    }

    std::size_t count_root(std::string_view name) {
        const auto depth = static_cast<u32>(low_);
        if (root_ < roots_.size() && roots_[root_].depth == depth && roots_[root_].name == name) {
            ++roots_[root_].count;
            return root_;
        }
        key_.assign(reinterpret_cast<const char*>(&depth), sizeof depth);
        key_.append(name);
        const auto [found, is_new] = root_index_.try_emplace(key_, roots_.size());
        if (is_new) roots_.push_back({std::string(name), depth, 0, 0});
        ++roots_[found->second].count;
        return found->second;
    }

    u64 offset(const char* p) const { return base_ + (p - data_); }

    ScanRule rule_;
    LabelPathTable* paths_;
    u32 path_;  // the label path of what the content is in
    u64 at_;    // where the scan continues
    static constexpr u64 NEVER = ~u64{0};
    u64 most_elements_ = NEVER, most_offset_ = NEVER, next_number_ = NEVER;  // where a piece ends
    u64 resume_ = 0;
    const char* data_ = nullptr;
    const char* end_ = nullptr;
    const char* sign_ = nullptr;  // the next "<", where it is known
    u64 base_ = 0;
    Hiding hiding_ = Hiding::NONE;
    bool ended_ = false;  // the root element
    int fault_ = NO_FAULT;

    std::vector<OpenTag> stack_;
    std::vector<ChildRun> child_runs_;  // of each open element; only if subtrees are taken
    std::vector<char> names_;           // names and declarations of the stack, one after the other
    std::string declared_;
    u64 elements_ = 0, piece_elements_ = 0;
    std::size_t start_depth_ = 0, low_ = 0, runs_ = 0, next_ = 0;
    std::vector<RootCount> roots_;
    std::unordered_map<std::string, std::size_t> root_index_;
    std::size_t root_ = 0;
    std::string key_;
    std::vector<u32> used_;
    std::vector<u64> stamps_;
    u64 piece_ = 1;
};

}  // namespace twigcast
