#include "ietest/text/edit_distance.hpp"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

namespace ietest::text {

std::int64_t edit_distance(std::u32string_view a, std::u32string_view b) {
    if (a.size() < b.size()) std::swap(a, b);
    // Equal ends cost nothing and are common among forms of one word.
    while (!b.empty() && a.front() == b.front()) {
        a.remove_prefix(1);
        b.remove_prefix(1);
    }
    while (!b.empty() && a.back() == b.back()) {
        a.remove_suffix(1);
        b.remove_suffix(1);
    }
    // row[j]: distance of the part of a read so far to the first j code points of b.
    std::vector<std::int64_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), 0);
    for (const char32_t from : a) {
        std::int64_t diagonal = row[0]++;
        for (std::size_t j = 0; j < b.size(); ++j) {
            const std::int64_t replaced = diagonal + (from == b[j] ? 0 : 1);
            diagonal = row[j + 1];
            row[j + 1] = std::min({replaced, diagonal + 1, row[j] + 1});
        }
    }
    return row.back();
}

}  // namespace ietest::text
