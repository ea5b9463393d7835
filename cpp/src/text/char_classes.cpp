#include "char_classes.hpp"

#include <algorithm>
#include <array>

namespace ietest::text {
namespace {

struct CodeRange {
    std::uint32_t first;
    std::uint32_t last;
    CharClass char_class;
};

// Beyond ASCII every character is a letter except these. Scripts that Annex 29 does not put into
// words (ideographs, hiragana, Thai, ...), symbols and punctuation stand alone.
constexpr std::array kRanges = {
    CodeRange{0x80, 0xA9, CharClass::other},
    CodeRange{0xAB, 0xAC, CharClass::other},
    CodeRange{0xAD, 0xAD, CharClass::extends},
    CodeRange{0xAE, 0xB4, CharClass::other},
    CodeRange{0xB6, 0xB6, CharClass::other},
    CodeRange{0xB7, 0xB7, CharClass::joins_letters},
    CodeRange{0xB8, 0xB9, CharClass::other},
    CodeRange{0xBB, 0xBF, CharClass::other},
    CodeRange{0xD7, 0xD7, CharClass::other},
    CodeRange{0xF7, 0xF7, CharClass::other},
    CodeRange{0x300, 0x36F, CharClass::extends},
    CodeRange{0x37E, 0x37E, CharClass::joins_digits},
    CodeRange{0xE00, 0xEFF, CharClass::other},
    CodeRange{0x1000, 0x109F, CharClass::other},
    CodeRange{0x1780, 0x17FF, CharClass::other},
    CodeRange{0x2000, 0x200B, CharClass::other},
    CodeRange{0x200C, 0x200F, CharClass::extends},
    CodeRange{0x2010, 0x2017, CharClass::other},
    CodeRange{0x2018, 0x2019, CharClass::joins_both},
    CodeRange{0x201A, 0x2023, CharClass::other},
    CodeRange{0x2024, 0x2024, CharClass::joins_both},
    CodeRange{0x2025, 0x2026, CharClass::other},
    CodeRange{0x2027, 0x2027, CharClass::joins_letters},
    CodeRange{0x2028, 0x2029, CharClass::line_break},
    CodeRange{0x202A, 0x202E, CharClass::extends},
    CodeRange{0x202F, 0x202F, CharClass::underscore},
    CodeRange{0x2030, 0x203E, CharClass::other},
    CodeRange{0x203F, 0x2040, CharClass::underscore},
    CodeRange{0x2041, 0x205F, CharClass::other},
    CodeRange{0x2060, 0x2064, CharClass::extends},
    CodeRange{0x2065, 0x2070, CharClass::other},
    CodeRange{0x2072, 0x207E, CharClass::other},
    CodeRange{0x2080, 0x208F, CharClass::other},
    CodeRange{0x20A0, 0x20CF, CharClass::other},
    CodeRange{0x20D0, 0x20FF, CharClass::extends},
    CodeRange{0x2190, 0x24B5, CharClass::other},
    CodeRange{0x24EA, 0x2BFF, CharClass::other},
    CodeRange{0x2E00, 0x3004, CharClass::other},
    CodeRange{0x3006, 0x303A, CharClass::other},
    CodeRange{0x303D, 0x30A0, CharClass::other},
    CodeRange{0x3190, 0x319F, CharClass::other},
    CodeRange{0x31C0, 0x31EF, CharClass::other},
    CodeRange{0x3200, 0x9FFF, CharClass::other},
    CodeRange{0xE000, 0xFAFF, CharClass::other},
    CodeRange{0xFE00, 0xFE0F, CharClass::extends},
    CodeRange{0xFE10, 0xFE1F, CharClass::other},
    CodeRange{0xFE20, 0xFE2F, CharClass::extends},
    CodeRange{0xFE30, 0xFE6F, CharClass::other},
    CodeRange{0xFEFF, 0xFEFF, CharClass::extends},
    CodeRange{0xFF01, 0xFF0F, CharClass::other},
    CodeRange{0xFF10, 0xFF19, CharClass::digit},
    CodeRange{0xFF1A, 0xFF20, CharClass::other},
    CodeRange{0xFF3B, 0xFF3E, CharClass::other},
    CodeRange{0xFF3F, 0xFF3F, CharClass::underscore},
    CodeRange{0xFF40, 0xFF40, CharClass::other},
    CodeRange{0xFF5B, 0xFF65, CharClass::other},
    CodeRange{0xFFE0, 0xFFFF, CharClass::other},
    CodeRange{0x1F000, 0x1F3FA, CharClass::other},
    CodeRange{0x1F3FB, 0x1F3FF, CharClass::extends},
    CodeRange{0x1F400, 0x1FFFF, CharClass::other},
    CodeRange{0x20000, 0x3FFFF, CharClass::other},
    CodeRange{0xE0000, 0xE0FFF, CharClass::extends},
    CodeRange{0xF0000, 0xFFFFFFFF, CharClass::other},
};

constexpr std::array<CharClass, 128> kAscii = [] {
    std::array<CharClass, 128> table{};
    for (std::uint32_t c = 0; c < 128; ++c) table[c] = ascii_class_of(c);
    return table;
}();

}  // namespace

CharClass class_of(std::uint32_t code) {
    if (code < 0x80) return kAscii[code];
    if (code == 0x85) return CharClass::line_break;
    const auto* range = std::lower_bound(
        kRanges.begin(), kRanges.end(), code,
        [](const CodeRange& candidate, std::uint32_t c) { return candidate.last < c; });
    if (range != kRanges.end() && range->first <= code) return range->char_class;
    return CharClass::letter;
}

}  // namespace ietest::text
