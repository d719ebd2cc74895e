// expat drives the matchers, through a rewriter if there is one; limits and errors are decided here.
//
// A document is parsed without namespace processing first; at the first colon, xmlns or internal DTD subset the parse is
// started again with it (in practice at the root element, so hardly any work is lost).
#pragma once

#include "entities.hpp"
#include "mediation.hpp"
#include "twigcast/document/kernel/expat_parser.hpp"

namespace twigcast {

struct Limits {
    u64 bytes = 256ull << 20;
    u32 depth = 1000, attributes = 1000;
    float amplification = 100.0f;
    u64 amplification_threshold = 8ull << 20;
    u32 entity_depth = 64;
    double matching_work = 5000.0;  // steps per byte of the document, for all matchers together
    u64 matching_work_threshold = 1ull << 28;
};

// Beside expat's own codes (below 1000).
enum ErrorCode : int {
    TOO_LARGE = 1001,
    TOO_DEEP = 1002,
    TOO_MANY_ATTRIBUTES = 1003,
    UNDECLARED_ENTITY = 1004,
    EMPTY_DOCUMENT = 1005,
    ENTITY_DEPTH = 1006,
    EXPANSION = 1007,
    TOO_COSTLY = 1008,
    REWRITING_EXPANSION = 1009,
    NO_MAPPING = 1010,
    CUT_IN_MARKUP = 1011,
};

struct Figures {
    u64 elements = 0;
    u32 depth = 0, attributes = 0;  // the greatest depth, the most attributes of one element
};

struct ReadError {
    int code = 0;  // 0: none
    u64 line = 0, column = 0, offset = 0;  // as expat counts: lines from 1, columns from 0
};

// How documents are read in encodings that expat does not know.
struct Encodings {
    enum Kind { UNKNOWN, TABLE, TRANSCRIBED };
    int (*table)(const char* name, int* map) = nullptr;  // fills 256 code points (-1: no character); returns the kind
    bool (*transcribe)(const char* name, const char* bytes, u64 length, std::string& utf8) = nullptr;
    u64 (*locate)(const char* name, const char* bytes, u64 length, const std::string& utf8, u64 offset) = nullptr;
};

class Reader {
  public:
    explicit Reader(u64 salt) : salt_(static_cast<unsigned long>(salt)) {}
    Reader(const Reader&) = delete;

    Limits limits;
    Sinks sinks;
    Encodings encodings;
    Mediation* mediation = nullptr;  // if documents are rewritten
    u64 block_bytes = 1 << 20;       // a document of more than 16 blocks is given to the parser block by block
    Figures figures;                 // of the document that was read

    // Parses the document through all matchers; `result` must have room for all their positions, and is cleared.
    ReadError read(const char* bytes, u64 length, u64* result, std::size_t words) {
        if (length > limits.bytes) return ReadError{TOO_LARGE, 1, 0, limits.bytes};
        if (length == 0) return ReadError{EMPTY_DOCUMENT, 1, 0, 0};
        ReadError error = parse_anyhow(bytes, length, [&](bool spaced, const char* given, u64 size) {
            return parse_twice(spaced, given, size, result, words);
        });
        // Expat keeps the tables of names that a document has filled, and clears them for every later one: a parser that
        // has read many names is slow for good.  A new parser costs as much as parsing 200 bytes.
        if (length > LONG_DOCUMENT || ++documents_ % PARSER_DOCUMENTS == 0) free_parsers();
        return error;
    }

    ReadError read_piece(const Piece& piece, u64* result, std::size_t words);  // piece_reader.hpp

    // Parses a document that was read before, and records its tree.
    ReadError record(const char* bytes, u64 length) { return read_without_matchers(bytes, length, true, nullptr); }

    // Parses a document for its structure alone.
    ReadError read_structure(const char* bytes, u64 length, StructureBuilder& structure) {
        return read_without_matchers(bytes, length, false, &structure);
    }

  private:
    static constexpr u64 LONGEST_CHARACTER = 3;  // in UTF-8, of one that is a byte in another encoding
    static constexpr u64 BLOCKS_OF_LARGE = 16, NO_SEAM = ~0ull;
    static constexpr u64 LONG_DOCUMENT = 1 << 14, PARSER_DOCUMENTS = 64;

    ReadError read_without_matchers(const char* bytes, u64 length, bool recording, StructureBuilder* structure) {
        struct Exchange {  // of the sinks, for this document
            Sinks& sinks;
            bool recording;
            StructureBuilder* structure;
            std::vector<Matcher*> matchers;

            void swap() {
                std::swap(sinks.matchers, matchers);
                std::swap(sinks.recording, recording);
                std::swap(sinks.structure, structure);
            }
            ~Exchange() { swap(); }
        } exchange{sinks, recording, structure, {}};
        exchange.swap();
        return read(bytes, length, nullptr, 0);
    }

    void free_parsers() {
        plain_.free();
        spaced_.free();
    }

    // A bad document is parsed again with namespace processing, so that the error does not depend on how far the parse
    // without it came; one in an encoding of several bytes per character is parsed as its transcription in UTF-8.
    template <typename Parse>
    ReadError parse_anyhow(const char* bytes, u64 length, Parse parse) {
        const char* given = bytes;
        u64 size = length;
        restart_ = is_transcribed_ = false;
        seam_ = NO_SEAM;
        transcribed_.clear();
        ReadError error = parse(false, given, size);
        if (!transcribed_.empty() && encodings.transcribe(transcribed_.c_str(), bytes, length, transcription_)) {
            is_transcribed_ = true;
            seam_ = NO_SEAM;
            given = transcription_.data();
            size = transcription_.size();
            error = parse(false, given, size);
        }
        if (restart_ || (error.code && error.code < TOO_LARGE)) error = parse(true, given, size);
        if (is_transcribed_ && error.code)
            error.offset = encodings.locate(transcribed_.c_str(), bytes, length, transcription_, error.offset);
        if (transcription_.size() > LONG_DOCUMENT) std::string().swap(transcription_);
        return error;
    }

    // If the size of copies could only be estimated and that is too much, the document is parsed again to count it.
    ReadError parse_twice(bool spaced, const char* bytes, u64 length, u64* result, std::size_t words) {
        const ReadError error = parse(spaced, bytes, length, result, words);
        if (error.code != REWRITING_EXPANSION || counted_text_) return error;
        rewriter_->count_text();
        return parse(spaced, bytes, length, result, words);
    }

    ReadError parse(bool spaced, const char* bytes, u64 length, u64* result, std::size_t words) {
        ExpatParser& parser = spaced ? spaced_ : plain_;
        parser.begin(is_transcribed_ ? "UTF-8" : nullptr, spaced);  // whatever is declared
        parser_ = &parser;
        spaced_mode_ = spaced;
        restart_ = false;
        own_error_ = 0;
        beyond_piece_ = false;
        holes_ = 0;
        depth_ = 0;
        figures = Figures{};
        XML_SetHashSalt(parser, salt_);
        XML_SetUserData(parser, this);
        XML_SetElementHandler(parser, on_start, on_end);
        XML_SetProcessingInstructionHandler(parser, on_instruction);
        wants_text_ = sinks.needs_text() || (mediation && mediation->needs_content());
        if (wants_text_) XML_SetCharacterDataHandler(parser, on_text);
        if (wants_text_ || mediation) XML_SetCommentHandler(parser, on_comment);
        XML_SetExternalEntityRefHandler(parser, on_external);
        XML_SetSkippedEntityHandler(parser, on_skipped);
        XML_SetDoctypeDeclHandler(parser, on_doctype, on_doctype_end);
        XML_SetXmlDeclHandler(parser, on_declaration);
        has_doctype_ = false;
        sinks.recorder.in_entity = false;
        bytes_ = bytes;
        bytes_end_ = bytes + length;
        expanded_ = 0;
        const double most = std::min(static_cast<double>(limits.amplification) * static_cast<double>(length), 9e18);
        most_expanded_ = std::max(limits.amplification_threshold, static_cast<u64>(most));
        decoder_.begin(bytes, length);
        XML_SetUnknownEncodingHandler(parser, on_encoding, this);
        XML_SetBillionLaughsAttackProtectionMaximumAmplification(parser, limits.amplification);
        XML_SetBillionLaughsAttackProtectionActivationThreshold(parser, limits.amplification_threshold);
        in_doctype_ = false;
        with_prefixes_ = sinks.recording && sinks.tree->with_prefixes && spaced;
        XML_SetReturnNSTriplet(parser, with_prefixes_);
        std::fill_n(result, words, 0);
        const double most_work = std::min(limits.matching_work * static_cast<double>(length), 9e18);
        sinks.begin(result, length, with_prefixes_, std::max(limits.matching_work_threshold, static_cast<u64>(most_work)));
        rewriter_ = nullptr;
        without_mapping_ = ReadError{};
        beside_ = 0;
        if (mediation) mediation->begin();

        // Expat copies what it is given, so that a large document goes in blocks; in one call it would be in memory once
        // more.  After each block but the last, expat counts its lines, which makes small documents slower.
        const bool is_large = length > BLOCKS_OF_LARGE * block_bytes;
        XML_Status status = XML_STATUS_OK;
        u64 at = 0;
        while (at < length && status == XML_STATUS_OK) {
            const u64 block = at == seam_ ? BLOCKS_OF_LARGE * block_bytes : block_bytes;
            const u64 most = at < seam_ ? std::min(seam_, length) : length;
            const u64 size = is_large ? std::min(block, most - at) : length;
            status = parser.parse(bytes + at, size, at + size == length);
            at += size;
        }
        if (restart_) return ReadError{};
        if (own_error_) return stopped_;
        if (status != XML_STATUS_OK) {
            const ReadError error = here(static_cast<int>(XML_GetErrorCode(parser)));
            if (error.code != XML_ERROR_JUNK_AFTER_DOC_ELEMENT || at == length || seam_ != NO_SEAM ||
                (bytes[error.offset] == '<' && !decoder_.is_wide()))
                return error;
            // Where a block ends in a word after the root element, expat does not look at the rest of the word, which
            // may have another error: that word must begin a block.
            seam_ = error.offset;
            return parse(spaced, bytes, length, result, words);
        }
        if (without_mapping_.code) return without_mapping_;
        if (rewriter_ && rewriter_->expanded()) return ReadError{REWRITING_EXPANSION, 1, 0, 0};
        if (!beyond_piece_) sinks.finish();
        return ReadError{};
    }

    void at_hole();  // piece_reader.hpp
    static u64 offset_in(const Piece& piece, u64 offset);

    ReadError here(int code) const {
        return ReadError{code, parser_->line(), parser_->column(), parser_->offset()};
    }

    void stop(int code) {
        if (own_error_) return;
        own_error_ = code;
        stopped_ = here(code);
        parser_->stop();
    }

    bool wants_namespaces(const char* name, std::size_t length, const char** attributes) const {
        if (std::memchr(name, ':', length)) return true;
        for (const char** attribute = attributes; *attribute; attribute += 2) {
            const char* at = *attribute;
            if (at[0] == 'x' && std::strncmp(at, "xmlns", 5) == 0) return true;
            if (std::strchr(at, ':')) return true;
        }
        return false;
    }

    // What expat calls.  Expat is C, so nothing is done outside of the guard.

    template <class Handler>
    static void guarded(void* self, const Handler& handler) noexcept {
        Reader& reader = *static_cast<Reader*>(self);
        reader.parser_->guard([&] { handler(reader); });
    }

    static void on_start(void* self, const char* name, const char** attributes) {
        guarded(self, [=](Reader& reader) { reader.start(name, attributes); });
    }

    static void on_end(void* self, const char*) {
        guarded(self, [](Reader& reader) { reader.end(); });
    }

    static void on_text(void* self, const char* bytes, int length) {
        guarded(self, [=](Reader& reader) { reader.text(bytes, static_cast<std::size_t>(length)); });
    }

    static void on_comment(void* self, const char* data) {
        guarded(self, [=](Reader& reader) { reader.comment(data); });
    }

    static void on_instruction(void* self, const char* target, const char* data) {
        guarded(self, [=](Reader& reader) { reader.instruction(target, data); });
    }

    static void on_doctype(void* self, const char* name, const char*, const char*, int has_subset) {
        guarded(self, [=](Reader& reader) { reader.begin_doctype(name, has_subset); });
    }

    static void on_doctype_end(void* self) {
        guarded(self, [](Reader& reader) { reader.in_doctype_ = false; });
    }

    static void on_entity(void* self, const char* name, int parameter, const char* value, int length, const char*,
                          const char*, const char*, const char*) {
        const std::string_view text(value ? value : "", value ? static_cast<std::size_t>(length) : 0);
        guarded(self, [=](Reader& reader) { reader.declare_entity(name, parameter, text); });
    }

    static void on_attribute_default(void* self, const char*, const char*, const char*, const char* value, int) {
        guarded(self, [=](Reader& reader) { reader.check_default(value); });
    }

    static void on_declaration(void* self, const char*, const char* encoding, int) {
        guarded(self, [=](Reader& reader) {
            if (encoding) reader.decoder_.declare(std::string_view(encoding));
        });
    }

    static void on_skipped(void* self, const char*, int parameter) {
        guarded(self, [=](Reader& reader) {
            if (!parameter) reader.stop(UNDECLARED_ENTITY);
        });
    }

    static int on_external(XML_Parser, const char*, const char*, const char*, const char*) {
        return XML_STATUS_ERROR;  // nothing external is ever fetched
    }

    static int on_encoding(void* self, const char* name, XML_Encoding* info) {
        int status = XML_STATUS_ERROR;
        guarded(self, [&](Reader& reader) { status = reader.find_encoding(name, info); });
        return status;
    }

    void start(const char* name, const char** attributes) {
        if (is_over()) return;
        std::size_t length = std::strlen(name);
        if (!spaced_mode_ && wants_namespaces(name, length, attributes)) {
            return restart();
        }
        if (++depth_ > limits.depth) return stop(TOO_DEEP);
        figures.elements += !(sinks.piece && sinks.recorder.entering());
        if (sinks.piece && has_doctype_) sinks.recorder.in_entity = is_in_entity();
        figures.depth = std::max(figures.depth, depth_);
        if (attributes[0]) {
            u32 count = 0;
            while (attributes[2 * count]) ++count;
            if (count > limits.attributes) return stop(TOO_MANY_ATTRIBUTES);
            figures.attributes = std::max(figures.attributes, count);
        }
        if (spaced_mode_ && expands_too_much(length, attributes)) return stop(EXPANSION);
        if (has_doctype_ && attributes[0] && refers_to_undeclared())
            return stop(UNDECLARED_ENTITY);
        if (depth_ == 1 && mediation) choose_mapping(name, length);
        if (without_mapping_.code) return;
        if (rewriter_) rewriter_->start(name, length, attributes);
        else sinks.start(name, length, hash_bytes(name, length), attributes);
        if (sinks.too_costly) stop(TOO_COSTLY);
    }

    // Whether the event comes from the text of an entity; then its place is that of the reference.
    bool is_in_entity() const {
        const XML_Index at = XML_GetCurrentByteIndex(*parser_);
        return at >= 0 && bytes_ + at + 1 < bytes_end_ && (bytes_[at] == '&' || (bytes_[at] == 0 && bytes_[at + 1] == '&'));
    }

    // A document without a mapping is read to its end: if it is malformed, that is the error.
    void choose_mapping(const char* name, std::size_t length) {
        std::string_view plain(name, length);
        if (with_prefixes_) plain = Rewriter::without_prefix(plain);
        rewriter_ = mediation->choose(plain);
        if (!rewriter_ && !mediation->takes_as_it_is()) without_mapping_ = here(NO_MAPPING);
        if (!rewriter_) return;
        if (has_doctype_ && !wants_text_) {  // entities can make the text longer than the document
            wants_text_ = true;
            XML_SetCharacterDataHandler(*parser_, on_text);
        }
        counted_text_ = wants_text_;
        const u64 text = wants_text_ ? 0 : LONGEST_CHARACTER * static_cast<u64>(bytes_end_ - bytes_);
        rewriter_->begin(most_expanded_, with_prefixes_, beside_, text);
    }

    void end() {
        if (is_over()) return;
        --depth_;
        if (without_mapping_.code) return;
        if (rewriter_) rewriter_->end();
        else sinks.end();
        if (sinks.too_costly) stop(TOO_COSTLY);
    }

    void text(const char* bytes, std::size_t length) {
        if (is_over() || without_mapping_.code) return;
        if (rewriter_) rewriter_->text(bytes, length);
        else sinks.text(bytes, length);
    }

    void comment(const char* data) {
        if (is_outside()) return;
        if (rewriter_ && depth_) return rewriter_->comment(data);
        if (mediation) note_beside(std::strlen(data));
        sinks.comment(data);
    }

    void instruction(const char* target, const char* data) {
        if (sinks.piece && sinks.piece->marker_data == data) return at_hole();
        if (std::strchr(target, ':')) restart();  // namespace processing refuses it
        if ((!wants_text_ && !mediation) || is_outside()) return;
        if (rewriter_ && depth_) return rewriter_->instruction(target, data);
        if (mediation) note_beside(std::strlen(target) + std::strlen(data));
        sinks.instruction(target, data);
    }

    // Whether the event is none of the document's content.
    bool is_outside() const { return is_over() || in_doctype_ || without_mapping_.code; }

    // Whether nothing that the parser reports counts any more.
    bool is_over() const { return own_error_ || restart_ || beyond_piece_; }

    void note_beside(u64 bytes) {
        if (rewriter_) rewriter_->beside(bytes);
        else beside_ += NODE_COST + bytes;
    }

    void begin_doctype(const char* name, int has_subset) {
        if (has_subset || std::strchr(name, ':')) restart();  // its names may have colons, too
        if (restart_) return;
        has_doctype_ = in_doctype_ = true;
        entities_.clear();
        XML_SetEntityDeclHandler(*parser_, on_entity);
        XML_SetAttlistDeclHandler(*parser_, on_attribute_default);
    }

    void declare_entity(const char* name, int parameter, std::string_view text) {
        if (!parameter && !entities_.declare(name, text, limits.entity_depth)) stop(ENTITY_DEPTH);
    }

    void check_default(const char* value) {
        if (value && refers_to_undeclared()) stop(UNDECLARED_ENTITY);
    }

    // If a part of the DTD was not read, expat silently drops undeclared entities in attributes.  The event is a start
    // tag, the default value of an attribute, or the reference to the entity that has the start tag.
    bool refers_to_undeclared() {
        XML_Index from = XML_GetCurrentByteIndex(*parser_);
        if (from < 0) return false;
        const char* bytes = bytes_ + from;
        std::size_t length = decoder_.token_length(bytes, static_cast<std::size_t>(bytes_end_ - bytes));
        return std::memchr(bytes, '&', length) && entities_.refers_to_undeclared(decoder_.utf8(bytes, length));
    }

    // A namespace stands in every name that is in it, a default value in every element: both may be long.
    bool expands_too_much(std::size_t length, const char** attributes) {
        expanded_ += length;
        for (; *attributes; attributes += 2) {
            expanded_ += std::strlen(attributes[0]);
            if (has_doctype_) expanded_ += std::strlen(attributes[1]);
        }
        return expanded_ > most_expanded_;
    }

    void restart() {
        if (spaced_mode_ || own_error_ || restart_) return;
        restart_ = true;
        parser_->stop();
    }

    int find_encoding(const char* name, XML_Encoding* info) {
        const int kind = encodings.table ? encodings.table(name, info->map) : Encodings::UNKNOWN;
        if (kind == Encodings::TRANSCRIBED && !decoder_.is_wide()) transcribed_ = name;
        if (kind != Encodings::TABLE) return XML_STATUS_ERROR;
        info->data = nullptr;
        info->convert = nullptr;
        info->release = nullptr;
        decoder_.declare(info->map);
        return XML_STATUS_OK;
    }

    ExpatParser plain_, spaced_, *parser_ = nullptr;  // without and with namespaces, and the one that parses
    unsigned long salt_;
    u32 depth_ = 0;
    int own_error_ = 0;
    ReadError stopped_;
    bool spaced_mode_ = false, restart_ = false, has_doctype_ = false, wants_text_ = false;
    bool in_doctype_ = false, with_prefixes_ = false, counted_text_ = false;
    bool beyond_piece_ = false;  // the piece that is read is over
    std::size_t holes_ = 0;      // of the piece, so far
    bool is_transcribed_ = false;
    std::string transcribed_, transcription_;  // the encoding, and the document in UTF-8
    u64 seam_ = NO_SEAM;         // where a block must begin
    std::string buffer_;         // a piece, with what the parser is given before it, at its holes and after it
    Rewriter* rewriter_ = nullptr;  // of this document
    ReadError without_mapping_;
    u64 beside_ = 0;  // the cost of comments and instructions before the root
    const char *bytes_ = nullptr, *bytes_end_ = nullptr;
    u64 documents_ = 0;
    u64 expanded_ = 0, most_expanded_ = 0;  // bytes of names and default values, with their namespaces
    Decoder decoder_;
    EntityTable entities_;  // if there is a document type
};

}  // namespace twigcast

#include "piece_reader.hpp"
