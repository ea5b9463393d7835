// Where words begin and end.
//
// The boundaries are those of Unicode Standard Annex 29 on ASCII text, exactly (so they are
// flashtext2's): letters, digits and underscores stick together; . ' : join two letters; . ' , ;
// join two digits; a run of blanks and CR LF are one piece; all else stands alone. Beyond ASCII the
// annex's classes of characters are used, made from its table by tools/make_word_classes.py, but
// not all of its rules: a quotation mark between Hebrew letters, Katakana beside other letters,
// joined emoji and blanks other than U+0020 get none of their own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace ietest::text {

// A piece of text between two boundaries.
struct Segment {
    std::size_t end;
    bool is_word;  // begins with a letter, a digit or an underscore
};
// The segment that begins at `begin`, which must be a boundary of `text` and before its end.
// Ill-formed UTF-8 is taken byte by byte, each byte a piece of its own.
Segment next_segment(std::string_view text, std::size_t begin);

// Of the table of classes, such as "16.0.0".
std::string_view unicode_version();

// True for letters, digits, underscores and what belongs to the character before (accents).
bool is_word_character(std::uint32_t code);

}  // namespace ietest::text
