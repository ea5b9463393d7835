#include "ietest/text/noise.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>
#include <vector>

#include "ietest/text/utf8.hpp"
#include "misspeller.hpp"
#include "replaced_words.hpp"

namespace ietest::text {
namespace {

void fill(KeyIndex& index, const StringColumn& words) {
    for (std::int64_t i = 0; i < words.length; ++i) {
        if (words.is_valid(i) && !words[i].empty()) index.entry(0, words[i]).value = 1;
    }
    index.build_filter();
}

// What becomes of a chunk.
struct ChunkNoise {
    std::vector<Misspelt> words;
    std::vector<char> spellings;  // and kSpellingSlack bytes
    std::int64_t n_bytes_out = 0;

    std::string_view piece(const Misspelt& word) const {
        return {spellings.data() + word.spelling, word.n_bytes};
    }
    Rule rule(const Misspelt& word) const { return static_cast<Rule>(word.rule); }
};

ChunkNoise find_noise(const StringColumn& column, Range rows, Misspeller& misspeller) {
    const auto [text, row_begins] = text_of(column, rows);
    ChunkNoise chunk;
    chunk.n_bytes_out = static_cast<std::int64_t>(text.size());
    if (text.empty()) return chunk;
    misspeller.begin(text, row_begins);
    for (std::size_t i = 0; i + 1 < row_begins.size(); ++i) {
        if (!column.is_valid(rows.begin + static_cast<std::int64_t>(i))) continue;
        misspeller.misspell(row_begins[i], row_begins[i + 1], chunk.words, chunk.spellings);
    }
    chunk.spellings.resize(chunk.spellings.size() + kSpellingSlack);
    for (const Misspelt& word : chunk.words) {
        chunk.n_bytes_out += std::int64_t{word.n_bytes} - (word.end - word.begin);
    }
    return chunk;
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
        const std::uint32_t code = code_point_at(letter, 0).value;
        std::u32string& beside =
            code < latin_neighbours_.size() ? latin_neighbours_[code] : other_neighbours_[code];
        const std::string_view all = neighbours[i];
        for (std::size_t at = 0; at < all.size();) {
            const CodePoint neighbour = code_point_at(all, at);
            if (neighbour.value == kIllFormed) {
                throw std::invalid_argument("a neighbour is ill-formed");
            }
            beside += static_cast<char32_t>(neighbour.value);
            at += neighbour.n_bytes;
        }
    }
    fill(known_, known);
    fill(listed_, listed);
}

const std::u32string& Misspelling::neighbours_of(std::uint32_t letter) const {
    static const std::u32string none;
    if (letter < latin_neighbours_.size()) return latin_neighbours_[letter];
    const auto found = other_neighbours_.find(letter);
    return found == other_neighbours_.end() ? none : found->second;
}

bool Misspelling::is_listed(std::string_view word) const {
    return listed_.find(word) != nullptr;
}

bool Misspelling::is_known_padded(std::string_view word) const {
    if (known_.size() == 0) return false;
    // Few misspelt words come through the filter, which stays in the cache; the table does not.
    const auto has = [&](std::size_t size) {
        const Probe probe = known_.probe_wide(word.data(), size);
        return known_.may_hold(probe) && known_.find(probe, word.data()) != nullptr;
    };
    if (has(word.size())) return true;
    constexpr std::array kEndings{std::string_view("s"),   std::string_view("es"),
                                  std::string_view("d"),   std::string_view("ed"),
                                  std::string_view("ing"), std::string_view("r"),
                                  std::string_view("er"),  std::string_view("st"),
                                  std::string_view("est"), std::string_view("ly")};
    const char last = ascii_lower(word.back());
    if (last != 's' && last != 'd' && last != 'g' && last != 'r' && last != 't' && last != 'y') {
        return false;
    }
    // An ending counts in either case, as the words of the table do.
    return std::ranges::any_of(kEndings, [&](std::string_view ending) {
        if (word.size() <= ending.size()) return false;
        const std::size_t stem = word.size() - ending.size();
        return equal_ignoring_case(word.substr(stem), ending) && has(stem);
    });
}

std::uint64_t address_of(std::string_view text) {
    std::uint64_t hash = 0xCBF29CE484222325ULL ^ text.size();
    const auto add = [&](std::uint64_t bytes) {
        hash = (hash ^ bytes) * 0x9E3779B97F4A7C15ULL;
        hash ^= hash >> 32;
    };
    std::size_t at = 0;
    for (; at + 8 <= text.size(); at += 8) add(load8(text.data() + at));
    if (at == text.size()) return hash;
    std::uint64_t rest = 0;
    for (std::size_t i = text.size(); i > at; --i) {
        rest = (rest << 8) | static_cast<unsigned char>(text[i - 1]);
    }
    add(rest);
    return hash;
}

Substituted misspell(const StringColumn& column, const Misspelling& misspelling,
                     const SubstitutionOptions& options, const Execution& execution) {
    const Chunks chunks({&column, 1});
    std::vector<ChunkNoise> found(chunks.size());
    std::vector<std::int64_t> sizes(chunks.size());
    Pool<Misspeller> misspellers;
    chunks.for_each(execution, [&](Range rows, std::size_t number) {
        const auto misspeller = misspellers.take(
            [&] { return std::make_unique<Misspeller>(misspelling, options.instruction_set); });
        found[number] = find_noise(column, rows, *misspeller);
        sizes[number] = found[number].n_bytes_out;
    });
    return write_chunks(column, chunks, sizes, options, execution, [&](const ChunkPlace& place) {
        const ChunkNoise chunk = std::move(found[place.number]);
        return write_replaced<kSpellingSlack>(column, std::span(chunk.words), chunk, place);
    });
}

}  // namespace ietest::text
