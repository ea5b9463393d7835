#include "ietest/text/english.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>

#include "ascii.hpp"
#include "ietest/text/key_index.hpp"

namespace ietest::text {
namespace {

bool is_letter(char c) {
    return ascii_lower(c) >= 'a' && ascii_lower(c) <= 'z';
}
bool is_one_of(char c, std::string_view set) {
    return set.find(c) != std::string_view::npos;
}

// Letters whose names begin with a vowel: an F, an MRI, an x-ray.
bool name_begins_with_vowel(char letter) {
    return is_one_of(ascii_lower(letter), "aefhilmnorsx");
}

// Numbers that begin with eight, eleven or eighteen when read out.
bool number_begins_with_vowel(std::string_view digits) {
    if (digits.front() == '8') return true;
    const bool eleven = digits.substr(0, 2) == "11" || digits.substr(0, 2) == "18";
    return eleven && (digits.size() - 2) % 3 == 0;
}

bool begins_with_one_of(std::string_view word, const auto& prefixes) {
    return std::any_of(prefixes.begin(), prefixes.end(),
                       [&](std::string_view prefix) { return word.starts_with(prefix); });
}

// u as in "use", not as in "up".
bool u_sounds_like_you(std::string_view word) {
    if (word.starts_with("uni")) {
        constexpr std::array kNegated{std::string_view("unin"), std::string_view("unim"),
                                      std::string_view("unident")};
        return !begins_with_one_of(word, kNegated);
    }
    constexpr std::array kPrefixes{
        std::string_view("ubiq"), std::string_view("uke"),   std::string_view("ukr"),
        std::string_view("uku"),  std::string_view("unani"), std::string_view("ura"),
        std::string_view("ure"),  std::string_view("uri"),   std::string_view("uro"),
        std::string_view("usa"),  std::string_view("use"),   std::string_view("usi"),
        std::string_view("usu"),  std::string_view("ute"),   std::string_view("uti"),
        std::string_view("uto"),  std::string_view("uva"),   std::string_view("uve"),
        std::string_view("uvu")};
    return begins_with_one_of(word, kPrefixes);
}

bool is_all_capitals(std::string_view piece) {
    const auto n_upper = std::count_if(piece.begin(), piece.end(), is_upper);
    return n_upper >= 2 && std::none_of(piece.begin(), piece.end(), is_lower);
}

// Up to four letters, the last one first.
constexpr std::uint32_t packed(std::string_view word) {
    std::uint32_t all = 0;
    for (std::size_t i = word.size(); i > 0; --i) {
        all = (all << 8) | static_cast<unsigned char>(word[i - 1]);
    }
    return all;
}

constexpr std::array kAbbreviations{packed("ave"),  packed("blvd"), packed("capt"), packed("corp"),
                                    packed("dept"), packed("dr"),   packed("est"),  packed("etc"),
                                    packed("gov"),  packed("inc"),  packed("jr"),   packed("lt"),
                                    packed("ltd"),  packed("mr"),   packed("mrs"),  packed("ms"),
                                    packed("prof"), packed("sgt"),  packed("sr"),   packed("vs")};

class English final : public Language {
  public:
    void fold(std::string_view text, std::string& folded) const override {
        folded.assign(text);
        std::transform(folded.begin(), folded.end(), folded.begin(), ascii_lower);
    }

    bool is_capitalised(std::string_view piece) const override { return is_upper(piece.front()); }

    // Boy -> Lad, BOYS -> LADS, Ice Cream -> Frozen Dessert, Ice cream -> Frozen dessert.
    std::string with_capitals_of(std::string_view piece, std::string_view value) const override {
        std::string result(value);
        if (is_all_capitals(piece)) {
            std::transform(result.begin(), result.end(), result.begin(), ascii_upper);
            return result;
        }
        if (!is_upper(piece.front()) || result.empty()) return result;
        bool title = false;
        bool every_word = true;
        for (std::size_t i = 1; i < piece.size(); ++i) {
            if (piece[i - 1] != ' ') continue;
            title = title || is_upper(piece[i]);
            every_word = every_word && is_upper(piece[i]);
        }
        result[0] = ascii_upper(result[0]);
        if (title && every_word) {
            for (std::size_t i = 1; i < result.size(); ++i) {
                if (result[i - 1] == ' ') result[i] = ascii_upper(result[i]);
            }
        }
        return result;
    }

    std::optional<std::string_view> adapted(std::string_view word, std::string_view replaced,
                                            std::string_view value) const override {
        if (word.size() > 2) return std::nullopt;
        const std::string article = folded(word);
        if (article != "a" && article != "an") return std::nullopt;
        const bool an = takes_an(value);
        if (an == (article == "an")) return std::nullopt;
        const bool upper = is_upper(word.front());
        if (!an) return std::string_view(upper ? "A" : "a");
        if (!upper) return std::string_view("an");
        return std::string_view(is_all_capitals(replaced) ? "AN" : "An");
    }

    // The women's team is no ladies's, and the ladies' no women'.
    bool fits_before(std::string_view ending, std::string_view replaced,
                     std::string_view value) const override {
        constexpr std::array kPossessive{std::string_view("'"), std::string_view("'s"),
                                         std::string_view("\u2019"), std::string_view("\u2019s")};
        return std::ranges::find(kPossessive, ending) == kPossessive.end() ||
               replaced.ends_with('s') == value.ends_with('s');
    }

    // U.S, p.m, e.g; and words that are hardly ever written out.
    bool abbreviates(std::string_view text) const override {
        const std::size_t size = text.size();
        const auto from_end = [&](std::size_t i) { return text[size - 1 - i]; };
        if (size == 0 || !is_letter(from_end(0))) return false;
        if (size > 2 && from_end(1) == '.' && (is_letter(from_end(2)) || from_end(2) == '.')) {
            return true;
        }
        // Asked for every text: the listed words fit four bytes, and nothing is allocated.
        std::uint32_t word = 0;
        std::size_t n_letters = 0;
        for (; n_letters < size && is_letter(from_end(n_letters)); ++n_letters) {
            if (n_letters == 4) return false;
            word = (word << 8) | static_cast<unsigned char>(ascii_lower(from_end(n_letters)));
        }
        if (n_letters < size && from_end(n_letters) == '.') return false;
        // Without a branch: which word it is cannot be foretold.
        bool is_listed = false;
        for (const std::uint32_t abbreviation : kAbbreviations) is_listed |= abbreviation == word;
        return is_listed;
    }
};

}  // namespace

const Language& english() {
    static const English language;
    return language;
}

bool takes_an(std::string_view phrase) {
    std::size_t size = 0;
    while (size < phrase.size() && is_digit(phrase[size])) ++size;
    if (size > 0) return number_begins_with_vowel(phrase.substr(0, size));
    while (size < phrase.size() && is_letter(phrase[size])) ++size;
    if (size == 0) return false;
    const std::string_view word = phrase.substr(0, size);
    if (size == 1) return name_begins_with_vowel(word[0]);
    const bool capitals =
        std::all_of(word.begin(), word.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
    if (capitals) {
        // Spelled out, unless it can be read as a word (NATO).
        const bool has_vowel = word.find_first_of("AEIOUY") != std::string_view::npos;
        if (size <= 3 || !has_vowel) return name_begins_with_vowel(word[0]);
    }
    std::string folded(word);
    std::transform(folded.begin(), folded.end(), folded.begin(), ascii_lower);
    constexpr std::array kSilentH{std::string_view("hour"), std::string_view("honest"),
                                  std::string_view("honor"), std::string_view("honour"),
                                  std::string_view("heir")};
    if (folded[0] == 'h') return begins_with_one_of(folded, kSilentH);
    constexpr std::array kSpokenW{std::string_view("one"),     std::string_view("ones"),
                                  std::string_view("oneness"), std::string_view("oneself"),
                                  std::string_view("once"),    std::string_view("ouija")};
    if (folded[0] == 'o') {
        return std::find(kSpokenW.begin(), kSpokenW.end(), std::string_view(folded)) ==
               kSpokenW.end();
    }
    if (folded[0] == 'e') return !folded.starts_with("eu") && !folded.starts_with("ewe");
    if (folded[0] == 'u') return !u_sounds_like_you(folded);
    if (folded[0] == 'y') return folded[1] == 't' || folded[1] == 'l';  // ytterbium, ylem
    return folded[0] == 'a' || folded[0] == 'i';
}

}  // namespace ietest::text
