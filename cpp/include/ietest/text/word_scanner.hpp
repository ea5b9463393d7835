// Finding the words of a text, 64 bytes at a time.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "ietest/cpu.hpp"
#include "ietest/text/string_column.hpp"
#include "ietest/text/word_boundaries.hpp"

namespace ietest::text {

// The words of consecutive rows that lie one behind the other in memory.
class WordScanner {
  public:
    // Throws std::invalid_argument if this machine lacks the instruction set.
    explicit WordScanner(InstructionSet instruction_set);

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

    InstructionSet instruction_set_;
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
