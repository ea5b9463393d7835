#include "ietest/text/substitution.hpp"

#include <algorithm>
#include <stdexcept>

#include "chunks.hpp"

namespace ietest::text {
namespace {

constexpr std::uint32_t kNoValue = KeyIndex::kNoValue;

// A key found: bytes of the chunk, and the value to put there.
struct Match {
    std::uint32_t begin;
    std::uint32_t end;
    std::uint32_t value;
};

struct ChunkMatches {
    std::vector<Match> matches;
    std::int64_t n_bytes_out = 0;
};

// Finds a chunk's matches. In three sweeps, each of them short of unpredictable branches: where
// are words; which of them may be keys (a bit filter); which are.
class Finder {
  public:
    Finder(const SubstitutionTable& table, Instructions instructions)
        : table_(table), index_(table.index()), scanner_(instructions) {}

    // text: the chunk; n_readable: bytes that may be read from its beginning, text or not.
    void find(std::string_view text, std::size_t n_readable,
              const std::vector<std::uint32_t>& row_begins, std::vector<Match>& matches) {
        if (table_.begins_outside_words()) {
            scanner_.scan_all(text, row_begins);
        } else {
            scanner_.scan(text, row_begins);
        }
        if (index_.ignore_case()) {
            sieve<true>(text, n_readable);
        } else {
            sieve<false>(text, n_readable);
        }

        const std::uint32_t* begins = scanner_.begins();
        const std::uint32_t* ends = scanner_.ends();
        const auto* candidates = candidates_.as<Candidate>();
        std::uint32_t done = 0;
        for (std::size_t c = 0; c < n_candidates_; ++c) {
            if (c + kAhead < n_candidates_) index_.prefetch(candidates[c + kAhead].hash);
            const std::uint32_t word = candidates[c].word;
            const std::uint32_t begin = begins[word];
            if (begin < done) continue;
            const std::uint32_t size = ends[word] - begin;
            const char* piece = text.data() + begin;
            const Probe probe = begin + 8 <= n_readable ? index_.probe_wide(piece, size)
                                                        : index_.probe({piece, size});
            const KeyEntry* entry = index_.find(probe, piece);
            if (entry == nullptr) continue;
            Match match{begin, ends[word], entry->value};
            done = match.end;
            if (entry->next_node != 0) done = follow(text, row_begins, *entry, match);
            if (match.value == kNoValue) continue;
            if (table_.may_change_nothing() &&
                table_.value(match.value) == text.substr(begin, match.end - begin)) {
                continue;
            }
            matches.push_back(match);
        }
    }

  private:
    static constexpr std::size_t kAhead = 8;
    struct Candidate {
        std::uint64_t hash;
        std::uint32_t word;
    };

    template <bool ignores_case>
    void sieve(std::string_view text, std::size_t n_readable) {
        const std::size_t n_words = scanner_.n_words();
        const auto n_bytes = static_cast<std::int64_t>(sizeof(Candidate) * (n_words + 1));
        if (candidates_.size() < n_bytes) candidates_ = Buffer(n_bytes);
        const std::uint32_t* begins = scanner_.begins();
        const std::uint32_t* ends = scanner_.ends();
        auto* candidate = candidates_.as<Candidate>();
        const KeyIndex::Filter filter = index_.filter();
        const char* from = text.data();
        // Eight bytes can be read from all words but the column's last few.
        std::size_t n_wide = n_words;
        while (n_wide > 0 && begins[n_wide - 1] + 8 > n_readable) --n_wide;
        for (std::size_t word = 0; word < n_wide; ++word) {
            const Probe probe =
                KeyIndex::make_probe<ignores_case>(from + begins[word], ends[word] - begins[word]);
            *candidate = {probe.hash, static_cast<std::uint32_t>(word)};
            candidate += filter.may_hold(probe.hash) ? 1 : 0;
        }
        for (std::size_t word = n_wide; word < n_words; ++word) {
            *candidate++ = {0, static_cast<std::uint32_t>(word)};
        }
        n_candidates_ = static_cast<std::size_t>(candidate - candidates_.as<Candidate>());
    }

    // From a first piece to the longest key that goes on from it, if there is any: sets the match's
    // end and value. Gives where the search goes on.
    std::uint32_t follow(std::string_view text, const std::vector<std::uint32_t>& row_begins,
                         const KeyEntry& first, Match& match) const {
        const std::uint32_t row_end =
            *std::upper_bound(row_begins.begin(), row_begins.end() - 1, match.begin);
        const std::string_view row = text.substr(0, row_end);
        const std::uint32_t first_end = match.end;
        std::size_t at = match.end;
        const KeyEntry* entry = &first;
        while (entry->next_node != 0 && at < row_end) {
            const std::size_t end = next_segment(row, at).end;
            const KeyEntry* longer = index_.find(row.substr(at, end - at), entry->next_node);
            if (longer == nullptr) break;
            entry = longer;
            at = end;
            if (entry->value != kNoValue) {
                match.end = static_cast<std::uint32_t>(at);
                match.value = entry->value;
            }
        }
        const bool found = match.value != kNoValue;
        if (table_.options().skips_lookahead) {
            // Whatever was looked at is lost, at the end of a text even without a match.
            if (at == row_end || found) return static_cast<std::uint32_t>(at);
        }
        return found ? match.end : first_end;
    }

    const SubstitutionTable& table_;
    const KeyIndex& index_;
    WordScanner scanner_;
    Buffer candidates_;
    std::size_t n_candidates_ = 0;
};

// Copies short pieces in steps of 32 bytes, overrunning both ends where there is room for it.
class Writer {
  public:
    Writer(char* out, char* out_end, const char* source_end)
        : out_(out), out_end_(out_end), source_end_(source_end) {}

    void put_source(const char* from, std::size_t size) {
        if (out_end_ - out_ >= static_cast<std::ptrdiff_t>(size) + 32 &&
            source_end_ - from >= static_cast<std::ptrdiff_t>(size) + 32) {
            for (std::size_t at = 0; at < size; at += 32) std::memcpy(out_ + at, from + at, 32);
        } else if (size > 0) {
            std::memcpy(out_, from, size);
        }
        out_ += size;
    }
    void put(std::string_view piece) {
        if (!piece.empty()) std::memcpy(out_, piece.data(), piece.size());
        out_ += piece.size();
    }
    const char* position() const { return out_; }

  private:
    char* out_;
    char* out_end_;
    const char* source_end_;
};

// Could a text that the key matches be the value itself?
bool folds_to(std::string_view key, std::string_view value) {
    return std::equal(key.begin(), key.end(), value.begin(), value.end(),
                      [](char a, char b) { return ascii_lower(a) == ascii_lower(b); });
}

}  // namespace

SubstitutionTable::SubstitutionTable(const StringColumn& keys, const StringColumn& values,
                                     RuleCodes rules, const TableOptions& options)
    : options_(options), index_(options.ignore_case) {
    if (keys.length != values.length) {
        throw std::invalid_argument("as many values as keys are needed");
    }
    if (rules.size() != 1 && static_cast<std::int64_t>(rules.size()) != keys.length) {
        throw std::invalid_argument("one rule is needed, or one a key");
    }
    for (std::int64_t i = 0; i < keys.length; ++i) {
        if (!keys.is_valid(i) || !values.is_valid(i)) {
            throw std::invalid_argument("key " + std::to_string(i) + " or its value is missing");
        }
        const std::string_view key = keys[i];
        if (key.empty()) throw std::invalid_argument("key " + std::to_string(i) + " is empty");
        std::uint32_t node = 0;
        for (std::size_t at = 0;;) {
            const Segment segment =
                options.by_words ? next_segment(key, at) : Segment{key.size(), true};
            if (at == 0 && !segment.is_word) begins_outside_words_ = true;
            const std::string_view piece = key.substr(at, segment.end - at);
            KeyEntry& entry = index_.entry(node, piece);
            at = segment.end;
            if (at == key.size()) {
                entry.value = static_cast<std::uint32_t>(i);
                break;
            }
            if (entry.next_node == 0) entry.next_node = index_.new_node();
            node = entry.next_node;
        }
        const bool same = options.ignore_case ? folds_to(key, values[i]) : key == values[i];
        may_change_nothing_ = may_change_nothing_ || same;
        values_ += values[i];
        value_begins_.push_back(values_.size());
        rules_.push_back(rules[rules.size() == 1 ? 0 : static_cast<std::size_t>(i)]);
    }
    n_keys_ = keys.length;
    index_.build_filter();
}

Substituted replace_words(const StringColumn& column, const SubstitutionTable& table,
                          const SubstitutionOptions& options, const Execution& execution) {
    if (!table.options().by_words) {
        throw std::invalid_argument("a table of words is needed, this one is of whole tokens");
    }
    const std::int64_t n_rows = column.length;
    const std::int64_t chunk_rows = rows_per_chunk(column);
    const std::int64_t n_chunks = n_rows == 0 ? 0 : (n_rows - 1) / chunk_rows + 1;
    const std::int64_t data_end = n_rows == 0 ? 0 : column.begin_of(n_rows);
    std::vector<ChunkMatches> chunks(static_cast<std::size_t>(n_chunks));
    Pool<Finder> finders;

    parallel_chunks(n_rows, chunk_rows, execution, [&](Range rows) {
        const std::int64_t base = column.begin_of(rows.begin);
        const std::int64_t end = column.begin_of(rows.end);
        if (end - base > std::int64_t{0xFFFFFF00}) throw std::length_error("a text of over 4 GB");
        std::vector<std::uint32_t> row_begins(static_cast<std::size_t>(rows.end - rows.begin + 1));
        for (std::int64_t i = rows.begin; i <= rows.end; ++i) {
            row_begins[static_cast<std::size_t>(i - rows.begin)] =
                static_cast<std::uint32_t>(column.begin_of(i) - base);
        }
        ChunkMatches& chunk = chunks[static_cast<std::size_t>(rows.begin / chunk_rows)];
        const std::string_view text(column.data + base, static_cast<std::size_t>(end - base));
        if (!text.empty()) {
            const auto finder =
                finders.take([&] { return std::make_unique<Finder>(table, options.instructions); });
            finder->find(text, static_cast<std::size_t>(data_end - base), row_begins,
                         chunk.matches);
        }
        chunk.n_bytes_out = end - base;
        for (const Match& match : chunk.matches) {
            chunk.n_bytes_out += static_cast<std::int64_t>(table.value(match.value).size()) -
                                 static_cast<std::int64_t>(match.end - match.begin);
        }
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
        std::vector<Match> matches = std::move(chunks[number].matches);
        const std::int64_t base = column.begin_of(rows.begin);
        const char* text = column.data + base;
        char* out = result.strings.data();
        Writer writer(out + out_begins[number], out + out_begins[number + 1],
                      column.data + data_end);
        auto* changed = result.changed.as<std::uint8_t>();
        std::uint32_t copied = 0;
        std::int64_t grown = out_begins[number] - base;
        auto match = matches.begin();
        for (std::int64_t i = rows.begin; i < rows.end; ++i) {
            const std::int64_t row_end = column.begin_of(i + 1);
            const auto relative_end = static_cast<std::uint32_t>(row_end - base);
            const auto first = match;
            for (; match != matches.end() && match->begin < relative_end; ++match) {
                const std::string_view value = table.value(match->value);
                writer.put_source(text + copied, match->begin - copied);
                writer.put(value);
                copied = match->end;
                grown += static_cast<std::int64_t>(value.size()) -
                         static_cast<std::int64_t>(match->end - match->begin);
                if (options.with_edits) {
                    const std::int64_t row_begin = column.begin_of(i) - base;
                    edits[number].add(i, match->begin - row_begin, match->end - row_begin,
                                      {text + match->begin, match->end - match->begin}, value,
                                      table.rule(match->value));
                }
            }
            changed[i] = match != first;
            n_changed[number] += changed[i];
            result.strings.set_offset(i + 1, row_end + grown);
        }
        const std::int64_t end = column.begin_of(rows.end) - base;
        writer.put_source(text + copied, static_cast<std::size_t>(end - copied));
    });
    for (const std::int64_t n : n_changed) result.n_changed += n;
    if (options.with_edits) result.edits = joined(std::move(edits));
    return result;
}

}  // namespace ietest::text
