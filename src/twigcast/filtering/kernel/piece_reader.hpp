// Reading a piece of a document: methods of the class Reader.
//
// The parser is given the declarations of the document and the start tags of the elements around the piece
// first, and the end tags of the elements that it leaves open last, so that it checks whether the piece fits
// there:
//
//   <?xml …?><a><b>  |  </b><c> … <?hole?> … <d>  |  <?hole?></d></c></a>
//
// At holes and at the end it is given an instruction; if that is reported, the place is between two nodes,
// and the text before is complete.  All of it is parsed at once, unless it is large: after each block but the
// last, expat counts the lines in it, and that took a fifth of the time.
#pragma once

#include "reader.hpp"

namespace twigcast {

// Parses a piece through all matchers; afterwards `sinks.recorder` has its partial.  The place of an error is
// in the body of the piece.
inline ReadError Reader::read_piece(const Piece& piece, u64* result, std::size_t words) {
    buffer_ = piece.opening;
    u64 at = 0;
    for (const PieceHole& hole : piece.holes) {
        buffer_.append(piece.body + at, hole.offset - at).append(piece.marker);
        at = hole.offset;
    }
    buffer_.append(piece.body + at, piece.length - at);
    if (!piece.ends) buffer_.append(piece.marker).append(piece.closing);
    sinks.piece = &piece;
    ReadError error = parse_anyhow(buffer_.data(), buffer_.size(), Answer{result, words});
    sinks.piece = nullptr;
    const bool is_whole =
        piece.ends ? parse_.holes == piece.holes.size() : parse_.ending == Ending::END_OF_PIECE;
    if (!error.code && !is_whole) error = ReadError{CUT_IN_MARKUP, 1, 0, buffer_.size()};
    tidy(buffer_.size());
    if (error.code) error.offset = offset_in(piece, error.offset);
    return error;
}

// To be called where the parser reports the instruction that stands for a hole or for the end of a piece.
inline void Reader::at_hole() {
    if (is_over()) return;
    if (parse_.in_doctype || sinks.recorder.entering()) return stop(CUT_IN_MARKUP);
    if (parse_.holes < sinks.piece->holes.size()) return sinks.hole(sinks.piece->holes[parse_.holes++]);
    sinks.finish();
    parse_.ending = Ending::END_OF_PIECE;
}

// Maps an offset in what was parsed to an offset in the body of the piece.
inline u64 Reader::offset_in(const Piece& piece, u64 offset) {
    offset -= std::min<u64>(offset, piece.opening.size());
    u64 markers = 0;
    for (const PieceHole& hole : piece.holes) {
        if (offset <= hole.offset + markers) break;
        markers = std::min<u64>(markers + piece.marker.size(), offset - hole.offset);
    }
    return std::min(offset - markers, piece.length);
}

}  // namespace twigcast
