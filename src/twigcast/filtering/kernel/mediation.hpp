// Chooses the plan by which a document is rewritten: the one that the caller names, or that of the root
// element.
#pragma once

#include <unordered_map>

#include "rewriter.hpp"

namespace twigcast {

constexpr u32 BY_ROOT = NONE;

class Mediation {
  public:
    std::vector<Rewriter*> rewriters;
    std::unordered_map<std::string, u32> by_root;  // NONE if several plans have this root
    bool as_is = false;                            // a document without a plan is matched as it is

    // Of the document that is read: which plan was asked for, and found.
    u32 wanted = BY_ROOT, found = NONE;
    std::string root;  // the name of the root of a document without a plan

    bool needs_content() const {
        if (wanted != BY_ROOT) return wanted < rewriters.size() && rewriters[wanted]->needs_content();
        bool needed = false;
        for (const Rewriter* each : rewriters) needed = needed || each->needs_content();
        return needed;
    }

    void begin() { found = NONE; }

    // Whether the document without a plan is matched as it is; never if its root has several plans.
    bool takes_as_it_is() const { return as_is && !(wanted == BY_ROOT && by_root.count(root)); }

    // The rewriter of a document with this root, null if there is none.
    Rewriter* choose(std::string_view name) {
        root.assign(name);
        const auto known = by_root.find(root);
        if (wanted == BY_ROOT) found = known == by_root.end() ? NONE : known->second;
        else found = wanted < rewriters.size() && rewriters[wanted]->root_name() == name ? wanted : NONE;
        return found == NONE ? nullptr : rewriters[found];
    }
};

}  // namespace twigcast
