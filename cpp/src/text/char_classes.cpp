#include "char_classes.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace ietest::text {
namespace {

struct CodeRange {
    std::uint32_t first;
    std::uint32_t last;
    CharClass char_class;
};

#include "word_class_ranges.inc"

// The first planes hold nearly all text; the rest is looked for among the ranges.
constexpr std::uint32_t kInTable = 0x10000;

const std::array<CharClass, kInTable>& table() {
    static const std::array<CharClass, kInTable> classes = [] {
        std::array<CharClass, kInTable> all{};
        for (std::uint32_t c = 0; c < 0x80; ++c) all[c] = ascii_class_of(c);
        for (const CodeRange& range : kRanges) {
            for (std::uint32_t c = range.first; c <= range.last && c < kInTable; ++c) {
                all[c] = range.char_class;
            }
        }
        return all;
    }();
    return classes;
}

}  // namespace

CharClass class_of(std::uint32_t code) {
    if (code < 0x80) return ascii_class_of(code);
    if (code < kInTable) return table()[code];
    const auto* range = std::lower_bound(
        kRanges.begin(), kRanges.end(), code,
        [](const CodeRange& candidate, std::uint32_t c) { return candidate.last < c; });
    const bool found = range != kRanges.end() && range->first <= code;
    return found ? range->char_class : CharClass::other;
}

std::string_view unicode_version() {
    return kUnicodeVersion;
}

}  // namespace ietest::text
