// The operators of a plan that need more than one tag at a time, one behind the other.
//
//   source tags ─► stage 0 ─► stage 1 ─► … ─► sinks
//
// An event that a stage has no part in is not shown to it: `inside_` has a bit for every stage with an open
// element of its kind, `begins_` one for every stage that begins at a node.  A stage sends events to those
// behind it, which may keep them in turn; so operators on what other operators made need no special case.
//
// Invariant: each stage gets and sends whole subtrees; once the image is too large, nothing is sent any more.
// Cost: a copy of what is moved; all copies together are bounded.
#pragma once

#include "image_paths.hpp"
#include "sinks.hpp"
#include "stage.hpp"

namespace twigcast {

class Stages {
  public:
    Stages(const Plan& plan, Sinks& sinks)
        : tags(tags_of(plan)), image_path(plan, tags), plan_(plan), sinks_(sinks),
          begins_(plan.nodes.size(), 0), stages_(stages_of(plan)) {
        count_ = static_cast<u32>(stages_.size());
        for (u32 s = 0; s < count_; ++s) begins_[stages_[s].node] |= bit(s);
        if (count_ > 63) always_ = bit(63);  // the last bit stands for all stages behind
        for (const Stage& stage : stages_)
            needs_content_ = needs_content_ || stage.kind == INSERT_ALL || stage.kind == TO_ELEMENT;
    }
    Stages(const Stages&) = delete;

    std::vector<Tag> tags;  // by node, with the names of the image
    ImagePaths image_path;
    bool shares_copies = true, skips = true;
    u64 cached = 0;  // the most bytes of names, attributes and text that were kept at a time

    bool needs_content() const { return needs_content_; }  // text too, even if no matcher asks for it

    // Begins a document; `most_bytes` bounds its size after copying, and `size` is what it has so far.  If
    // its text is not sent, because nobody needs it, `text` is more than it can have.
    void begin(u64 most_bytes, u64 size, u64 text) {
        for (Stage& stage : stages_) stage.begin();
        for (Stage& stage : stages_) stage.is_passed = skips && stage.may_pass && !reads_text(stage);
        inside_ = always_;
        most_bytes_ = most_bytes;
        size_ = size + text;
        unsent_text_ = text;
        cached = made_ = held_ = source_elements_ = 0;
        copied_ = expanded_ = false;
    }

    // Counts what the source has.
    void count_element(u64 size) { ++source_elements_, size_ += size; }
    void count(u64 size) { size_ += size; }

    bool has_stopped() const { return expanded_; }  // nothing is sent any more because the image is too large
    bool expanded() const { return expanded_ || (copied_ && size_ > most_bytes_); }

    void start(const Tag& tag) { send_start(0, tag); }
    void end() { send_end(0); }
    void text(const char* bytes, std::size_t length) { send_text(0, bytes, length); }
    void comment(const char* data) { send_comment(0, data); }
    void instruction(const char* target, const char* data) { send_instruction(0, target, data); }
    void start_path(Span path) { make_path(0, path); }
    void end_path(Span path) { end_path(0, path); }
    void element(u32 node, u32 origin, const char* value) { make_element(0, node, origin, value); }

  private:
    static u64 bit(u32 stage) { return 1ull << std::min(stage, 63u); }

    // What operators make

    void make_start(u32 stage, u32 node) {
        // No plan of a mapping makes so much: each of its made nodes stands once around an element or a copy
        // of one.
        if (++made_ > 2 * (u64(plan_.made) + count_ + 1) * (source_elements_ + size_ / NODE_COST + 1))
            expanded_ = true;
        send_start(stage, tags[node]);
    }

    void make_path(u32 stage, Span path) {
        for (u32 node : path) make_start(stage, node);
    }

    void make_element(u32 stage, u32 node, u32 origin, const char* value) {
        Tag tag = tags[node];
        tag.origin = origin;
        tag.from_attribute = true;
        send_start(stage, tag);
        if (*value) send_text(stage, value, std::strlen(value));
        send_end(stage);
    }

    // The first stage from `from` on that has a part in an event.
    u32 next(u32 from, u64 mask) const {
        if (from >= count_) return count_;
        if (from >= 63) return from;
        mask >>= from;
        return mask ? std::min(from + static_cast<u32>(__builtin_ctzll(mask)), count_) : count_;
    }

    // An event at a stage

    void send_start(u32 from, const Tag& tag) {
        const u32 at = next(from, inside_ | (tag.node == NONE ? 0 : begins_[tag.node]));
        if (at == count_) {
            if (!expanded_ && !sinks_.too_costly)
                sinks_.start(tag.name, tag.length, tag.hash, tag.attributes);
            return;
        }
        Stage& stage = stages_[at];
        if (stage.kind == INSERT_ALL) return start_in_path(at, tag);
        if (stage.kind == TO_ELEMENT) return start_with_attribute(at, tag);
        if (stage.kind >= HIDE_ELEMENT) return start_hidden(at, tag);
        if (stage.keeping != NOTHING) {
            ++stage.deep;
            return keep(stage).start(tag);
        }
        if (stage.depth == 0) {
            if (tag.node == stage.node) {
                enter(at);
                if (stage.kind == EXCHANGE) return keep(stage).start(tag);
            }
            return send_start(at + 1, tag);
        }
        if (stage.depth == 1 && !stage.deep) {
            const bool has_holders = stage.kind == DOWNGRADE || stage.kind == EXCHANGE;
            if (has_holders && tag.node == stage.other) {
                stage.keeping = HOLDER;
                stage.deep = 1;
                return stage.holders.start(tag);
            }
            if (stage.kind != EXCHANGE && stage.is_member(tag.node)) {
                stage.deep = 1;
                if (stage.is_passed) {
                    if (!stage.is_ended) send_end(at + 1);
                    stage.is_ended = true;
                    return send_start(at + 1, tag);
                }
                if (stage.kind == INSERT_EACH) {
                    make_path(at + 1, stage.path);
                    return send_start(at + 1, tag);
                }
                stage.keeping = MOVED;
                return stage.moved.start(tag);
            }
        }
        if (stage.deep) ++stage.deep;
        else ++stage.depth;
        if (stage.kind == EXCHANGE) return keep(stage).start(tag);
        send_start(at + 1, tag);
    }

    void send_end(u32 from) {
        const u32 at = next(from, inside_);
        if (at == count_) {
            if (!expanded_ && !sinks_.too_costly) sinks_.end();
            return;
        }
        Stage& stage = stages_[at];
        if (stage.kind == TO_ELEMENT) return end_with_attribute(at);
        if (stage.depth == 0) return send_end(at + 1);
        if (stage.kind == INSERT_ALL) return end_in_path(at);
        if (stage.kind == HIDE_ELEMENT) {
            if (--stage.depth == 0) leave(at);
            return;
        }
        if (stage.keeping != NOTHING) {
            keep(stage).end();
            if (--stage.deep) return;
            if (stage.keeping == HOLDER) stage.holder_ends.push_back(stage.holders.size());
            stage.keeping = NOTHING;
            return note_cached(stage);
        }
        if (stage.deep) {
            send_end(at + 1);
            if (--stage.deep == 0) end_path(at + 1, stage.path);
            return;
        }
        if (stage.kind == EXCHANGE) stage.moved.end();
        if (--stage.depth) return stage.kind == EXCHANGE ? void() : send_end(at + 1);
        leave(at);
        if (stage.is_ended) {  // children that moved behind it have passed
            stage.is_ended = false;
            return;
        }
        switch (stage.kind) {
            case INSERT:
                if (!stage.moved.empty()) {
                    make_path(at + 1, stage.path);
                    replay(at, stage.moved, 0, stage.moved.size());
                    end_path(at + 1, stage.path);
                }
                send_end(at + 1);
                break;
            case UPGRADE:
            case UPGRADE_ALL:
                send_end(at + 1);
                replay(at, stage.moved, 0, stage.moved.size());
                break;
            case DOWNGRADE:
                downgrade(at, stage);
                send_end(at + 1);
                break;
            case EXCHANGE:
                note_cached(stage);
                exchange(at, stage);
                break;
            default: send_end(at + 1); break;
        }
        held_ -= stage.counted;
        stage.clear();
    }

    void send_text(u32 from, const char* bytes, std::size_t length) {
        const u32 at = next(from, inside_);
        if (at == count_) {
            if (!expanded_ && !sinks_.too_costly) sinks_.text(bytes, length);
        } else if (before_content(at)) {
            if (Record* kept = kept_by(stages_[at])) kept->text(bytes, length);
            else send_text(at + 1, bytes, length);
        }
    }

    void send_comment(u32 from, const char* data) {
        const u32 at = next(from, inside_);
        if (at == count_) {
            if (!expanded_ && !sinks_.too_costly) sinks_.comment(data);
        } else if (before_content(at)) {
            if (Record* kept = kept_by(stages_[at])) kept->comment(data);
            else send_comment(at + 1, data);
        }
    }

    void send_instruction(u32 from, const char* target, const char* data) {
        const u32 at = next(from, inside_);
        if (at == count_) {
            if (!expanded_ && !sinks_.too_costly) sinks_.instruction(target, data);
        } else if (before_content(at)) {
            if (Record* kept = kept_by(stages_[at])) kept->instruction(target, data);
            else send_instruction(at + 1, target, data);
        }
    }

    void enter(u32 at) {
        ++stages_[at].depth;
        inside_ |= bit(at);
    }

    void leave(u32 at) {
        if (at < 63) inside_ &= ~bit(at);
    }

    Record& keep(Stage& stage) {
        Record& record = stage.keeping == HOLDER ? stage.holders : stage.moved;
        if (record.full()) expanded_ = true;
        return record;
    }

    Record* kept_by(Stage& stage) {
        return stage.keeping != NOTHING || (stage.kind == EXCHANGE && stage.depth) ? &keep(stage) : nullptr;
    }

    // Opens what must stand before a text, comment or instruction; false if that is left out.
    bool before_content(u32 at) {
        Stage& stage = stages_[at];
        if (stage.kind == HIDE_ELEMENT) return stage.depth == 0;
        if (stage.is_ended && !stage.deep) return false;  // nobody needs the text of its element
        if (stage.kind == INSERT_ALL) open_path(at);
        if (stage.kind == TO_ELEMENT) flush(at);
        return true;
    }

    // Whether the text of a stage's elements, or of those above them, is needed.
    bool reads_text(Stage& stage) {
        if (sinks_.recording) return true;
        if (stage.generation != sinks_.generation) {
            const std::vector<Label>& path = image_path(stage.node);
            stage.is_read = path.empty() || sinks_.reads_text(path);
            stage.generation = sinks_.generation;
        }
        return stage.is_read;
    }

    void note_cached(Stage& stage) {
        const u64 now = stage.moved.content() + stage.holders.content();
        held_ += now - stage.counted;
        stage.counted = now;
        cached = std::max(cached, held_);
    }

    // INSERT_ALL

    void start_in_path(u32 at, const Tag& tag) {
        Stage& stage = stages_[at];
        if (stage.depth) open_path(at), ++stage.depth;
        if (tag.node == stage.node) {
            if (!stage.depth) enter(at);
            stage.opened.emplace_back(stage.depth, false);
        }
        send_start(at + 1, tag);
    }

    void open_path(u32 at) {
        Stage& stage = stages_[at];
        if (stage.opened.empty() || stage.opened.back().second || stage.opened.back().first != stage.depth)
            return;
        stage.opened.back().second = true;
        make_path(at + 1, stage.path);
    }

    void end_in_path(u32 at) {
        Stage& stage = stages_[at];
        if (!stage.opened.empty() && stage.opened.back().first == stage.depth) {
            if (stage.opened.back().second) end_path(at + 1, stage.path);
            stage.opened.pop_back();
        }
        if (--stage.depth == 0) leave(at);
        send_end(at + 1);
    }

    void end_path(u32 from, Span path) {
        for (u32 i = path.size; i; --i) send_end(from);
    }

    // HIDE_ELEMENT and HIDE_ATTRIBUTE

    void start_hidden(u32 at, const Tag& tag) {
        Stage& stage = stages_[at];
        if (stage.kind == HIDE_ELEMENT) {
            if (stage.depth || tag.node == stage.node) return enter(at);
            return send_start(at + 1, tag);
        }
        if (tag.node != stage.node) return send_start(at + 1, tag);
        const char* value;
        Tag other = tag;
        other.attributes = without_mark(stage, tag.attributes, value);
        send_start(at + 1, other);
    }

    // TO_ELEMENT

    const char** without_mark(Stage& stage, const char** attributes, const char*& value) {
        value = nullptr;
        stage.attributes.clear();
        for (; *attributes; attributes += 2) {
            if (stage.mark == attributes[0]) {
                value = attributes[1];
                continue;
            }
            stage.attributes.push_back(attributes[0]);
            stage.attributes.push_back(attributes[1]);
        }
        stage.attributes.push_back(nullptr);
        return stage.attributes.data();
    }

    void start_with_attribute(u32 at, const Tag& tag) {
        Stage& stage = stages_[at];
        if (!stage.pending.empty()) {
            Pending& last = stage.pending.back();
            if (last.depth || (tag.from_attribute && tag.origin == last.origin)) {
                ++last.depth;
            } else {
                flush(at);
                if (!stage.pending.empty()) ++stage.pending.back().depth;
            }
        }
        if (tag.node != stage.node) return send_start(at + 1, tag);
        const char* value;
        Tag other = tag;
        other.attributes = without_mark(stage, tag.attributes, value);
        if (value) {
            stage.pending.push_back(Pending{tag.origin, 0, value});
            inside_ |= bit(at);
        }
        send_start(at + 1, other);
    }

    void end_with_attribute(u32 at) {
        std::vector<Pending>& pending = stages_[at].pending;
        if (!pending.empty() && !pending.back().depth) flush(at);
        if (!pending.empty()) --pending.back().depth;
        send_end(at + 1);
    }

    void flush(u32 at) {
        Stage& stage = stages_[at];
        if (stage.pending.empty() || stage.pending.back().depth) return;
        const Pending last = std::move(stage.pending.back());
        stage.pending.pop_back();
        if (stage.pending.empty()) leave(at);
        make_element(at + 1, stage.other, last.origin, last.value.c_str());
    }

    // DOWNGRADE and EXCHANGE

    void downgrade(u32 at, Stage& stage) {
        if (stage.holder_ends.empty()) {
            if (stage.moved.empty()) return;
            make_start(at + 1, stage.other);
            replay(at, stage.moved, 0, stage.moved.size());
            return send_end(at + 1);
        }
        Sharing sharing;
        std::size_t from = 0;
        for (std::size_t i = 0; i < stage.holder_ends.size() && count_copy(i, stage.moved); ++i) {
            replay(at, stage.holders, from, stage.holder_ends[i] - 1);
            replay_copy(at, stage, sharing);
            send_end(at + 1);
            from = stage.holder_ends[i];
        }
    }

    void exchange(u32 at, Stage& stage) {
        if (stage.holder_ends.empty()) {
            make_start(at + 1, stage.other);
            replay(at, stage.moved, 0, stage.moved.size());
            return send_end(at + 1);
        }
        Sharing sharing;
        std::size_t from = 0;
        for (std::size_t i = 0; i < stage.holder_ends.size() && count_copy(i, stage.moved); ++i) {
            replay(at, stage.holders, from, from + 1);
            replay_copy(at, stage, sharing);
            replay(at, stage.holders, from + 1, stage.holder_ends[i]);
            from = stage.holder_ends[i];
        }
    }

    // Sends what is moved into a holder.  If no stage behind has a part in it, the sinks note for the first
    // holder what it gave, and are told to give the same to the others.
    void replay_copy(u32 at, Stage& stage, Sharing& sharing) {
        const std::size_t size = stage.moved.size();
        if (!shares_copies || sinks_.sees_all() || stage.holder_ends.size() < 2 || size < 3)
            return replay(at, stage.moved, 0, size);
        if (!sharing.is_known) look_at_copy(stage, sharing);
        if (next(at + 1, inside_ | sharing.begins) != count_) return replay(at, stage.moved, 0, size);
        if (sharing.number && sinks_.repeat_copy(sharing.number, sharing.text)) return;
        sharing.number = sinks_.begin_copy();
        replay(at, stage.moved, 0, size);
        sinks_.end_copy();
    }

    void look_at_copy(const Stage& stage, Sharing& sharing) {
        sharing.is_known = true;
        for (std::size_t i = 0; i < stage.moved.size(); ++i) {
            const Event& event = stage.moved[i];
            if (event.kind == START_EVENT && event.node != NONE) sharing.begins |= begins_[event.node];
            if (event.kind == TEXT_EVENT && event.first != NONE)
                sharing.text.append(stage.moved.at(event.first), event.second);
        }
    }

    // Counts what is copied beside its first place; false if it is too much.
    bool count_copy(std::size_t number, const Record& moved) {
        if (number == 0 || !moved.cost()) return !expanded_;
        copied_ = true;
        size_ += moved.cost() + unsent_text_;
        if (size_ > most_bytes_) expanded_ = true;
        return !expanded_;
    }

    void replay(u32 at, const Record& record, std::size_t from, std::size_t to) {
        Stage& stage = stages_[at];
        for (std::size_t i = from; i < to && !expanded_ && !sinks_.too_costly; ++i) {
            const Event& event = record[i];
            switch (event.kind) {
                case START_EVENT: send_start(at + 1, record.tag(event, tags, stage.replayed)); break;
                case END_EVENT: send_end(at + 1); break;
                case TEXT_EVENT: send_text(at + 1, record.text_of(event), event.second); break;
                case COMMENT_EVENT: send_comment(at + 1, record.at(event.first)); break;
                default: send_instruction(at + 1, record.at(event.first), record.at(event.second)); break;
            }
        }
    }

    const Plan& plan_;
    Sinks& sinks_;
    std::vector<u64> begins_;  // by node: the stages that begin at its elements
    std::vector<Stage> stages_;
    u32 count_ = 0;
    u64 inside_ = 0, always_ = 0;
    u64 size_ = 0, unsent_text_ = 0, most_bytes_ = 0, made_ = 0, held_ = 0, source_elements_ = 0;
    bool needs_content_ = false, copied_ = false, expanded_ = false;
};

}  // namespace twigcast
