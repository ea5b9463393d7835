// What the rules for word boundaries have to know of a character.
#pragma once

#include <cstdint>

namespace ietest::text {

enum class CharClass : std::uint8_t {
    other,
    letter,
    digit,
    underscore,
    joins_letters,  // :
    joins_digits,   // , ;
    joins_both,     // . '
    space,
    carriage_return,
    line_break,
    extends,  // belongs to the character before it: combining marks, joiners, format characters
};

constexpr CharClass ascii_class_of(std::uint32_t c) {
    if ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') return CharClass::letter;
    if (c >= '0' && c <= '9') return CharClass::digit;
    switch (c) {
        case '_':
            return CharClass::underscore;
        case ':':
            return CharClass::joins_letters;
        case ',':
        case ';':
            return CharClass::joins_digits;
        case '.':
        case '\'':
            return CharClass::joins_both;
        case ' ':
            return CharClass::space;
        case '\r':
            return CharClass::carriage_return;
        case '\n':
        case 0x0B:
        case 0x0C:
            return CharClass::line_break;
        default:
            return CharClass::other;
    }
}

// Of any code point, by Unicode's property Word_Break (tools/make_word_classes.py); what is no code
// point stands alone.
CharClass class_of(std::uint32_t code);

inline bool is_word_class(CharClass c) {
    return c == CharClass::letter || c == CharClass::digit || c == CharClass::underscore;
}

}  // namespace ietest::text
