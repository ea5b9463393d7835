// Kinds of ASCII characters, whatever the locale.
#pragma once

namespace ietest::text {

constexpr bool is_upper(char c) {
    return c >= 'A' && c <= 'Z';
}
constexpr bool is_lower(char c) {
    return c >= 'a' && c <= 'z';
}
constexpr bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

}  // namespace ietest::text
