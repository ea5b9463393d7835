#include "misspeller.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "blanks.hpp"
#include "ietest/text/utf8.hpp"

namespace ietest::text {
namespace {

// Case of ASCII and Latin-1; other letters have none here.
constexpr bool is_latin_upper(std::uint32_t code) {
    return (code >= 'A' && code <= 'Z') || (code >= 0xC0 && code <= 0xDE && code != 0xD7);
}
constexpr bool is_latin_lower(std::uint32_t code) {
    return (code >= 'a' && code <= 'z') || (code >= 0xE0 && code <= 0xFE && code != 0xF7);
}
constexpr std::uint32_t lower(std::uint32_t code) {
    return is_latin_upper(code) ? code + 0x20 : code;
}
// The letter in the case that another has.
constexpr std::uint32_t as_case_of(std::uint32_t model, std::uint32_t letter) {
    if (is_latin_upper(model) && is_latin_lower(letter)) return letter - 0x20;
    if (is_latin_lower(model)) return lower(letter);
    return letter;
}

char* put_utf8(char* out, std::uint32_t code) {
    const auto byte = [&](std::uint32_t value) { *out++ = static_cast<char>(value); };
    if (code < 0x80) {
        byte(code);
    } else if (code < 0x800) {
        byte(0xC0 | (code >> 6));
        byte(0x80 | (code & 0x3F));
    } else if (code < 0x10000) {
        byte(0xE0 | (code >> 12));
        byte(0x80 | ((code >> 6) & 0x3F));
        byte(0x80 | (code & 0x3F));
    } else {
        byte(0xF0 | (code >> 18));
        byte(0x80 | ((code >> 12) & 0x3F));
        byte(0x80 | ((code >> 6) & 0x3F));
        byte(0x80 | (code & 0x3F));
    }
    return out;
}

char* put_bytes(char* out, std::string_view bytes) {
    if (!bytes.empty()) std::memcpy(out, bytes.data(), bytes.size());
    return out + bytes.size();
}

// A whole number below n, n being far below 2^64.
std::size_t draw_below(random::WordStream& draws, std::size_t n) {
    return static_cast<std::size_t>(random::high_word(draws.next(), n));
}

// Takes a place out of a list: the last one moves there.
template <typename T>
void take_out(std::vector<T>& list, std::size_t place) {
    list[place] = list.back();
    list.pop_back();
}

}  // namespace

void Misspeller::begin(std::string_view chunk, const std::vector<std::uint32_t>& row_begins) {
    chunk_ = chunk;
    next_word_ = 0;
    if (!how_->options().between_blanks) scanner_.scan(chunk, row_begins);
}

void Misspeller::list_pieces(std::string_view row, std::uint32_t begin) {
    piece_begins_.clear();
    piece_ends_.clear();
    for (std::size_t at = end_of_blanks(row, 0); at < row.size(); at = end_of_blanks(row, at)) {
        piece_begins_.push_back(begin + static_cast<std::uint32_t>(at));
        while (at < row.size()) {
            const CodePoint code = code_point_at(row, at);
            if (is_blank(code.value)) break;
            at += code.n_bytes;
        }
        piece_ends_.push_back(begin + static_cast<std::uint32_t>(at));
    }
}

void Misspeller::misspell(std::uint32_t begin, std::uint32_t end, std::vector<Misspelt>& found,
                          std::vector<char>& spellings) {
    const std::string_view row = chunk_.substr(begin, end - begin);
    const std::uint32_t* begins;
    const std::uint32_t* ends;
    std::size_t n_words;
    if (how_->options().between_blanks) {
        list_pieces(row, begin);
        begins = piece_begins_.data();
        ends = piece_ends_.data();
        n_words = piece_begins_.size();
    } else {
        const std::size_t n_all = scanner_.n_words();
        while (next_word_ < n_all && scanner_.begins()[next_word_] < begin) ++next_word_;
        const std::size_t first = next_word_;
        while (next_word_ < n_all && scanner_.begins()[next_word_] < end) ++next_word_;
        begins = scanner_.begins() + first;
        ends = scanner_.ends() + first;
        n_words = next_word_ - first;
    }
    if (n_words == 0) return;

    const NoiseOptions& options = how_->options();
    random::WordStream draws(options.key, address_of(row), 0);
    const std::size_t n_before = found.size();
    const auto n_wanted = static_cast<std::size_t>(options.n_words);
    for (bool is_first = true; found.size() - n_before < n_wanted; is_first = false) {
        const std::size_t n_left = is_first ? n_words : order_.size();
        if (n_left == 0) break;
        const std::size_t place = draw_below(draws, n_left);
        const std::size_t chosen = is_first ? place : order_[place];
        // The list of what is left is made when a second word is drawn, which is seldom.
        if (is_first) {
            order_.resize(n_words);
            std::iota(order_.begin(), order_.end(), 0U);
        }
        take_out(order_, place);
        const std::string_view word = chunk_.substr(begins[chosen], ends[chosen] - begins[chosen]);
        if (!read_letters(word)) continue;
        std::int8_t rule = options.swaps ? kSwapRule : kNeighbourRule;
        const bool has_both = options.swaps && options.neighbours;
        if (has_both && draw_below(draws, 2) == 1) rule = kNeighbourRule;
        std::size_t n_bytes = draw_change(word, rule, draws);
        if (n_bytes == 0 && has_both) {
            rule = rule == kSwapRule ? kNeighbourRule : kSwapRule;
            n_bytes = draw_change(word, rule, draws);
        }
        if (n_bytes == 0) continue;
        found.push_back({begins[chosen], ends[chosen], static_cast<std::uint32_t>(spellings.size()),
                         static_cast<std::uint32_t>(n_bytes), rule});
        spellings.insert(spellings.end(), spelling_.data(), spelling_.data() + n_bytes);
    }
    if (n_wanted > 1) {
        std::sort(found.begin() + static_cast<std::ptrdiff_t>(n_before), found.end(),
                  [](const Misspelt& a, const Misspelt& b) { return a.begin < b.begin; });
    }
}

// Reads a word's characters; tells whether the word may be misspelt.
bool Misspeller::read_letters(std::string_view word) {
    const NoiseOptions& options = how_->options();
    letters_.clear();
    std::int64_t n_letters = 0;
    for (std::size_t at = 0; at < word.size();) {
        const CodePoint code = code_point_at(word, at);
        const CharClass kind = class_of(code.value);
        const bool is_number = kind == CharClass::digit || kind == CharClass::underscore;
        if (is_number && !options.between_blanks) return false;
        n_letters += options.between_blanks || kind == CharClass::letter ? 1 : 0;
        letters_.push_back({code.value, static_cast<std::uint32_t>(at), kind});
        at += code.n_bytes;
    }
    letters_.push_back({0, static_cast<std::uint32_t>(word.size()), CharClass::other});
    if (n_letters < options.min_letters) return false;
    return options.words == WordChoice::all ||
           how_->is_listed(word) == (options.words == WordChoice::listed);
}

// A letter without an accent of its own behind it.
bool Misspeller::stands_alone(std::size_t i) const {
    return letters_[i].char_class == CharClass::letter &&
           letters_[i + 1].char_class != CharClass::extends;
}

void Misspeller::list_swaps() {
    changes_.clear();
    for (std::size_t i = 0; i + 2 < letters_.size(); ++i) {
        if (!stands_alone(i) || !stands_alone(i + 1)) continue;
        if (lower(letters_[i].code) == lower(letters_[i + 1].code)) continue;
        changes_.push_back({static_cast<std::uint32_t>(i), letters_[i + 1].code});
    }
}

void Misspeller::list_neighbours() {
    changes_.clear();
    for (std::size_t i = 0; i + 1 < letters_.size(); ++i) {
        if (!stands_alone(i)) continue;
        for (const char32_t letter : how_->neighbours_of(lower(letters_[i].code))) {
            changes_.push_back({static_cast<std::uint32_t>(i), letter});
        }
    }
}

std::size_t Misspeller::spell(std::string_view word, Change change, std::int8_t rule) {
    // Two characters grow by six bytes at most.
    if (spelling_.size() < word.size() + 6 + kSpellingSlack) {
        spelling_.resize(2 * word.size() + 64);
    }
    const std::size_t n_codes = rule == kSwapRule ? 2 : 1;
    const Letter& a = letters_[change.first];
    char* out = put_bytes(spelling_.data(), word.substr(0, a.begin));
    out = put_utf8(out, as_case_of(a.code, change.code));
    if (n_codes == 2) out = put_utf8(out, as_case_of(change.code, a.code));
    out = put_bytes(out, word.substr(letters_[change.first + n_codes].begin));
    return static_cast<std::size_t>(out - spelling_.data());
}

std::size_t Misspeller::draw_change(std::string_view word, std::int8_t rule,
                                    random::WordStream& draws) {
    if (rule == kSwapRule) {
        list_swaps();
    } else {
        list_neighbours();
    }
    while (!changes_.empty()) {
        const std::size_t place = draw_below(draws, changes_.size());
        const std::size_t n_bytes = spell(word, changes_[place], rule);
        if (!how_->is_known_padded({spelling_.data(), n_bytes})) return n_bytes;
        take_out(changes_, place);
    }
    return 0;
}

}  // namespace ietest::text
