// expat drives the matchers, through a rewriter if there is one; limits and errors are decided here.
//
//     read ─► the document as it is, or its transcription ─► parse: one attempt, or several ─► sinks
//
// A document is parsed without namespace processing first; at the first colon, xmlns or internal DTD subset
// the parse is started again with it (in practice at the root element, so hardly any work is lost).  All that
// an attempt knows is its Parse, so that nothing of an earlier one is left in the next.
#pragma once

#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "entities.hpp"
#include "mediation.hpp"
#include "reading.hpp"
#include "sinks.hpp"
#include "twigcast/document/kernel/expat_parser.hpp"

namespace twigcast {

class Reader {
  public:
    explicit Reader(u64 salt) : salt_(static_cast<unsigned long>(salt)) {}
    Reader(const Reader&) = delete;

    Limits limits;
    Sinks sinks;
    Encodings encodings;
    Mediation* mediation = nullptr;  // if documents are rewritten
    u64 block_bytes = 1 << 20;  // a document of more than 16 blocks is given to the parser block by block
    Figures figures;            // of the document that was read

    // Parses the document through all matchers; `result` must have room for all their positions, and is
    // cleared.
    ReadError read(const char* bytes, u64 length, u64* result, std::size_t words) {
        if (length > limits.bytes) return ReadError{TOO_LARGE, 1, 0, limits.bytes};
        if (length == 0) return ReadError{EMPTY_DOCUMENT, 1, 0, 0};
        const ReadError error = parse_anyhow(bytes, length, Answer{result, words});
        tidy(length);
        return error;
    }

    ReadError read_piece(const Piece& piece, u64* result, std::size_t words);  // piece_reader.hpp

    // Parses a document that was read before, and records its tree.
    ReadError record(const char* bytes, u64 length) {
        return read_without_matchers(bytes, length, true, nullptr);
    }

    // Parses a document for its structure alone.
    ReadError read_structure(const char* bytes, u64 length, StructureBuilder& structure) {
        return read_without_matchers(bytes, length, false, &structure);
    }

  private:
    static constexpr u64 LONGEST_CHARACTER = 3;  // in UTF-8, of one that is a byte in another encoding
    static constexpr u64 BLOCKS_OF_LARGE = 16, NO_SEAM = ~0ull;
    static constexpr u64 LONG_DOCUMENT = 1 << 14, PARSER_DOCUMENTS = 64;

    struct Answer {
        u64* bits;
        std::size_t words;
    };

    // What the parser is given, in all attempts.
    struct Given {
        const char* bytes;
        u64 length;
        bool is_transcribed;  // from another encoding, to UTF-8
        u64 seam = NO_SEAM;   // where a block must begin
    };

    // Why nothing that the parser reports counts any more.
    enum class Ending { NOT_YET, FAULT, NEEDS_NAMESPACES, END_OF_PIECE };

    // One attempt.
    struct Parse {
        ExpatParser* parser = nullptr;
        const char *bytes = nullptr, *end = nullptr;
        Ending ending = Ending::NOT_YET;
        bool with_namespaces = false, with_prefixes = false, wants_text = false;
        bool has_doctype = false, in_doctype = false;
        u32 depth = 0;
        u64 expanded = 0, most_expanded = 0;  // bytes of names and default values, with their namespaces
        std::size_t holes = 0;                // of the piece, so far
        ReadError fault;                      // why it ended, if that is why
        ReadError
            without_mapping;  // such a document is read to its end: if it is malformed, that is the error
        Rewriter* rewriter = nullptr;
        u64 beside = 0;            // the cost of comments and instructions before the root
        bool counts_text = false;  // for the rewriter, rather than estimating it
    };

    ReadError read_without_matchers(const char* bytes, u64 length, bool recording,
                                    StructureBuilder* structure) {
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

    // Expat keeps the tables of names that a document has filled, and clears them for every later one: a
    // parser that has read many names is slow for good.  A new parser costs as much as parsing 200 bytes.
    void tidy(u64 length) {
        if (length <= LONG_DOCUMENT && ++documents_ % PARSER_DOCUMENTS != 0) return;
        plain_.free();
        spaced_.free();
    }

    // A bad document is parsed again with namespace processing, so that the error does not depend on how far
    // the parse without it came; one in an encoding of several bytes per character is parsed as its
    // transcription in UTF-8.
    ReadError parse_anyhow(const char* bytes, u64 length, Answer answer) {
        Given given{bytes, length, false};
        multibyte_.clear();
        ReadError error = parse_counting(given, answer, false);
        if (!multibyte_.empty() && encodings.transcribe(multibyte_.c_str(), bytes, length, transcription_)) {
            given = Given{transcription_.data(), transcription_.size(), true};
            error = parse_counting(given, answer, false);
        }
        if (parse_.ending == Ending::NEEDS_NAMESPACES || (error.code && !is_own(error.code)))
            error = parse_counting(given, answer, true);
        if (given.is_transcribed && error.code)
            error.offset = encodings.locate(multibyte_.c_str(), bytes, length, transcription_, error.offset);
        if (transcription_.size() > LONG_DOCUMENT) std::string().swap(transcription_);
        return error;
    }

    // If the size of copies could only be estimated and that is too much, the document is parsed again to
    // count it.
    ReadError parse_counting(Given& given, Answer answer, bool with_namespaces) {
        const ReadError error = parse_with_seam(given, answer, with_namespaces);
        if (error.code != REWRITING_EXPANSION || parse_.counts_text) return error;
        parse_.rewriter->count_text();
        return parse_with_seam(given, answer, with_namespaces);
    }

    // Where a block ends in a word after the root element, expat does not look at the rest of the word, which
    // may have another error: then that word must begin a block.
    ReadError parse_with_seam(Given& given, Answer answer, bool with_namespaces) {
        const ReadError error = parse(given, answer, with_namespaces);
        if (error.code != XML_ERROR_JUNK_AFTER_DOC_ELEMENT || given.seam != NO_SEAM) return error;
        if (block_end_ == given.length || (given.bytes[error.offset] == '<' && !decoder_.is_wide()))
            return error;
        given.seam = error.offset;
        return parse(given, answer, with_namespaces);
    }

    ReadError parse(const Given& given, Answer answer, bool with_namespaces) {
        begin(given, with_namespaces);
        std::fill_n(answer.bits, answer.words, 0);
        const double most_work = std::min(limits.matching_work * static_cast<double>(given.length), 9e18);
        sinks.begin(answer.bits, given.length, parse_.with_prefixes,
                    std::max(limits.matching_work_threshold, static_cast<u64>(most_work)));
        if (mediation) mediation->begin();
        const XML_Status status = feed(given);
        if (parse_.ending == Ending::NEEDS_NAMESPACES) return ReadError{};
        if (parse_.ending == Ending::FAULT) return parse_.fault;
        if (status != XML_STATUS_OK) return here(static_cast<int>(XML_GetErrorCode(*parse_.parser)));
        if (parse_.without_mapping.code) return parse_.without_mapping;
        if (parse_.rewriter && parse_.rewriter->expanded()) return ReadError{REWRITING_EXPANSION, 1, 0, 0};
        if (parse_.ending == Ending::NOT_YET) sinks.finish();
        return ReadError{};
    }

    void begin(const Given& given, bool with_namespaces) {
        ExpatParser& parser = with_namespaces ? spaced_ : plain_;
        parser.begin(given.is_transcribed ? "UTF-8" : nullptr, with_namespaces);  // whatever is declared
        parse_ = Parse{};
        parse_.parser = &parser;
        parse_.bytes = given.bytes;
        parse_.end = given.bytes + given.length;
        parse_.with_namespaces = with_namespaces;
        parse_.with_prefixes = sinks.recording && sinks.tree->with_prefixes && with_namespaces;
        parse_.wants_text = sinks.needs_text() || (mediation && mediation->needs_content());
        const double most =
            std::min(static_cast<double>(limits.amplification) * static_cast<double>(given.length), 9e18);
        parse_.most_expanded = std::max(limits.amplification_threshold, static_cast<u64>(most));
        decoder_.begin(given.bytes, given.length);
        figures = Figures{};
        XML_SetHashSalt(parser, salt_);
        XML_SetUserData(parser, this);
        XML_SetReturnNSTriplet(parser, parse_.with_prefixes);
        XML_SetBillionLaughsAttackProtectionMaximumAmplification(parser, limits.amplification);
        XML_SetBillionLaughsAttackProtectionActivationThreshold(parser, limits.amplification_threshold);
        XML_SetElementHandler(parser, on_start, on_end);
        XML_SetProcessingInstructionHandler(parser, on_instruction);
        if (parse_.wants_text) XML_SetCharacterDataHandler(parser, on_text);
        if (parse_.wants_text || mediation) XML_SetCommentHandler(parser, on_comment);
        XML_SetExternalEntityRefHandler(parser, on_external);
        XML_SetSkippedEntityHandler(parser, on_skipped);
        XML_SetDoctypeDeclHandler(parser, on_doctype, on_doctype_end);
        XML_SetXmlDeclHandler(parser, on_declaration);
        XML_SetUnknownEncodingHandler(parser, on_encoding, this);
    }

    // Expat copies what it is given, so that a large document goes in blocks; in one call it would be in
    // memory once more. After each block but the last, expat counts its lines, which makes small documents
    // slower.
    XML_Status feed(const Given& given) {
        const bool is_large = given.length > BLOCKS_OF_LARGE * block_bytes;
        XML_Status status = XML_STATUS_OK;
        block_end_ = 0;
        while (block_end_ < given.length && status == XML_STATUS_OK) {
            const u64 at = block_end_;
            const u64 block = at == given.seam ? BLOCKS_OF_LARGE * block_bytes : block_bytes;
            const u64 most = at < given.seam ? std::min(given.seam, given.length) : given.length;
            const u64 size = is_large ? std::min(block, most - at) : given.length;
            block_end_ = at + size;
            status = parse_.parser->parse(given.bytes + at, size, block_end_ == given.length);
        }
        return status;
    }

    static u64 offset_in(const Piece& piece, u64 offset);  // piece_reader.hpp

    ReadError here(int code) const {
        const ExpatParser& parser = *parse_.parser;
        return ReadError{code, parser.line(), parser.column(), parser.offset()};
    }

    void stop(int code) {
        if (is_over()) return;
        parse_.ending = Ending::FAULT;
        parse_.fault = here(code);
        parse_.parser->stop();
    }

    void restart() {
        if (parse_.with_namespaces || is_over()) return;
        parse_.ending = Ending::NEEDS_NAMESPACES;
        parse_.parser->stop();
    }

    bool is_over() const { return parse_.ending != Ending::NOT_YET; }

    // Whether the event is none of the document's content.
    bool is_outside() const { return is_over() || parse_.in_doctype || parse_.without_mapping.code; }

    // What expat calls.  Expat is C, so nothing is done outside of the guard.

    template <class Handler>
    static void guarded(void* self, const Handler& handler) noexcept {
        Reader& reader = *static_cast<Reader*>(self);
        reader.parse_.parser->guard([&] { handler(reader); });
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
        guarded(self, [](Reader& reader) { reader.parse_.in_doctype = false; });
    }

    static void on_entity(void* self, const char* name, int parameter, const char* value, int length,
                          const char*, const char*, const char*, const char*) {
        const std::string_view text(value ? value : "", value ? static_cast<std::size_t>(length) : 0);
        guarded(self, [=](Reader& reader) { reader.declare_entity(name, parameter, text); });
    }

    static void on_attribute_default(void* self, const char*, const char*, const char*, const char* value,
                                     int) {
        guarded(self, [=](Reader& reader) {
            if (value && reader.refers_to_undeclared()) reader.stop(UNDECLARED_ENTITY);
        });
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

    // What the handlers do.

    void start(const char* name, const char** attributes) {
        if (is_over()) return;
        const std::size_t length = std::strlen(name);
        if (!parse_.with_namespaces && wants_namespaces(name, length, attributes)) return restart();
        if (++parse_.depth > limits.depth) return stop(TOO_DEEP);
        figures.elements += !(sinks.piece && sinks.recorder.entering());
        if (sinks.piece && parse_.has_doctype) sinks.recorder.in_entity = is_in_entity();
        figures.depth = std::max(figures.depth, parse_.depth);
        if (attributes[0]) {
            u32 count = 0;
            while (attributes[2 * count]) ++count;
            if (count > limits.attributes) return stop(TOO_MANY_ATTRIBUTES);
            figures.attributes = std::max(figures.attributes, count);
        }
        if (parse_.with_namespaces && expands_too_much(length, attributes)) return stop(EXPANSION);
        if (parse_.has_doctype && attributes[0] && refers_to_undeclared()) return stop(UNDECLARED_ENTITY);
        if (parse_.depth == 1 && mediation) choose_mapping(name, length);
        if (parse_.without_mapping.code) return;
        if (parse_.rewriter) parse_.rewriter->start(name, length, attributes);
        else sinks.start(name, length, hash_bytes(name, length), attributes);
        if (sinks.too_costly) stop(TOO_COSTLY);
    }

    void end() {
        if (is_over()) return;
        --parse_.depth;
        if (parse_.without_mapping.code) return;
        if (parse_.rewriter) parse_.rewriter->end();
        else sinks.end();
        if (sinks.too_costly) stop(TOO_COSTLY);
    }

    void text(const char* bytes, std::size_t length) {
        if (is_over() || parse_.without_mapping.code) return;
        if (parse_.rewriter) parse_.rewriter->text(bytes, length);
        else sinks.text(bytes, length);
    }

    void comment(const char* data) {
        if (is_outside()) return;
        if (parse_.rewriter && parse_.depth) return parse_.rewriter->comment(data);
        if (mediation) note_beside(std::strlen(data));
        sinks.comment(data);
    }

    void instruction(const char* target, const char* data) {
        if (sinks.piece && sinks.piece->marker_data == data) return at_hole();
        if (std::strchr(target, ':')) restart();  // namespace processing refuses it
        if ((!parse_.wants_text && !mediation) || is_outside()) return;
        if (parse_.rewriter && parse_.depth) return parse_.rewriter->instruction(target, data);
        if (mediation) note_beside(std::strlen(target) + std::strlen(data));
        sinks.instruction(target, data);
    }

    void at_hole();  // piece_reader.hpp

    void note_beside(u64 bytes) {
        if (parse_.rewriter) parse_.rewriter->beside(bytes);
        else parse_.beside += NODE_COST + bytes;
    }

    void begin_doctype(const char* name, int has_subset) {
        if (has_subset || std::strchr(name, ':')) restart();  // its names may have colons, too
        if (is_over()) return;
        parse_.has_doctype = parse_.in_doctype = true;
        entities_.clear();
        XML_SetEntityDeclHandler(*parse_.parser, on_entity);
        XML_SetAttlistDeclHandler(*parse_.parser, on_attribute_default);
    }

    void declare_entity(const char* name, int parameter, std::string_view text) {
        if (!parameter && !entities_.declare(name, text, limits.entity_depth)) stop(ENTITY_DEPTH);
    }

    int find_encoding(const char* name, XML_Encoding* info) {
        const int kind = encodings.table ? encodings.table(name, info->map) : Encodings::UNKNOWN;
        if (kind == Encodings::TRANSCRIBED && !decoder_.is_wide()) multibyte_ = name;
        if (kind != Encodings::TABLE) return XML_STATUS_ERROR;
        info->data = nullptr;
        info->convert = nullptr;
        info->release = nullptr;
        decoder_.declare(info->map);
        return XML_STATUS_OK;
    }

    void choose_mapping(const char* name, std::size_t length) {
        std::string_view plain(name, length);
        if (parse_.with_prefixes) plain = Rewriter::without_prefix(plain);
        parse_.rewriter = mediation->choose(plain);
        if (!parse_.rewriter && !mediation->takes_as_it_is()) parse_.without_mapping = here(NO_MAPPING);
        if (!parse_.rewriter) return;
        if (parse_.has_doctype &&
            !parse_.wants_text) {  // entities can make the text longer than the document
            parse_.wants_text = true;
            XML_SetCharacterDataHandler(*parse_.parser, on_text);
        }
        parse_.counts_text = parse_.wants_text;
        const u64 text =
            parse_.wants_text ? 0 : LONGEST_CHARACTER * static_cast<u64>(parse_.end - parse_.bytes);
        parse_.rewriter->begin(parse_.most_expanded, parse_.with_prefixes, parse_.beside, text);
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

    // Whether the event comes from the text of an entity; then its place is that of the reference.
    bool is_in_entity() const {
        const XML_Index index = XML_GetCurrentByteIndex(*parse_.parser);
        const char* at = parse_.bytes + index;
        return index >= 0 && at + 1 < parse_.end && (at[0] == '&' || (at[0] == 0 && at[1] == '&'));
    }

    // If a part of the DTD was not read, expat silently drops undeclared entities in attributes.  The event
    // is a start tag, the default value of an attribute, or the reference to the entity that has the start
    // tag.
    bool refers_to_undeclared() {
        const XML_Index index = XML_GetCurrentByteIndex(*parse_.parser);
        if (index < 0) return false;
        const char* bytes = parse_.bytes + index;
        const std::size_t length = decoder_.token_length(bytes, static_cast<std::size_t>(parse_.end - bytes));
        return std::memchr(bytes, '&', length) &&
               entities_.refers_to_undeclared(decoder_.utf8(bytes, length));
    }

    // A namespace stands in every name that is in it, a default value in every element: both may be long.
    bool expands_too_much(std::size_t length, const char** attributes) {
        parse_.expanded += length;
        for (; *attributes; attributes += 2) {
            parse_.expanded += std::strlen(attributes[0]);
            if (parse_.has_doctype) parse_.expanded += std::strlen(attributes[1]);
        }
        return parse_.expanded > parse_.most_expanded;
    }

    unsigned long salt_;
    ExpatParser plain_, spaced_;  // without and with namespace processing
    Parse parse_;                 // the last attempt
    u64 block_end_ = 0;           // of the last block that the parser was given
    Decoder decoder_;             // of the characters of this attempt
    EntityTable entities_;        // of this attempt, if there is a document type
    std::string multibyte_,
        transcription_;   // the encoding of the document, if it needs that; the document in UTF-8
    std::string buffer_;  // a piece, with what the parser is given before it, at its holes and after it
    u64 documents_ = 0;
};

}  // namespace twigcast

#include "piece_reader.hpp"
