// Levenshtein distance between words.
#pragma once

#include <cstdint>
#include <string_view>

namespace ietest::text {

// Fewest insertions, deletions and replacements of one code point that turn a into b.
// O(|a| |b|) time, O(min(|a|, |b|)) memory.
std::int64_t edit_distance(std::u32string_view a, std::u32string_view b);

}  // namespace ietest::text
