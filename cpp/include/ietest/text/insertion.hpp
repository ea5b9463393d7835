// Putting a phrase into texts where a sentence ends.
#pragma once

#include <cstdint>
#include <string_view>

#include "ietest/parallel.hpp"
#include "ietest/text/english.hpp"
#include "ietest/text/string_column.hpp"
#include "ietest/text/substitution.hpp"

namespace ietest::text {

enum class InsertionPlace : std::uint8_t {
    // Before the marks (. ! ? and their kin) that end the text, blanks before and behind them left
    // where they are; at the end of the text's last word where no mark ends it, or where closing
    // quotation marks and brackets do. Behind the full stop of an abbreviation, with a full stop of
    // its own. The phrase gets a blank in front. A text without anything before the marks stays.
    before_final_mark,
    // Before the first of . ! ?, whatever it means there; what stands behind that mark and the
    // ASCII white space that follows it is dropped. Without such a mark, at the end. The phrase is
    // put in as it is.
    before_first_mark,
};

// Codes of the rules of the edits.
inline constexpr std::int8_t kInsertedRule = 0;
inline constexpr std::int8_t kCutRule = 1;

struct Insertion {
    std::string_view phrase;
    InsertionPlace place = InsertionPlace::before_final_mark;
    const Language* language = &english();
};

Substituted insert_phrase(const StringColumn& column, const Insertion& insertion,
                          const SubstitutionOptions& options, const Execution& execution);

}  // namespace ietest::text
