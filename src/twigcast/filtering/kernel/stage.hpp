// The state of one operator of a plan while a document is read; how it works is in stages.hpp.
//
//   Insert        keeps its members; before the end of the element, a path with them
//   InsertEach    a path around each
//   InsertAll     a path, when content comes
//   Upgrade       keeps its members; sends them behind the end of the element
//   UpgradeAll    the same; or ends the element early if nobody needs its text
//   Downgrade     keeps members and holders; before the end, each holder with a copy
//   Exchange      keeps all; at the end, each holder with a copy of the rest first
//   ToElement     a child, when content comes
//   Hide          sends nothing
#pragma once

#include "records.hpp"

namespace twigcast {

// The name by which a stage knows an attribute that is meant for it; no attribute of a document has such a
// name.
inline std::string mark_of(u32 attribute) { return "\f\f" + std::to_string(attribute); }

// An element to which a later element of an attribute belongs, behind those that were attributes before.
struct Pending {
    u32 origin, depth;
    std::string value;
};

// What is known of elements that are copied into several holders.
struct Sharing {
    bool is_known = false;
    u64 begins = 0, number = 0;  // the stages that begin at them; of the sinks
    std::string text;
};

// Where the events of an element that is kept go.
enum Keeping : u32 { NOTHING, MOVED, HOLDER };

// An operator: `node` is the element that it is about, `other` the holder or the attribute.
struct Stage {
    StageKind kind = INSERT;
    u32 node = NONE, other = NONE;
    Span path{nullptr, 0}, members{nullptr, 0};
    std::string mark;
    bool may_pass = false;   // UPGRADE_ALL: no operator behind looks at the text that is left in the element
    bool is_passed = false;  // so children go straight through, in this document
    bool is_ended = false, is_read = true;  // the end of the element was sent; its text is needed
    u64 generation = 0;                     // of the sinks, for which `is_read` is known

    u32 depth = 0;  // 0: outside; 1: in an element of the node; more: below
    u32 deep = 0;   // in what is kept or put into a path
    Keeping keeping = NOTHING;
    Record moved, holders;
    u64 counted = 0;  // bytes of the records that are in `held_`
    std::vector<std::size_t> holder_ends;
    std::vector<std::pair<u32, bool>> opened;  // INSERT_ALL: depth of the content, whether its path is open
    std::vector<Pending> pending;              // TO_ELEMENT
    std::vector<const char*> attributes, replayed;

    void begin() {
        depth = deep = 0;
        keeping = NOTHING;
        is_ended = false;
        clear();
        opened.clear();
        pending.clear();
    }
    void clear() {
        moved.clear(), holders.clear();
        holder_ends.clear();
        counted = 0;
    }
    bool is_member(u32 number) const {
        if (kind == UPGRADE_ALL) return true;
        if (number == NONE) return false;
        for (u32 each : members)
            if (each == number) return true;
        return false;
    }
};

inline std::vector<Stage> stages_of(const Plan& plan) {
    std::vector<Stage> stages(plan.header.stages);
    for (u32 s = 0; s < stages.size(); ++s) {
        const PlanStage from = plan.stage(s);
        Stage& stage = stages[s];
        stage.kind = static_cast<StageKind>(from.kind);
        stage.node = from.node;
        stage.other = from.other;
        stage.path = plan.list(from.path);
        stage.members = plan.list(from.members);
        stage.may_pass = stage.kind == UPGRADE_ALL && from.other != NONE;
        if (stage.kind == TO_ELEMENT || stage.kind == HIDE_ATTRIBUTE) stage.mark = mark_of(from.other);
    }
    return stages;
}

}  // namespace twigcast
