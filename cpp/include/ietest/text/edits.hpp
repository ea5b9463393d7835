// What a substitution changed, so that it can be shown, counted and undone.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "ietest/text/string_column.hpp"

namespace ietest::text {

// Why a piece of text was changed. The numbers are those of the `rule` column in Python.
enum class Rule : std::int8_t {
    frequency = 0,
    edit_distance = 1,
    article = 2,
    normalise = 3,
    reviewed = 4
};

// Edits in columnar form. Within a row they are in order and do not overlap: replacing bytes
// [start, end) of the old text by the new piece, for all edits of a row, gives the new text.
struct EditList {
    std::vector<std::int64_t> row;
    std::vector<std::int64_t> start;
    std::vector<std::int64_t> end;
    std::vector<std::int8_t> rule;
    std::vector<std::int64_t> old_offsets{0};
    std::vector<std::int64_t> new_offsets{0};
    std::vector<char> old_text;
    std::vector<char> new_text;

    std::int64_t size() const { return static_cast<std::int64_t>(row.size()); }
    void add(std::int64_t row_, std::int64_t start_, std::int64_t end_, std::string_view old_piece,
             std::string_view new_piece, Rule rule_);
    // Takes over the edits of another list, behind those that are here.
    void append(EditList&& other);
};

// Replaces bytes [start, end) of row `row`, which are `expected`, by `pieces` for each edit; edits
// are ordered by row, then by start, and do not overlap. Throws std::invalid_argument where they do
// not fit the text.
OwnedStrings apply_edits(const StringColumn& column, std::int64_t n_edits, const std::int64_t* row,
                         const std::int64_t* start, const std::int64_t* end,
                         const StringColumn& expected, const StringColumn& pieces);

}  // namespace ietest::text
