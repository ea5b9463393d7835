// What has to stand around a word for a substitution to fit: words and tags beside it.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "ietest/text/key_index.hpp"
#include "ietest/text/string_column.hpp"

namespace ietest::text {

// Tokens of a column's texts, as a tagger found them: those of row i are offsets[i] up to
// offsets[i + 1]; start and end are bytes in the text.
struct TokenSpans {
    const std::int64_t* offsets = nullptr;
    const std::int32_t* start = nullptr;
    const std::int32_t* end = nullptr;
    const std::uint8_t* pos = nullptr;
    const std::int8_t* number = nullptr;  // 0 unknown, 1 singular, 2 plural
    std::int64_t n_tokens = 0;
};

// The tokens of one text, and the text in lower case.
struct TextTokens {
    std::string_view folded;
    const TokenSpans* spans;
    std::int64_t first;
    std::int64_t last;

    bool has(std::int64_t t) const { return t >= first && t < last; }
    std::string_view word(std::int64_t t) const {
        const auto begin = static_cast<std::size_t>(spans->start[t]);
        return folded.substr(begin, static_cast<std::size_t>(spans->end[t]) - begin);
    }
    std::uint8_t pos(std::int64_t t) const { return spans->pos[t]; }
};

// Tests of all entries of a table, in columns. A test compares the token at a place with a list of
// words and tags: it holds if the token is in the list, or, negated, if it is not. Where there is
// no such token, the list is asked for kNoToken.
struct ConditionColumns {
    static constexpr int kNoToken = 31;

    std::span<const std::int64_t> test_begins;  // of each entry, and one more
    std::span<const std::int8_t> place;         // -2 or -1 before the word, 1 or 2 behind it
    std::span<const std::int8_t> negated;
    std::span<const std::uint32_t> tags;        // bit t for the tag t
    std::span<const std::int64_t> word_begins;  // of each test, and one more
    StringColumn words;                         // in lower case
};

// Immutable.
class Conditions {
  public:
    // Throws std::invalid_argument where columns do not fit together.
    Conditions(const ConditionColumns& columns, std::int64_t n_entries);

    // Whether all tests of an entry hold for a word of the tokens `head` to `tail`.
    bool hold(std::int64_t entry, const TextTokens& text, std::int64_t head,
              std::int64_t tail) const;
    // Whether a test of the entry asks for the word that stands beside it, at -1 or 1.
    bool ask_for(std::int64_t entry, const TextTokens& text, std::int64_t head, std::int64_t tail,
                 int place) const;

  private:
    struct Test {
        std::int64_t words_begin;
        std::int64_t words_end;
        std::uint32_t tags;
        std::int8_t place;
        bool negated;
    };
    bool lists_word(const Test& test, std::string_view word) const;
    std::span<const Test> tests_of(std::int64_t entry) const;

    std::vector<std::int64_t> begins_;
    std::vector<Test> tests_;
    std::vector<std::uint32_t> word_ids_;  // sorted within a test
    KeyIndex vocabulary_;
};

}  // namespace ietest::text
