// Finding what to misspell in a chunk of texts, and how.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "char_classes.hpp"
#include "ietest/text/noise.hpp"
#include "ietest/text/word_scanner.hpp"

namespace ietest::text {

// A word of a chunk and what stands in its place.
struct Misspelt {
    std::uint32_t begin;  // in the chunk
    std::uint32_t end;
    std::uint32_t spelling;  // where it begins among the chunk's spellings
    std::uint32_t n_bytes;
    std::int8_t rule;
};

// So many bytes may be read behind a spelling.
inline constexpr std::size_t kSpellingSlack = 16;

// Misspells the texts of a chunk; has scratch of its own, so each thread needs one.
class Misspeller {
  public:
    Misspeller(const Misspelling& how, InstructionSet instruction_set)
        : how_(&how), scanner_(instruction_set) {}

    // chunk: the texts, one behind the other; row_begins: where each begins in it, then where the
    // last ends. Call misspell() for its rows then, in order.
    void begin(std::string_view chunk, const std::vector<std::uint32_t>& row_begins);
    // Puts what becomes of the words in chunk[begin, end) behind what is there, in their order.
    void misspell(std::uint32_t begin, std::uint32_t end, std::vector<Misspelt>& found,
                  std::vector<char>& spellings);

  private:
    struct Letter {
        std::uint32_t code;
        std::uint32_t begin;  // in the word
        CharClass char_class;
    };
    // Characters of a word from `first` on become others: one another, or two each other.
    struct Change {
        std::uint32_t first;
        std::uint32_t code;  // of the first
    };

    void list_pieces(std::string_view row, std::uint32_t begin);
    bool read_letters(std::string_view word);
    bool stands_alone(std::size_t i) const;
    void list_swaps();
    void list_neighbours();
    // The bytes of the word after a change, in spelling_.
    std::size_t spell(std::string_view word, Change change, std::int8_t rule);
    // One of the changes that makes no known word; gives the bytes of it, 0 if there is none.
    std::size_t draw_change(std::string_view word, std::int8_t rule, random::WordStream& draws);

    const Misspelling* how_;
    WordScanner scanner_;
    std::string_view chunk_;
    std::size_t next_word_ = 0;
    std::vector<std::uint32_t> piece_begins_;
    std::vector<std::uint32_t> piece_ends_;
    std::vector<std::uint32_t> order_;
    std::vector<Letter> letters_;  // and one beyond, that ends the word
    std::vector<Change> changes_;
    std::vector<char> spelling_;
};

}  // namespace ietest::text
