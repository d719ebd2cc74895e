// Counts the label paths of a document that expat reads in blocks: how often each occurs, its bytes, and
// whether it repeats in one parent.
//
//     <a><b/><c><b/></c><b/></a>        1: a once    2: a/b twice, repeats    3: a/c once    4: a/c/b once
//
// Elements of one label path are never open at the same time, so that the number of the parent that an
// element of a path was last seen in tells whether it repeats.  Memory: a record for each label path and each
// open element.
#pragma once

#include <string>
#include <vector>

#include "codes.hpp"
#include "encoding_map.hpp"
#include "integers.hpp"
#include "state_table.hpp"

namespace twigcast {

struct PathCount {
    u64 count = 0, bytes = 0;
    u64 last_parent = 0;  // the number of an element; 0: none, or the document
    bool repeats = false;
};

class PathProfiler {
  public:
    PathProfiler(u32 most_depth, EncodingMap encoding)
        : most_depth_(most_depth), encoding_(encoding), table_(0), counts_(1), open_(1) {
        parser_.begin(nullptr, true);
        XML_SetUserData(parser_, this);
        XML_SetElementHandler(parser_, on_start, on_end);
        XML_SetUnknownEncodingHandler(parser_, on_encoding, this);
    }
    PathProfiler(const PathProfiler&) = delete;

    // 0, or the number of an error, whose place is that of the parser.
    int feed(const char* data, std::size_t size, bool final) {
        if (parser_.parse(data, size, final) == XML_STATUS_OK) return 0;
        return is_too_deep_ ? TOO_DEEP : static_cast<int>(XML_GetErrorCode(parser_));
    }

    u64 line() const { return parser_.line(); }
    u64 column() const { return parser_.column(); }
    u64 offset() const { return parser_.offset(); }

    // Paths are numbered from 1 in the order of their first occurrence; 0 is the document.
    std::size_t size() const { return counts_.size() - 1; }
    const PathCount& count(std::size_t path) const { return counts_[path]; }
    u32 parent(std::size_t path) const { return table_.state(path - 1); }
    const std::string& name(std::size_t path) const { return table_.text(path - 1); }

  private:
    static constexpr u8 NOTHING_KEPT = 0;  // there are no outputs

    struct Open {
        u32 path = 0;
        u64 number = 0, start = 0;
    };

    static void on_start(void* self, const char* name, const char**) {
        PathProfiler& own = *static_cast<PathProfiler*>(self);
        own.parser_.guard([&] { own.start(name); });
    }
    static void on_end(void* self, const char*) {
        PathProfiler& own = *static_cast<PathProfiler*>(self);
        own.parser_.guard([&] { own.end(); });
    }
    static int on_encoding(void* self, const char* name, XML_Encoding* info) {
        return map_encoding(static_cast<PathProfiler*>(self)->encoding_, name, info);
    }

    void start(const char* name) {
        if (is_too_deep_) return;
        if (open_.size() > most_depth_) {
            is_too_deep_ = true;
            return parser_.stop();
        }
        const Open parent = open_.back();
        std::size_t size = 0;
        const u32 number = table_.name(name, size);
        u32 path = 0;
        if (!table_.find(parent.path, number, path)) {
            path = static_cast<u32>(counts_.size());
            table_.add(parent.path, number, path, &NOTHING_KEPT);
            counts_.emplace_back();
        }
        PathCount& count = counts_[path];
        ++count.count;
        if (parent.number && count.last_parent == parent.number) count.repeats = true;
        count.last_parent = parent.number;
        open_.push_back({path, ++elements_, offset()});
    }

    void end() {
        if (is_too_deep_) return;
        counts_[open_.back().path].bytes += offset() - open_.back().start;
        open_.pop_back();
    }

    ExpatParser parser_;
    u32 most_depth_;
    EncodingMap encoding_;
    StateTable table_;
    std::vector<PathCount> counts_;
    std::vector<Open> open_;  // the document, then the open elements
    u64 elements_ = 0;
    bool is_too_deep_ = false;
};

}  // namespace twigcast
