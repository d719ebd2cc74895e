// Reading a piece of a document: methods of the class Reader.
//
// The parser is given the declarations of the document and the start tags of the elements around the piece first, so that
// it checks whether the piece fits there.  It need not see the end of these elements: a document is ended only in the piece
// that has its end.
#pragma once

#include "reader.hpp"

namespace twigcast {

// Parses a piece of a document through all matchers; afterwards `sinks.recorder` has its partial.  The place of an
// error is in the body of the piece.
inline ReadError Reader::read_piece(const Piece& piece, u64* result, std::size_t words) {
    buffer_ = piece.opening;
    u64 at = 0;
    for (const PieceHole& hole : piece.holes) {
        buffer_.append(piece.body + at, hole.offset - at).append(piece.marker);
        at = hole.offset;
    }
    buffer_.append(piece.body + at, piece.length - at);
    if (!piece.ends && (piece.holes.empty() || at < piece.length)) buffer_.append(piece.marker);
    sinks.piece = &piece;
    restart_ = false;
    ReadError error = parse(false, buffer_.data(), buffer_.size(), result, words);
    if (restart_ || (error.code && error.code < TOO_LARGE))
        error = parse(true, buffer_.data(), buffer_.size(), result, words);
    sinks.piece = nullptr;
    if (buffer_.size() > LONG_DOCUMENT || ++documents_ % PARSER_DOCUMENTS == 0) free_parsers();
    if (error.code) error.offset = offset_in(piece, error.offset);
    return error;
}

// At a hole an instruction is fed, which the parser must report before it goes on: then the text before the hole is
// complete, and the hole is between two nodes.
inline XML_Status Reader::feed_piece(const Piece& piece, const char* bytes) {
    XML_Status status = feed(bytes, piece.opening.size(), false);
    bytes += piece.opening.size();
    u64 at = 0;
    auto to = [&](u64 offset, const PieceHole* hole) {
        if (status != XML_STATUS_OK) return;
        status = feed(bytes, offset - at, false);
        bytes += offset - at;
        at = offset;
        if (status != XML_STATUS_OK) return;
        awaiting_ = true;
        status = feed(bytes, piece.marker.size(), false);
        bytes += piece.marker.size();
        if (status != XML_STATUS_OK) return;
        if (awaiting_) {
            stop(CUT_IN_MARKUP);
            status = XML_STATUS_ERROR;
        } else if (hole) {
            sinks.hole(*hole);
        }
    };
    for (const PieceHole& hole : piece.holes) to(hole.offset, &hole);
    if (status == XML_STATUS_OK && piece.ends) {
        status = feed(bytes, piece.length - at, true);
        if (piece.length == at) status = XML_Parse(parser_, "", 0, true);
    } else if (piece.holes.empty() || at < piece.length) {
        to(piece.length, nullptr);
    }
    awaiting_ = false;
    return status;
}

// Maps an offset in what was fed to an offset in the body of the piece.
inline u64 Reader::offset_in(const Piece& piece, u64 offset) {
    offset -= std::min<u64>(offset, piece.opening.size());
    u64 markers = 0;
    for (const PieceHole& hole : piece.holes) {
        if (offset < hole.offset + markers + piece.marker.size()) return std::min(offset - std::min(offset, markers), hole.offset);
        markers += piece.marker.size();
    }
    return std::min(offset - markers, piece.length);
}

}  // namespace twigcast
