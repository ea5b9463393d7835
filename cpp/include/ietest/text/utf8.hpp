// Reading UTF-8, one code point at a time, safe on any bytes.
#pragma once

#include <cstdint>
#include <string_view>

namespace ietest::text {

struct CodePoint {
    std::uint32_t value;
    std::uint32_t n_bytes;
};

constexpr std::uint32_t kIllFormed = 0xFFFFFFFFU;

// The code point at text[at]; an ill-formed byte is kIllFormed and one byte long.
inline CodePoint code_point_at(std::string_view text, std::size_t at) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const std::uint32_t first = byte(at);
    if (first < 0x80) return {first, 1};
    const std::uint32_t n_bytes = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
    if (first < 0xC2 || first > 0xF4 || at + n_bytes > text.size()) return {kIllFormed, 1};
    std::uint32_t value = first & (0x7FU >> n_bytes);
    for (std::uint32_t i = 1; i < n_bytes; ++i) {
        const std::uint32_t next = byte(at + i);
        if ((next & 0xC0) != 0x80) return {kIllFormed, 1};
        value = (value << 6) | (next & 0x3F);
    }
    return {value, n_bytes};
}

}  // namespace ietest::text
