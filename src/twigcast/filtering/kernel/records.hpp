// Parts of a document that an operator keeps until it knows where they belong: the papers' cached trees.
//
// A record is a list of events in document order and one block of bytes with their names, values and texts;
// it is cleared and not freed.  Several subtrees can stand one behind the other.
#pragma once

#include "plan.hpp"

namespace twigcast {

enum EventKind : u32 { START_EVENT, END_EVENT, TEXT_EVENT, COMMENT_EVENT, INSTRUCTION_EVENT };

struct Event {
    u32 kind, node, origin;  // origin: twice its number, one more if the tag was an attribute
    u32 first, second;       // offsets into the bytes, see the methods of Record
};

constexpr u64 NODE_COST = 32;  // of an element, comment or instruction, toward the limit of copies

inline u64 cost_of(const char** attributes) {
    u64 cost = NODE_COST;
    for (; *attributes; attributes += 2) cost += std::strlen(attributes[1]);
    return cost;
}

class Record {
  public:
    void start(const Tag& tag) {
        Event event{START_EVENT, tag.node, tag.origin << 1 | u32(tag.from_attribute), NONE, NONE};
        if (!tag.named) {
            event.first = static_cast<u32>(bytes_.size());
            append(&tag.hash, sizeof tag.hash);
            append(&tag.length, sizeof tag.length);
            append(tag.name, tag.length + 1);
        }
        content_ += tag.length;
        if (*tag.attributes) {
            event.second = static_cast<u32>(bytes_.size());
            u32 count = 0;
            append(&count, sizeof count);
            for (const char** at = tag.attributes; *at; ++at, ++count) append(*at, std::strlen(*at) + 1);
            std::memcpy(&bytes_[event.second], &count, sizeof count);
            content_ += bytes_.size() - event.second - 4 - count;
        }
        cost_ += cost_of(tag.attributes);
        events_.push_back(event);
    }

    void end() { events_.push_back(Event{END_EVENT, NONE, 0, 0, 0}); }

    // Text that nobody reads is null: its length counts, and that it is there.
    void text(const char* text, std::size_t length) {
        cost_ += length;
        const u32 at = text ? static_cast<u32>(bytes_.size()) : NONE;
        if (text) {
            append(text, length);
            content_ += length;
        }
        if (joins(text)) events_.back().second += static_cast<u32>(length);
        else events_.push_back(Event{TEXT_EVENT, NONE, 0, at, static_cast<u32>(length)});
    }

    void comment(const char* data) { events_.push_back(Event{COMMENT_EVENT, NONE, 0, add(data), 0}); }

    void instruction(const char* target, const char* data) {
        cost_ += std::strlen(target);
        const u32 first = add_string(target);
        events_.push_back(Event{INSTRUCTION_EVENT, NONE, 0, first, add(data)});
    }

    void clear() {
        if (bytes_.capacity() > KEPT) std::string().swap(bytes_);
        if (bytes_of(events_) > KEPT) release(events_);
        events_.clear();
        bytes_.clear();
        cost_ = content_ = 0;
    }

    bool empty() const { return events_.empty(); }
    std::size_t size() const { return events_.size(); }
    u64 cost() const { return cost_; }
    u64 content() const { return content_; }  // bytes of names, attributes and text
    bool full() const { return bytes_.size() > FULL; }
    std::size_t bytes() const { return bytes_.capacity() + bytes_of(events_); }

    const Event& operator[](std::size_t number) const { return events_[number]; }
    const char* at(u32 offset) const { return bytes_.data() + offset; }
    const char* text_of(const Event& event) const { return event.first == NONE ? nullptr : at(event.first); }

    // The tag of a start event; `room` keeps its attributes, and `tags` has the names of the plan.
    Tag tag(const Event& event, const std::vector<Tag>& tags, std::vector<const char*>& room) const {
        Tag tag;
        if (event.first == NONE) {
            tag = tags[event.node];
        } else {
            std::memcpy(&tag.hash, at(event.first), sizeof tag.hash);
            std::memcpy(&tag.length, at(event.first) + sizeof tag.hash, sizeof tag.length);
            tag.name = at(event.first) + sizeof tag.hash + sizeof tag.length;
            tag.node = event.node;
        }
        tag.origin = event.origin >> 1;
        tag.from_attribute = event.origin & 1;
        tag.attributes = no_attributes;
        if (event.second == NONE) return tag;
        u32 count;
        std::memcpy(&count, at(event.second), sizeof count);
        const char* next = at(event.second) + sizeof count;
        room.clear();
        for (; count; --count) {
            room.push_back(next);
            next += std::strlen(next) + 1;
        }
        room.push_back(nullptr);
        tag.attributes = room.data();
        return tag;
    }

  private:
    static constexpr std::size_t KEPT = 1 << 20, FULL = 1u << 31;

    bool joins(const char* text) const {
        if (events_.empty() || events_.back().kind != TEXT_EVENT) return false;
        return (events_.back().first == NONE) == (text == nullptr);
    }

    void append(const void* data, std::size_t length) {
        bytes_.append(static_cast<const char*>(data), length);
    }

    u32 add_string(const char* text) {
        const u32 at = static_cast<u32>(bytes_.size());
        append(text, std::strlen(text) + 1);
        return at;
    }

    u32 add(const char* data) {
        const std::size_t length = std::strlen(data);
        cost_ += NODE_COST + length;
        content_ += length;
        return add_string(data);
    }

    std::vector<Event> events_;
    std::string bytes_;
    u64 cost_ = 0, content_ = 0;
};

}  // namespace twigcast
