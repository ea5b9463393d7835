#include "ietest/text/noise.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "blanks.hpp"
#include "char_classes.hpp"
#include "chunks.hpp"
#include "ietest/text/utf8.hpp"
#include "ietest/text/word_boundaries.hpp"

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

void append_utf8(std::string& text, std::uint32_t code) {
    const auto byte = [&](std::uint32_t value) { text += static_cast<char>(value); };
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
}

// A whole number below n, n being far below 2^64.
std::size_t draw_below(random::WordStream& words, std::size_t n) {
    return static_cast<std::size_t>(random::high_word(words.next(), n));
}

struct WordSpan {
    std::size_t begin;
    std::size_t end;
};
struct Letter {
    std::uint32_t code;
    std::size_t begin;  // in the text
    std::size_t end;
    CharClass char_class;
};
// A way to misspell a word: the characters from first to last of it become others.
struct Change {
    std::int8_t rule;
    std::size_t first;
    std::array<std::uint32_t, 2> codes;
    std::size_t n_codes;
};
struct Misspelt {
    WordSpan word;
    std::string spelling;
    std::int8_t rule;
};

// Misspells one text after the other.
class Misspeller {
  public:
    explicit Misspeller(const Misspelling& how) : how_(&how) {}

    // In the order of the text; valid until the next call.
    const std::vector<Misspelt>& misspell(std::string_view text) {
        found_.clear();
        find_words(text);
        random::WordStream words(how_->options().key, address_of(text), 0);
        while (!words_.empty() && std::ssize(found_) < how_->options().n_words) {
            const std::size_t place = draw_below(words, words_.size());
            const WordSpan word = words_[place];
            words_[place] = words_.back();
            words_.pop_back();
            find_changes(text, word);
            const std::vector<Change>* changes = &swaps_;
            if (swaps_.empty() || (!neighbours_.empty() && draw_below(words, 2) == 1)) {
                changes = &neighbours_;
            }
            if (changes->empty()) continue;
            const Change& chosen = (*changes)[draw_below(words, changes->size())];
            found_.push_back({word, spell(text, word, chosen), chosen.rule});
        }
        std::ranges::sort(found_, {}, [](const Misspelt& one) { return one.word.begin; });
        return found_;
    }

  private:
    void find_words(std::string_view text) {
        words_.clear();
        const bool between_blanks = how_->options().between_blanks;
        for (std::size_t at = 0; at < text.size();) {
            std::size_t end;
            bool is_word;
            if (between_blanks) {
                at = end_of_blanks(text, at);
                end = at;
                while (end < text.size()) {
                    const CodePoint code = code_point_at(text, end);
                    if (is_blank(code.value)) break;
                    end += code.n_bytes;
                }
                is_word = end > at;
            } else {
                const Segment segment = next_segment(text, at);
                end = segment.end;
                is_word = segment.is_word;
            }
            if (is_word && is_eligible(text.substr(at, end - at))) words_.push_back({at, end});
            at = end;
        }
    }

    bool is_eligible(std::string_view word) const {
        const NoiseOptions& options = how_->options();
        std::int64_t n_letters = 0;
        for (std::size_t at = 0; at < word.size();) {
            const CodePoint code = code_point_at(word, at);
            const CharClass kind = class_of(code.value);
            const bool is_number = kind == CharClass::digit || kind == CharClass::underscore;
            if (is_number && !options.between_blanks) return false;
            n_letters += options.between_blanks || kind == CharClass::letter ? 1 : 0;
            at += code.n_bytes;
        }
        if (n_letters < options.min_letters) return false;
        return options.words == WordChoice::all ||
               how_->is_listed(word) == (options.words == WordChoice::listed);
    }

    void find_changes(std::string_view text, WordSpan word) {
        chars_.clear();
        for (std::size_t at = word.begin; at < word.end;) {
            const CodePoint code = code_point_at(text, at);
            chars_.push_back({code.value, at, at + code.n_bytes, class_of(code.value)});
            at += code.n_bytes;
        }
        swaps_.clear();
        neighbours_.clear();
        for (std::size_t i = 0; i < chars_.size(); ++i) {
            if (!stands_alone(i)) continue;
            if (how_->options().neighbours) add_neighbours(text, word, i);
            if (how_->options().swaps && i + 1 < chars_.size() && stands_alone(i + 1)) {
                add_swap(text, word, i);
            }
        }
    }
    // A letter without an accent of its own behind it.
    bool stands_alone(std::size_t i) const {
        return chars_[i].char_class == CharClass::letter &&
               (i + 1 == chars_.size() || chars_[i + 1].char_class != CharClass::extends);
    }
    void add_neighbours(std::string_view text, WordSpan word, std::size_t i) {
        for (const char32_t letter : how_->neighbours_of(lower(chars_[i].code))) {
            add(text, word, {kNeighbourRule, i, {as_case_of(chars_[i].code, letter), 0}, 1},
                neighbours_);
        }
    }
    void add_swap(std::string_view text, WordSpan word, std::size_t i) {
        const std::uint32_t a = chars_[i].code;
        const std::uint32_t b = chars_[i + 1].code;
        if (lower(a) == lower(b)) return;
        add(text, word, {kSwapRule, i, {as_case_of(a, b), as_case_of(b, a)}, 2}, swaps_);
    }
    void add(std::string_view text, WordSpan word, const Change& change, std::vector<Change>& changes) {
        if (!how_->is_known(spell(text, word, change))) changes.push_back(change);
    }

    std::string spell(std::string_view text, WordSpan word, const Change& change) const {
        const std::size_t first = chars_[change.first].begin;
        const std::size_t last = chars_[change.first + change.n_codes - 1].end;
        std::string spelling(text.substr(word.begin, first - word.begin));
        for (std::size_t i = 0; i < change.n_codes; ++i) append_utf8(spelling, change.codes[i]);
        spelling += text.substr(last, word.end - last);
        return spelling;
    }

    const Misspelling* how_;
    std::vector<WordSpan> words_;
    std::vector<Letter> chars_;
    std::vector<Change> swaps_;
    std::vector<Change> neighbours_;
    std::vector<Misspelt> found_;
};

void fill(KeyIndex& index, const StringColumn& words) {
    for (std::int64_t i = 0; i < words.length; ++i) {
        if (words.is_valid(i) && !words[i].empty()) index.entry(0, words[i]).value = 1;
    }
    index.build_filter();
}

}  // namespace

Misspelling::Misspelling(const StringColumn& letters, const StringColumn& neighbours,
                         const StringColumn& known, const StringColumn& listed,
                         const NoiseOptions& options)
    : options_(options) {
    if (letters.length != neighbours.length) {
        throw std::invalid_argument("letters and neighbours differ in length");
    }
    for (std::int64_t i = 0; i < letters.length; ++i) {
        const std::string_view letter = letters[i];
        if (letter.empty() || code_point_at(letter, 0).n_bytes != letter.size()) {
            throw std::invalid_argument("letter " + std::to_string(i) + " is not one letter");
        }
        std::u32string& beside = neighbours_[code_point_at(letter, 0).value];
        const std::string_view all = neighbours[i];
        for (std::size_t at = 0; at < all.size();) {
            const CodePoint code = code_point_at(all, at);
            if (code.value == kIllFormed) throw std::invalid_argument("a neighbour is ill-formed");
            beside += static_cast<char32_t>(code.value);
            at += code.n_bytes;
        }
    }
    fill(known_, known);
    fill(listed_, listed);
}

const std::u32string& Misspelling::neighbours_of(std::uint32_t letter) const {
    static const std::u32string none;
    const auto found = neighbours_.find(letter);
    return found == neighbours_.end() ? none : found->second;
}

bool Misspelling::is_listed(std::string_view word) const {
    return listed_.find(word) != nullptr;
}

bool Misspelling::is_known(std::string_view word) const {
    if (known_.size() == 0) return false;
    if (known_.find(word) != nullptr) return true;
    constexpr std::array kEndings{
        std::string_view("s"),  std::string_view("es"),  std::string_view("d"),
        std::string_view("ed"), std::string_view("ing"), std::string_view("r"),
        std::string_view("er"), std::string_view("st"),  std::string_view("est"),
        std::string_view("ly")};
    return std::ranges::any_of(kEndings, [&](std::string_view ending) {
        return word.size() > ending.size() && word.ends_with(ending) &&
               known_.find(word.substr(0, word.size() - ending.size())) != nullptr;
    });
}

std::uint64_t address_of(std::string_view text) {
    std::uint64_t hash = 0xCBF29CE484222325ULL;
    for (const char c : text) {
        hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3ULL;
    }
    return hash;
}

Substituted misspell(const StringColumn& column, const Misspelling& misspelling,
                     const SubstitutionOptions& options, const Execution& execution) {
    const std::int64_t chunk_rows = rows_per_chunk(column);
    const std::int64_t n_chunks = column.length == 0 ? 0 : (column.length - 1) / chunk_rows + 1;
    std::vector<ChunkTexts> chunks(static_cast<std::size_t>(n_chunks));
    Pool<Misspeller> misspellers;
    parallel_chunks(column.length, chunk_rows, execution, [&](Range rows) {
        ChunkTexts& chunk = chunks[static_cast<std::size_t>(rows.begin / chunk_rows)];
        const auto misspeller =
            misspellers.take([&] { return std::make_unique<Misspeller>(misspelling); });
        const auto put = [&chunk](std::string_view piece) {
            chunk.text.insert(chunk.text.end(), piece.begin(), piece.end());
        };
        for (std::int64_t i = rows.begin; i < rows.end; ++i) {
            const std::string_view text = column[i];
            std::size_t done = 0;
            if (column.is_valid(i)) {
                for (const Misspelt& each : misspeller->misspell(text)) {
                    const auto [begin, end] = each.word;
                    put(text.substr(done, begin - done));
                    put(each.spelling);
                    done = end;
                    if (!options.with_edits) continue;
                    chunk.edits.add(i, static_cast<std::int64_t>(begin),
                                    static_cast<std::int64_t>(end), text.substr(begin, end - begin),
                                    each.spelling, static_cast<Rule>(each.rule));
                }
            }
            put(text.substr(done));
            chunk.row_ends.push_back(static_cast<std::int64_t>(chunk.text.size()));
            chunk.changed.push_back(done > 0 ? 1 : 0);
        }
    });
    return assemble(column, chunk_rows, std::move(chunks), options, execution);
}

}  // namespace ietest::text
