#include "ietest/text/word_boundaries.hpp"

#include "char_classes.hpp"
#include "ietest/text/utf8.hpp"

namespace ietest::text {
namespace {

struct Char {
    CharClass char_class;
    std::size_t end;
};

Char char_at(std::string_view text, std::size_t at) {
    const CodePoint code = code_point_at(text, at);
    return {class_of(code.value), at + code.n_bytes};
}

std::size_t skip_extending(std::string_view text, std::size_t at) {
    while (at < text.size()) {
        const Char c = char_at(text, at);
        if (c.char_class != CharClass::extends) break;
        at = c.end;
    }
    return at;
}

// Two of them are a flag; whoever goes through a text from its start pairs them as the annex does.
bool is_regional_indicator(std::uint32_t code) {
    return code >= 0x1F1E6 && code <= 0x1F1FF;
}

// The end of a character that is no word's, with the second half of a flag and accents.
std::size_t other_end(std::string_view text, std::size_t begin, std::size_t end) {
    end = skip_extending(text, end);
    if (end >= text.size() || !is_regional_indicator(code_point_at(text, begin).value)) return end;
    const CodePoint next = code_point_at(text, end);
    return is_regional_indicator(next.value) ? skip_extending(text, end + next.n_bytes) : end;
}

std::size_t word_end(std::string_view text, CharClass last, std::size_t at) {
    for (;;) {
        at = skip_extending(text, at);
        if (at >= text.size()) return at;
        const Char here = char_at(text, at);
        if (is_word_class(here.char_class)) {
            last = here.char_class;
            at = here.end;
            continue;
        }
        const bool between_letters =
            last == CharClass::letter && (here.char_class == CharClass::joins_letters ||
                                          here.char_class == CharClass::joins_both);
        const bool between_digits =
            last == CharClass::digit && (here.char_class == CharClass::joins_digits ||
                                         here.char_class == CharClass::joins_both);
        if (!between_letters && !between_digits) return at;
        const std::size_t beyond = skip_extending(text, here.end);
        if (beyond >= text.size()) return at;
        const Char next = char_at(text, beyond);
        const bool joined = (between_letters && next.char_class == CharClass::letter) ||
                            (between_digits && next.char_class == CharClass::digit);
        if (!joined) return at;
        last = next.char_class;
        at = next.end;
    }
}

}  // namespace

bool is_word_character(std::uint32_t code) {
    const CharClass c = class_of(code);
    return is_word_class(c) || c == CharClass::extends;
}

Segment next_segment(std::string_view text, std::size_t begin) {
    const Char first = char_at(text, begin);
    switch (first.char_class) {
        case CharClass::letter:
        case CharClass::digit:
        case CharClass::underscore:
            return {word_end(text, first.char_class, first.end), true};
        case CharClass::space: {
            std::size_t end = first.end;
            while (end < text.size() && text[end] == ' ') ++end;
            return {skip_extending(text, end), false};
        }
        case CharClass::carriage_return:
            return {first.end + (first.end < text.size() && text[first.end] == '\n' ? 1 : 0),
                    false};
        case CharClass::line_break:
            return {first.end, false};
        default:
            return {other_end(text, begin, first.end), false};
    }
}

}  // namespace ietest::text
