// Where words begin and end.
//
// The boundaries are those of Unicode Standard Annex 29 on ASCII text, exactly (so they are
// flashtext2's): letters, digits and underscores stick together; . ' : join two letters; . ' , ;
// join two digits; a run of blanks and CR LF are one piece; all else stands alone. Beyond ASCII a
// short list of ranges replaces the annex's tables: see class_of() in the source.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "ietest/text/string_column.hpp"

namespace ietest::text {

// What the sweeps over a text are compiled for. All give the same.
enum class Instructions { portable, sse2, avx2, avx512 };

// The best that this processor (and this build) can do.
Instructions best_instructions();
bool is_available(Instructions instructions);

// One bit a byte. letter, digit and word hold ASCII characters only.
struct BlockMasks {
    std::uint64_t letter = 0;
    std::uint64_t digit = 0;
    std::uint64_t word = 0;  // letters, digits, underscores
    std::uint64_t joins_letters = 0;
    std::uint64_t joins_digits = 0;
    std::uint64_t beyond_ascii = 0;
};

// Classifies 64 readable bytes.
using ClassifyBlock = void (*)(const char* bytes, BlockMasks* masks);
ClassifyBlock classifier(Instructions instructions);

// A piece of text between two boundaries.
struct Segment {
    std::size_t end;
    bool is_word;  // begins with a letter, a digit or an underscore
};
// The segment that begins at `begin`, which must be a boundary of `text` and before its end.
// Ill-formed UTF-8 is taken byte by byte, each byte a piece of its own.
Segment next_segment(std::string_view text, std::size_t begin);

// True for letters, digits, underscores and what belongs to the character before (accents).
bool is_word_character(std::uint32_t code);

// The words of consecutive rows that lie one behind the other in memory.
class WordScanner {
  public:
    explicit WordScanner(Instructions instructions)
        : classify_(classifier(instructions)), instructions_(instructions) {}

    // text: the rows' bytes; row_begins: where each row begins in it, then where the last ends.
    // Sets begins() and ends(), n_words() of each, in order; no word crosses a row.
    void scan(std::string_view text, const std::vector<std::uint32_t>& row_begins);
    // After scan(): puts the pieces that begin with certain ASCII characters, none of them a word's
    // or white space, among the words.
    void add_pieces(std::string_view text, const std::array<bool, 128>& first_characters);
    // The same for every piece, words or not. Slow: for tables with keys that begin outside words.
    void scan_all(std::string_view text, const std::vector<std::uint32_t>& row_begins);

    // True where a row begins; at up to the length of the text.
    bool row_begins_at(std::size_t at) const {
        return ((row_begin_bits_[at >> 6] >> (at & 63)) & 1) != 0;
    }

    // Where the row ends that holds the character at `at`.
    std::size_t row_end_after(std::size_t at) const {
        std::size_t block = (at + 1) >> 6;
        std::uint64_t bits = row_begin_bits_[block] & (~std::uint64_t{0} << ((at + 1) & 63));
        while (bits == 0) bits = row_begin_bits_[++block];
        return 64 * block + static_cast<std::size_t>(std::countr_zero(bits));
    }

    std::size_t n_words() const { return n_words_; }
    const std::uint32_t* begins() const { return begins_.as<std::uint32_t>(); }
    const std::uint32_t* ends() const { return ends_.as<std::uint32_t>(); }

  private:
    void make_room(std::size_t n_bytes);
    void mark_rows(std::string_view text, const std::vector<std::uint32_t>& row_begins);
    void mark_words(std::string_view text);
    void mark_row_by_code_points(std::string_view text, std::size_t begin, std::size_t end);

    ClassifyBlock classify_;
    Instructions instructions_;
    std::vector<std::uint64_t> is_word_;
    std::vector<std::uint64_t> row_begin_bits_;
    std::vector<std::uint64_t> beyond_ascii_;
    Buffer begins_;
    Buffer ends_;
    Buffer more_begins_;
    Buffer more_ends_;
    std::size_t n_words_ = 0;
};

}  // namespace ietest::text
