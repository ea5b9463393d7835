// Misspelling words: two letters swapped, or a letter's neighbour on the keyboard in its place.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "ietest/parallel.hpp"
#include "ietest/random/philox.hpp"
#include "ietest/text/key_index.hpp"
#include "ietest/text/string_column.hpp"
#include "ietest/text/substitution.hpp"

namespace ietest::text {

// Codes of the rules of the edits.
inline constexpr std::int8_t kSwapRule = 0;
inline constexpr std::int8_t kNeighbourRule = 1;

enum class WordChoice : std::uint8_t { all, listed, unlisted };

struct NoiseOptions {
    std::int64_t n_words = 1;  // of a text, or as many as can be misspelt
    bool swaps = true;
    bool neighbours = true;
    WordChoice words = WordChoice::all;  // by the list
    std::int64_t min_letters = 2;
    // Pieces between blanks instead of words, as published.
    bool between_blanks = false;
    random::Key key{};
};

// How words are misspelt. The random numbers of a text hang on the key and on the text alone, so
// equal texts are misspelt alike, wherever they stand and however texts are cut into batches.
// Immutable.
class Misspelling {
  public:
    // letters: one lower-case letter each; neighbours: the letters beside it. known: words that no
    // word may become, forms with a regular ending among them; listed: the list of WordChoice.
    // Throws std::invalid_argument for columns that do not fit together.
    Misspelling(const StringColumn& letters, const StringColumn& neighbours,
                const StringColumn& known, const StringColumn& listed, const NoiseOptions& options);

    const NoiseOptions& options() const { return options_; }
    // The letters beside a lower-case letter; none: empty.
    const std::u32string& neighbours_of(std::uint32_t letter) const;
    // In any case; at least 8 bytes must be readable at word.data().
    bool is_known_padded(std::string_view word) const;
    // In any case.
    bool is_listed(std::string_view word) const;

  private:
    NoiseOptions options_;
    std::array<std::u32string, 256> latin_neighbours_;
    std::unordered_map<std::uint32_t, std::u32string> other_neighbours_;
    KeyIndex known_{true};
    KeyIndex listed_{true};
};

// The hash that a text's random numbers are addressed by: its length, then its bytes in words of
// eight, the first byte the lowest, the last word filled with zeros.
std::uint64_t address_of(std::string_view text);

Substituted misspell(const StringColumn& column, const Misspelling& misspelling,
                     const SubstitutionOptions& options, const Execution& execution);

}  // namespace ietest::text
