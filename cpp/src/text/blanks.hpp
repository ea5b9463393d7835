// White space in UTF-8 text, as Python has it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "ietest/text/utf8.hpp"

namespace ietest::text {

constexpr bool is_blank(std::uint32_t code) {
    return code == ' ' || (code >= 0x09 && code <= 0x0D) || (code >= 0x1C && code <= 0x1F) ||
           code == 0x85 || code == 0xA0 || code == 0x1680 || (code >= 0x2000 && code <= 0x200A) ||
           code == 0x2028 || code == 0x2029 || code == 0x202F || code == 0x205F || code == 0x3000;
}

// Where the code point begins that ends at `at`, after `from`.
inline std::size_t begin_of_code_point(std::string_view text, std::size_t from, std::size_t at) {
    std::size_t begin = at - 1;
    while (begin > from && (static_cast<unsigned char>(text[begin]) & 0xC0U) == 0x80U) --begin;
    return begin;
}

// Where the blanks begin that end at `at`, after `from`.
inline std::size_t begin_of_blanks(std::string_view text, std::size_t from, std::size_t at) {
    while (at > from) {
        const std::size_t begin = begin_of_code_point(text, from, at);
        if (!is_blank(code_point_at(text, begin).value)) break;
        at = begin;
    }
    return at;
}

inline std::size_t end_of_blanks(std::string_view text, std::size_t at) {
    while (at < text.size()) {
        const CodePoint code = code_point_at(text, at);
        if (!is_blank(code.value)) break;
        at += code.n_bytes;
    }
    return at;
}

}  // namespace ietest::text
