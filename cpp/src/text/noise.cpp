#include "ietest/text/noise.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>
#include <vector>

#include "chunks.hpp"
#include "ietest/text/utf8.hpp"
#include "misspeller.hpp"
#include "writer.hpp"

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

    std::string_view spelling(const Misspelt& word) const {
        return {spellings.data() + word.spelling, word.n_bytes};
    }
};

ChunkNoise find_noise(const StringColumn& column, Range rows, Misspeller& misspeller) {
    const std::int64_t base = column.begin_of(rows.begin);
    const std::int64_t n_bytes = column.begin_of(rows.end) - base;
    if (n_bytes > std::int64_t{0xFFFFFF00}) throw std::length_error("a text of over 4 GB");
    std::vector<std::uint32_t> row_begins(static_cast<std::size_t>(rows.end - rows.begin + 1));
    for (std::int64_t i = rows.begin; i <= rows.end; ++i) {
        row_begins[static_cast<std::size_t>(i - rows.begin)] =
            static_cast<std::uint32_t>(column.begin_of(i) - base);
    }
    ChunkNoise chunk;
    chunk.n_bytes_out = n_bytes;
    if (n_bytes == 0) return chunk;
    misspeller.begin({column.data + base, static_cast<std::size_t>(n_bytes)}, row_begins);
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

// Writes the new text of a chunk: what stands between two words goes over in one piece.
void write_text(std::string_view text, const ChunkNoise& chunk, Writer writer) {
    std::size_t copied = 0;
    for (const Misspelt& word : chunk.words) {
        writer.put_source(text.data() + copied, word.begin - copied);
        writer.put_padded<kSpellingSlack>(chunk.spelling(word));
        copied = word.end;
    }
    writer.put_source(text.data() + copied, text.size() - copied);
}

// Sets where the new texts of some rows end and whether they changed; gives how many did.
std::int64_t end_rows(const StringColumn& column, Range rows, const ChunkNoise& chunk,
                      std::int64_t out_begin, const SubstitutionOptions& options,
                      Substituted& result, EditList* edits) {
    const std::int64_t base = column.begin_of(rows.begin);
    std::int64_t grown = out_begin - base;
    std::int64_t n_changed = 0;
    auto word = chunk.words.begin();
    for (std::int64_t i = rows.begin; i < rows.end; ++i) {
        const std::int64_t row_begin = column.begin_of(i) - base;
        const std::int64_t row_end = column.begin_of(i + 1) - base;
        std::uint8_t is_changed = 0;
        for (; word != chunk.words.end() && word->begin < row_end; ++word) {
            is_changed = 1;
            grown += std::int64_t{word->n_bytes} - (word->end - word->begin);
            if (!options.with_edits) continue;
            edits->add(i, word->begin - row_begin, word->end - row_begin,
                       {column.data + base + word->begin, word->end - word->begin},
                       chunk.spelling(*word), static_cast<Rule>(word->rule));
        }
        result.changed.as<std::uint8_t>()[i] = is_changed;
        result.strings.set_offset(i + 1, base + row_end + grown);
        n_changed += is_changed;
    }
    return n_changed;
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
    const std::int64_t n_rows = column.length;
    const std::int64_t chunk_rows = rows_per_chunk(column);
    const std::int64_t n_chunks = n_rows == 0 ? 0 : (n_rows - 1) / chunk_rows + 1;
    std::vector<ChunkNoise> chunks(static_cast<std::size_t>(n_chunks));
    Pool<Misspeller> misspellers;
    parallel_chunks(n_rows, chunk_rows, execution, [&](Range rows) {
        const auto misspeller = misspellers.take(
            [&] { return std::make_unique<Misspeller>(misspelling, options.instruction_set); });
        chunks[static_cast<std::size_t>(rows.begin / chunk_rows)] =
            find_noise(column, rows, *misspeller.operator->());
    });

    std::vector<std::int64_t> out_begins(chunks.size() + 1, 0);
    for (std::size_t i = 0; i < chunks.size(); ++i) {
        out_begins[i + 1] = out_begins[i] + chunks[i].n_bytes_out;
    }
    Substituted result;
    result.strings = OwnedStrings(column, out_begins.back(), options.offset_limit);
    result.changed = Buffer(n_rows);
    std::vector<std::int64_t> n_changed(chunks.size(), 0);
    std::vector<EditList> edits(options.with_edits ? chunks.size() : 0);
    parallel_chunks(n_rows, chunk_rows, execution, [&](Range rows) {
        const auto number = static_cast<std::size_t>(rows.begin / chunk_rows);
        const ChunkNoise chunk = std::move(chunks[number]);
        const std::int64_t base = column.begin_of(rows.begin);
        const auto n_bytes = static_cast<std::size_t>(column.begin_of(rows.end) - base);
        char* out = result.strings.data();
        write_text({column.data + base, n_bytes}, chunk,
                   Writer(out + out_begins[number], out + out_begins[number + 1],
                          column.data + column.begin_of(n_rows)));
        n_changed[number] = end_rows(column, rows, chunk, out_begins[number], options, result,
                                     options.with_edits ? &edits[number] : nullptr);
    });
    for (const std::int64_t n : n_changed) result.n_changed += n;
    if (options.with_edits) result.edits = joined(std::move(edits));
    return result;
}

}  // namespace ietest::text
