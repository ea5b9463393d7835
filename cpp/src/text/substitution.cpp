#include "ietest/text/substitution.hpp"

#include <algorithm>
#include <stdexcept>

#include "chunks.hpp"
#include "ietest/text/dispatch.hpp"

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

// A word that may be a key, or begin one.
struct Candidate {
    Probe probe;
    std::uint32_t word;
    std::uint32_t may_go_on;  // whether a key may go on with the next word
};

// Writes the candidates among n words, from each of which 8 bytes can be read, and gives their end.
// Without branches: whether a word is one cannot be foretold.
template <bool ignores_case, bool has_pairs>
IETEST_ALWAYS_INLINE Candidate* sieve_words(const char* text, const std::uint32_t* begins,
                                            const std::uint32_t* ends, std::size_t n_words,
                                            KeyIndex::Filter::View words,
                                            KeyIndex::Filter::View pairs, Candidate* out) {
    if (n_words == 0) return out;
    Probe probe = KeyIndex::make_probe<ignores_case>(text + begins[0], ends[0] - begins[0]);
    for (std::size_t word = 0; word < n_words; ++word) {
        // Of the last word there is no next; its own hash will do.
        const std::size_t next = word + 1 < n_words ? word + 1 : word;
        const Probe next_probe =
            KeyIndex::make_probe<ignores_case>(text + begins[next], ends[next] - begins[next]);
        std::uint32_t may_go_on = 0;
        if constexpr (has_pairs) {
            may_go_on = pairs.may_hold(KeyIndex::pair_hash(probe.hash, next_probe.hash)) ? 1 : 0;
        }
        *out = {probe, static_cast<std::uint32_t>(word), may_go_on};
        out += (words.may_hold(probe.hash) ? 1U : 0U) | may_go_on;
        probe = next_probe;
    }
    return out;
}

using Sieve = Candidate* (*)(const char*, const std::uint32_t*, const std::uint32_t*, std::size_t,
                             KeyIndex::Filter::View, KeyIndex::Filter::View, Candidate*);

template <bool ignores_case, bool has_pairs>
Candidate* sieve_anywhere(const char* text, const std::uint32_t* begins, const std::uint32_t* ends,
                          std::size_t n_words, KeyIndex::Filter::View words,
                          KeyIndex::Filter::View pairs, Candidate* out) {
    return sieve_words<ignores_case, has_pairs>(text, begins, ends, n_words, words, pairs, out);
}

#if defined(IETEST_AVX2)
template <bool ignores_case, bool has_pairs>
IETEST_TARGET_AVX2 Candidate* sieve_avx2(const char* text, const std::uint32_t* begins,
                                         const std::uint32_t* ends, std::size_t n_words,
                                         KeyIndex::Filter::View words, KeyIndex::Filter::View pairs,
                                         Candidate* out) {
    return sieve_words<ignores_case, has_pairs>(text, begins, ends, n_words, words, pairs, out);
}
#endif

template <bool ignores_case, bool has_pairs>
Sieve choose_sieve_for(Instructions instructions) {
#if defined(IETEST_AVX2)
    if (instructions == Instructions::avx2) return sieve_avx2<ignores_case, has_pairs>;
#endif
    (void)instructions;
    return sieve_anywhere<ignores_case, has_pairs>;
}

Sieve choose_sieve(Instructions instructions, bool ignores_case, bool has_pairs) {
    if (ignores_case) {
        return has_pairs ? choose_sieve_for<true, true>(instructions)
                         : choose_sieve_for<true, false>(instructions);
    }
    return has_pairs ? choose_sieve_for<false, true>(instructions)
                     : choose_sieve_for<false, false>(instructions);
}

// Finds a chunk's matches. In three sweeps, each of them short of unpredictable branches: where
// are words; which of them may be keys (a bit filter); which are.
class Finder {
  public:
    Finder(const SubstitutionTable& table, Instructions instructions)
        : table_(table),
          index_(table.index()),
          instructions_(instructions),
          scanner_(instructions) {}

    // text: the chunk; n_readable: bytes that may be read from its beginning, text or not.
    void find(std::string_view text, std::size_t n_readable,
              const std::vector<std::uint32_t>& row_begins, std::vector<Match>& matches) {
        if (table_.begins_anywhere()) {
            scanner_.scan_all(text, row_begins);
        } else {
            scanner_.scan(text, row_begins);
            if (table_.has_first_characters()) {
                scanner_.add_pieces(text, table_.first_characters());
            }
        }
        sieve(text, n_readable);

        const std::uint32_t* begins = scanner_.begins();
        const std::uint32_t* ends = scanner_.ends();
        const auto* candidates = candidates_.as<Candidate>();
        const std::uint32_t odd_blanks = table_.goes_on_with_odd_blanks() ? 1 : 0;
        std::uint32_t done = 0;
        for (std::size_t c = 0; c < n_candidates_; ++c) {
            if (c + kAhead < n_candidates_) index_.prefetch(candidates[c + kAhead].probe.hash);
            const std::uint32_t word = candidates[c].word;
            const std::uint32_t begin = begins[word];
            if (begin < done) continue;
            const KeyEntry* entry = index_.find(candidates[c].probe, text.data() + begin);
            if (entry == nullptr) continue;
            Match match{begin, ends[word], entry->value};
            done = match.end;
            // Rarely true, and one branch: whether a key could go on from here otherwise than with
            // a blank cannot be foretold, that nothing but a blank is there can.
            const bool blank_behind = done >= n_readable || text.data()[done] == ' ';
            const std::uint32_t otherwise = table_.goes_on_otherwise(entry->next_node);
            if ((candidates[c].may_go_on | (otherwise & (odd_blanks | (blank_behind ? 0U : 1U)))) !=
                0) {
                done = follow(text, n_readable, word, *entry, match);
            }
            if (match.value == kNoValue) continue;
            if (table_.may_change_nothing() &&
                table_.value(match.value) == text.substr(begin, match.end - begin)) {
                continue;
            }
            table_.prefetch_value(match.value);
            matches.push_back(match);
        }
    }

  private:
    static constexpr std::size_t kAhead = 8;
    void sieve(std::string_view text, std::size_t n_readable) {
        const std::size_t n_words = scanner_.n_words();
        const auto n_bytes = static_cast<std::int64_t>(sizeof(Candidate) * (n_words + 2));
        if (candidates_.size() < n_bytes) candidates_ = Buffer(n_bytes);
        auto* candidates = candidates_.as<Candidate>();
        // Eight bytes can be read from all words but the column's last few.
        std::size_t n_wide = n_words;
        while (n_wide > 0 && scanner_.begins()[n_wide - 1] + 8 > n_readable) --n_wide;
        const Sieve find_candidates =
            choose_sieve(instructions_, index_.ignore_case(), table_.has_pairs());
        Candidate* end =
            find_candidates(text.data(), scanner_.begins(), scanner_.ends(), n_wide,
                            table_.word_filter().view(), table_.pair_filter().view(), candidates);
        // The last wide word was judged without the word behind it.
        for (std::size_t word = n_wide - (n_wide > 0 ? 1 : 0); word < n_words; ++word) {
            if (end != candidates && (end - 1)->word == word) --end;
            const std::size_t begin = scanner_.begins()[word];
            const std::string_view piece = text.substr(begin, scanner_.ends()[word] - begin);
            *end++ = {index_.probe(piece), static_cast<std::uint32_t>(word), 1};
        }
        n_candidates_ = static_cast<std::size_t>(end - candidates);
    }

    // From a first piece to the longest key that goes on from it, if there is any: sets the match's
    // end and value. Gives where the search goes on.
    std::uint32_t follow(std::string_view text, std::size_t n_readable, std::size_t word,
                         const KeyEntry& first, Match& match) const {
        const std::uint32_t first_end = match.end;
        std::uint32_t at = match.end;
        const KeyEntry* entry = &first;
        while (entry->next_node != 0 && !ends_row(text, at)) {
            std::uint32_t end = 0;
            if (table_.joins_blanks() && stands_blank_and_word(text, at, word)) {
                if (table_.has_blank_edges()) {
                    const KeyEntry* blank = index_.find(" ", entry->next_node);
                    if (blank != nullptr && blank->value != kNoValue) {
                        match.end = at + 1;
                        match.value = blank->value;
                    }
                }
                end = scanner_.ends()[++word];
            } else {
                const std::string_view row = text.substr(0, scanner_.row_end_after(at));
                end = static_cast<std::uint32_t>(next_segment(row, at).end);
            }
            const char* piece = text.data() + at;
            const Probe probe = at + 8 <= n_readable ? index_.probe_wide(piece, end - at)
                                                     : index_.probe({piece, end - at});
            const KeyEntry* longer = index_.find(probe, piece, entry->next_node);
            if (longer == nullptr) break;
            entry = longer;
            at = end;
            while (word + 1 < scanner_.n_words() && scanner_.begins()[word + 1] < at) ++word;
            if (entry->value != kNoValue) {
                match.end = at;
                match.value = entry->value;
            }
        }
        const bool found = match.value != kNoValue;
        if (table_.options().skips_lookahead) {
            // Whatever was looked at is lost, at the end of a text even without a match.
            if (table_.joins_blanks() && entry->next_node != 0 && at < text.size() &&
                text[at] == ' ' && !ends_row(text, at) && ends_row(text, at + 1) &&
                table_.goes_on_with_blank(entry->next_node)) {
                ++at;
            }
            if (found || ends_row(text, at)) return std::max(at, match.end);
        }
        return found ? match.end : first_end;
    }

    bool ends_row(std::string_view text, std::uint32_t at) const {
        return at == text.size() || scanner_.row_begins_at(at);
    }
    // Is the next piece one blank and the next word, in the same row?
    bool stands_blank_and_word(std::string_view text, std::uint32_t at, std::size_t word) const {
        if (word + 1 >= scanner_.n_words() || scanner_.begins()[word + 1] != at + 1 ||
            text[at] != ' ' || scanner_.row_begins_at(at + 1)) {
            return false;
        }
        // Among the words may be pieces that begin otherwise.
        const auto first = static_cast<unsigned char>(text[at + 1]);
        return first >= 0x80 || !table_.first_characters()[first];
    }

    const SubstitutionTable& table_;
    const KeyIndex& index_;
    Instructions instructions_;
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
    // A value of the table, behind which there is room to read.
    void put(std::string_view value) {
        static_assert(SubstitutionTable::kValueSlack >= 32);
        if (out_end_ - out_ >= static_cast<std::ptrdiff_t>(value.size()) + 32) {
            for (std::size_t at = 0; at < value.size(); at += 32) {
                std::memcpy(out_ + at, value.data() + at, 32);
            }
        } else if (!value.empty()) {
            std::memcpy(out_, value.data(), value.size());
        }
        out_ += value.size();
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
    goes_on_with_blank_.assign(1, false);
    goes_on_otherwise_.assign(1, 0);
    std::vector<std::pair<std::string_view, std::string_view>> pairs;
    for (std::int64_t i = 0; options.by_words && i < keys.length; ++i) {
        if (!keys.is_valid(i) || keys[i].empty() || next_segment(keys[i], 0).is_word) continue;
        const auto first = static_cast<unsigned char>(keys[i].front());
        if (first > ' ' && first < 0x7F) {
            first_characters_[first] = has_first_characters_ = true;
        } else {
            begins_anywhere_ = true;
        }
    }
    const auto end_of_piece = [&](std::string_view key, std::size_t at) {
        const Segment segment = next_segment(key, at);
        if (!joins_blanks() || segment.end == key.size() ||
            key.substr(at, segment.end - at) != " ") {
            return segment.end;
        }
        const Segment next = next_segment(key, segment.end);
        return next.is_word ? next.end : segment.end;
    };
    for (std::int64_t i = 0; i < keys.length; ++i) {
        if (!keys.is_valid(i) || !values.is_valid(i)) {
            throw std::invalid_argument("key " + std::to_string(i) + " or its value is missing");
        }
        const std::string_view key = keys[i];
        if (key.empty()) throw std::invalid_argument("key " + std::to_string(i) + " is empty");
        std::uint32_t node = 0;
        std::string_view first;
        int n_pieces = 0;
        for (std::size_t at = 0;;) {
            const std::size_t end = options.by_words ? end_of_piece(key, at) : key.size();
            const std::string_view piece = key.substr(at, end - at);
            if (at > 0) {
                const bool blank_and_word = piece.size() > 1 && piece[0] == ' ' && piece[1] != ' ';
                if (piece == " " || blank_and_word) goes_on_with_blank_[node] = true;
                has_blank_edges_ = has_blank_edges_ || piece == " ";
                if (!blank_and_word) {
                    goes_on_otherwise_[node] = 1;
                    goes_on_with_odd_blanks_ = goes_on_with_odd_blanks_ || piece[0] == ' ';
                }
                if (blank_and_word && n_pieces == 1) {
                    pairs.emplace_back(first, piece.substr(1));
                }
            } else {
                first = piece;
            }
            ++n_pieces;
            KeyEntry& entry = index_.entry(node, piece);
            at = end;
            if (at == key.size()) {
                entry.value = static_cast<std::uint32_t>(i);
                break;
            }
            if (entry.next_node == 0) {
                entry.next_node = index_.new_node();
                goes_on_with_blank_.resize(entry.next_node + 1, false);
                goes_on_otherwise_.resize(entry.next_node + 1, 0);
            }
            node = entry.next_node;
        }
        const bool same = options.ignore_case ? folds_to(key, values[i]) : key == values[i];
        may_change_nothing_ = may_change_nothing_ || same;
        values_ += values[i];
        value_begins_.push_back(values_.size());
        rules_.push_back(rules[rules.size() == 1 ? 0 : static_cast<std::size_t>(i)]);
    }
    n_keys_ = keys.length;
    values_.append(kValueSlack, '\0');
    index_.build_filter();
    word_filter_ = KeyIndex::Filter(index_.size());
    index_.for_each_first([&](const KeyEntry& entry, std::uint64_t hash) {
        if (entry.value != kNoValue || goes_on_otherwise(entry.next_node) != 0)
            word_filter_.add(hash);
    });
    has_pairs_ = !pairs.empty();
    pair_filter_ = KeyIndex::Filter(pairs.size());
    for (const auto& [first, word] : pairs) {
        pair_filter_.add(KeyIndex::pair_hash(index_.probe(first).hash, index_.probe(word).hash));
    }
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
