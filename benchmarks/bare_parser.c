// A parse with handlers that do nothing: the baseline of every ratio in the benchmarks.
//
// Each document is given to expat block by block; expat counts lines once more for each block that is not the
// last.
#include <expat.h>
#include <stddef.h>
#include <stdint.h>

static void on_start(void* self, const char* name, const char** attributes) {
    (void)self, (void)name, (void)attributes;
}

static void on_end(void* self, const char* name) { (void)self, (void)name; }

static void on_text(void* self, const char* bytes, int length) { (void)self, (void)bytes, (void)length; }

void* make_parser(void) { return XML_ParserCreate(NULL); }

void free_parser(void* parser) { XML_ParserFree(parser); }

static int is_well_formed(XML_Parser parser, uint64_t salt, const char* bytes, int64_t length,
                          int64_t block) {
    XML_ParserReset(parser, NULL);
    XML_SetHashSalt(parser, salt);
    XML_SetElementHandler(parser, on_start, on_end);
    XML_SetCharacterDataHandler(parser, on_text);
    for (; length > block; bytes += block, length -= block)
        if (XML_Parse(parser, bytes, (int)block, 0) != XML_STATUS_OK) return 0;
    return XML_Parse(parser, bytes, (int)length, 1) == XML_STATUS_OK;
}

// How many of the documents from starts[i] to ends[i] are well-formed.
uint64_t parse_batch(void* parser, uint64_t salt, const int64_t* starts, const int64_t* ends, size_t count,
                     const char* bytes, int64_t block) {
    uint64_t good = 0;
    for (size_t i = 0; i < count; ++i)
        good += is_well_formed(parser, salt, bytes + starts[i], ends[i] - starts[i], block);
    return good;
}
