#include "ietest/text/substitution.hpp"

#include <algorithm>
#include <stdexcept>

#include "chunks.hpp"
#include "ietest/text/dispatch.hpp"
#include "sieve.hpp"

namespace ietest::text {
namespace {

constexpr std::uint32_t kNoValue = KeyIndex::kNoValue;

// A key found: bytes of the chunk, and the value to put there.
struct Match {
    std::uint32_t begin;
    std::uint32_t end;
    std::uint32_t value;
};

// A chunk's matches in order, and the bytes of its new texts.
struct ChunkMatches {
    Buffer buffer;
    std::size_t n_matches = 0;
    std::int64_t n_bytes_out = 0;

    // Behind the last stands one beyond all text, unless there is none at all.
    std::span<const Match> matches() const { return {buffer.as<Match>(), n_matches}; }
};

// A buffer that grows, and forgets what was in it when it does.
class Scratch {
  public:
    void reserve_bytes(std::size_t n_bytes) {
        if (static_cast<std::size_t>(buffer_.size()) >= n_bytes) return;
        buffer_ = Buffer(static_cast<std::int64_t>(n_bytes + n_bytes / 2));
    }
    template <typename T>
    T* as() {
        return buffer_.as<T>();
    }
    template <typename T>
    const T* as() const {
        return buffer_.as<T>();
    }

  private:
    Buffer buffer_;
};

// Finds a chunk's matches. In sweeps, each of them short of unpredictable branches: where are
// words; which of them may be keys (a bit filter); which are; and the few that need a longer look.
class Finder {
  public:
    Finder(const SubstitutionTable& table, Instructions instructions)
        : table_(table),
          index_(table.index()),
          instructions_(instructions),
          scanner_(instructions) {}

    // text: the chunk; n_readable: bytes that may be read from its beginning, text or not.
    ChunkMatches find(std::string_view text, std::size_t n_readable,
                      const std::vector<std::uint32_t>& row_begins) {
        if (table_.begins_anywhere()) {
            scanner_.scan_all(text, row_begins);
        } else {
            scanner_.scan(text, row_begins);
            if (table_.has_first_characters()) {
                scanner_.add_pieces(text, table_.first_characters());
            }
        }
        sieve(text, n_readable);
        look_up(text, n_readable);
        decide_open_cases(text, n_readable);
        return taken(text);
    }

  private:
    static constexpr std::size_t kAhead = 8;

    // A match that a glance could not decide on.
    struct OpenCase {
        const KeyEntry* entry;  // of its first word; null: not known either
        std::uint32_t match;
        std::uint32_t candidate;
    };

    // Could a key that leads to a node go on behind the word that ends at `end`?
    struct MayGoOn {
        const char* text;
        std::size_t n_readable;
        const std::uint8_t* otherwise;
        std::uint32_t odd_blanks;

        std::uint32_t operator()(std::uint32_t with_next_word, std::uint32_t end,
                                 std::uint32_t node) const {
            // Whether a key could go on otherwise than with a blank cannot be foretold; that
            // nothing but a blank is there can.
            const bool blank_behind = end >= n_readable || text[end] == ' ';
            return with_next_word | (otherwise[node] & (odd_blanks | (blank_behind ? 0U : 1U)));
        }
    };
    MayGoOn may_go_on(std::string_view text, std::size_t n_readable) const {
        return {text.data(), n_readable, table_.goes_on_otherwise(),
                table_.goes_on_with_odd_blanks() ? 1U : 0U};
    }

    static Probe probe_of(const Candidates& candidates, std::size_t c, std::uint32_t size) {
        return {candidates.heads[c], candidates.tails[c], size, candidates.hashes[c]};
    }

    // Sets what is found at a glance, and lists what is not decided by it.
    IETEST_NOINLINE void look_up(std::string_view text, std::size_t n_readable) {
        pending_.reserve_bytes((n_candidates_ + 1) * sizeof(Match));
        open_.reserve_bytes((n_candidates_ + 1) * sizeof(OpenCase));
        auto* const first_match = pending_.as<Match>();
        auto* const first_open = open_.as<OpenCase>();
        Match* match = first_match;
        OpenCase* open = first_open;
        const Candidates candidates = candidates_;
        const std::size_t n_candidates = n_candidates_;
        const std::uint32_t* begins = scanner_.begins();
        const std::uint32_t* ends = scanner_.ends();
        const KeyIndex::View index = index_.view();
        const MayGoOn goes_on = may_go_on(text, n_readable);
        for (std::size_t c = 0; c < n_candidates; ++c) {
            index.prefetch(candidates.hashes[std::min(c + kAhead, n_candidates - 1)]);
            const std::uint32_t begin = begins[candidates.words[c]];
            const std::uint32_t end = ends[candidates.words[c]];
            const auto [entry, found, unsure] = index.glance(probe_of(candidates, c, end - begin));
            const std::uint32_t next_node = entry->next_node & (0U - found);
            const std::uint32_t is_open =
                unsure | (found & goes_on(candidates.may_go_on[c], end, next_node));
            const std::uint32_t is_key = entry->value != kNoValue ? found : 0;
            *match = {begin, end, entry->value};
            *open = {unsure != 0 ? nullptr : entry, static_cast<std::uint32_t>(match - first_match),
                     static_cast<std::uint32_t>(c)};
            match += is_key | is_open;
            open += is_open;
        }
        n_pending_ = static_cast<std::size_t>(match - first_match);
        n_open_ = static_cast<std::size_t>(open - first_open);
    }

    // Follows keys of several pieces, and takes back what they cover.
    IETEST_NOINLINE void decide_open_cases(std::string_view text, std::size_t n_readable) {
        const MayGoOn goes_on = may_go_on(text, n_readable);
        const auto* open = open_.as<OpenCase>();
        auto* matches = pending_.as<Match>();
        std::uint32_t done = 0;
        for (std::size_t i = 0; i < n_open_; ++i) {
            Match& match = matches[open[i].match];
            if (match.begin < done) continue;
            const std::size_t candidate = open[i].candidate;
            const KeyEntry* entry = open[i].entry;
            if (entry == nullptr) {
                entry = index_.find(probe_of(candidates_, candidate, match.end - match.begin),
                                    text.data() + match.begin);
            }
            if (entry == nullptr) {
                match.value = kNoValue;
                continue;
            }
            match.value = entry->value;
            done = match.end;
            if (goes_on(candidates_.may_go_on[candidate], done, entry->next_node) != 0) {
                done = follow(text, n_readable, candidates_.words[candidate], *entry, match);
            }
            for (std::size_t next = open[i].match + std::size_t{1};
                 next < n_pending_ && matches[next].begin < done; ++next) {
                matches[next].value = kNoValue;
            }
        }
    }

    // The matches that are left, and what the chunk's new texts take.
    IETEST_NOINLINE ChunkMatches taken(std::string_view text) const {
        ChunkMatches chunk;
        chunk.buffer = Buffer(static_cast<std::int64_t>((n_pending_ + 1) * sizeof(Match)));
        chunk.n_bytes_out = static_cast<std::int64_t>(text.size());
        auto* const first = chunk.buffer.as<Match>();
        Match* out = first;
        const auto* matches = pending_.as<Match>();
        for (std::size_t i = 0; i < n_pending_; ++i) {
            const Match match = matches[i];
            std::uint32_t is_kept = match.value != kNoValue ? 1 : 0;
            const std::string_view value = table_.value(is_kept != 0 ? match.value : 0);
            const std::uint32_t size = match.end - match.begin;
            if (table_.may_change_nothing() && value == text.substr(match.begin, size)) is_kept = 0;
            const std::int64_t grown =
                static_cast<std::int64_t>(value.size()) - static_cast<std::int64_t>(size);
            chunk.n_bytes_out += grown & -static_cast<std::int64_t>(is_kept);
            *out = match;
            out += is_kept;
        }
        chunk.n_matches = static_cast<std::size_t>(out - first);
        *out = {std::numeric_limits<std::uint32_t>::max(),
                std::numeric_limits<std::uint32_t>::max(), 0};
        return chunk;
    }

    void sieve(std::string_view text, std::size_t n_readable) {
        const std::size_t n_words = scanner_.n_words();
        candidates_room_.reserve_bytes(Candidates::bytes_for(n_words));
        candidates_ = Candidates::in(candidates_room_.as<std::uint64_t>(), n_words);
        // Eight bytes can be read from all words but the column's last few.
        std::size_t n_wide = n_words;
        while (n_wide > 0 && scanner_.begins()[n_wide - 1] + 8 > n_readable) --n_wide;
        const Sieve find_candidates =
            choose_sieve(instructions_, index_.ignore_case(), table_.has_pairs());
        n_candidates_ = find_candidates(text.data(), scanner_.begins(), scanner_.ends(), n_wide,
                                        {table_.word_filter().view(), table_.pair_filter().view()},
                                        candidates_);
        // The last wide word was judged without the word behind it.
        for (std::size_t word = n_wide - (n_wide > 0 ? 1 : 0); word < n_words; ++word) {
            if (n_candidates_ > 0 && candidates_.words[n_candidates_ - 1] == word) --n_candidates_;
            const std::size_t begin = scanner_.begins()[word];
            const std::string_view piece = text.substr(begin, scanner_.ends()[word] - begin);
            candidates_.set(n_candidates_++, index_.probe(piece), word, 1);
        }
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
    // Scratch; what is in use of each.
    Scratch candidates_room_;
    Candidates candidates_{};
    std::size_t n_candidates_ = 0;
    Scratch pending_;
    std::size_t n_pending_ = 0;
    Scratch open_;
    std::size_t n_open_ = 0;
};

// Copies short pieces in steps of some bytes, overrunning both ends where there is room for it.
class Writer {
  public:
    Writer(char* out, char* out_end, const char* source_end)
        : out_(out), out_end_(out_end), source_end_(source_end) {}

    void put_source(const char* from, std::size_t size) {
        constexpr std::size_t kStep = 64;
        if (source_end_ - from >= static_cast<std::ptrdiff_t>(size + kStep)) {
            put<kStep>(from, size);
        } else {
            put_exactly(from, size);
        }
    }
    // A value of the table, behind which there is room to read.
    void put_value(std::string_view value) {
        put<SubstitutionTable::kValueSlack>(value.data(), value.size());
    }

  private:
    template <std::size_t step>
    void put(const char* from, std::size_t size) {
        if (out_end_ - out_ < static_cast<std::ptrdiff_t>(size + step)) {
            put_exactly(from, size);
            return;
        }
        std::memcpy(out_, from, step);  // nearly always enough
        for (std::size_t at = step; at < size; at += step) {
            std::memcpy(out_ + at, from + at, step);
        }
        out_ += size;
    }
    void put_exactly(const char* from, std::size_t size) {
        if (size > 0) std::memcpy(out_, from, size);
        out_ += size;
    }

    char* out_;
    char* out_end_;
    const char* source_end_;
};

// Writes the new text of a chunk.
void write_text(std::string_view text, std::span<const Match> matches,
                const SubstitutionTable& table, Writer writer) {
    std::size_t copied = 0;
    for (const Match& match : matches) {
        writer.put_source(text.data() + copied, match.begin - copied);
        writer.put_value(table.value(match.value));
        copied = match.end;
    }
    writer.put_source(text.data() + copied, text.size() - copied);
}

// Sets where the new texts of some rows end and whether they changed; gives how many did.
std::int64_t end_rows(const StringColumn& column, Range rows, std::span<const Match> matches,
                      const SubstitutionTable& table, std::int64_t out_begin, Substituted& result) {
    const std::int64_t base = column.begin_of(rows.begin);
    std::int64_t grown = out_begin - base;
    auto* changed = result.changed.as<std::uint8_t>();
    if (matches.empty()) {
        for (std::int64_t i = rows.begin; i < rows.end; ++i) {
            changed[i] = 0;
            result.strings.set_offset(i + 1, column.begin_of(i + 1) + grown);
        }
        return 0;
    }
    // One step a match or a row, since which of them comes next cannot be foretold.
    const Match* match = matches.data();
    std::uint8_t is_changed = 0;
    std::int64_t n_changed = 0;
    for (std::int64_t i = rows.begin; i < rows.end;) {
        const std::int64_t row_end = column.begin_of(i + 1);
        const std::uint8_t in_row = match->begin < row_end - base ? 1 : 0;
        const auto longer = static_cast<std::int64_t>(table.value(match->value).size()) -
                            static_cast<std::int64_t>(match->end - match->begin);
        grown += longer & -static_cast<std::int64_t>(in_row);
        is_changed |= in_row;
        changed[i] = is_changed;
        result.strings.set_offset(i + 1, row_end + grown);
        n_changed += is_changed & (in_row ^ 1);
        is_changed &= in_row;
        match += in_row;
        i += in_row ^ 1;
    }
    return n_changed;
}

void add_edits(const StringColumn& column, Range rows, std::span<const Match> matches,
               const SubstitutionTable& table, EditList& edits) {
    const std::int64_t base = column.begin_of(rows.begin);
    auto match = matches.begin();
    for (std::int64_t i = rows.begin; i < rows.end; ++i) {
        const std::int64_t begin = column.begin_of(i) - base;
        const std::int64_t end = column.begin_of(i + 1) - base;
        for (; match != matches.end() && match->begin < end; ++match) {
            edits.add(i, match->begin - begin, match->end - begin,
                      {column.data + base + match->begin, match->end - match->begin},
                      table.value(match->value), table.rule(match->value));
        }
    }
}

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
        if (entry.value != kNoValue || goes_on_otherwise_[entry.next_node] != 0)
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
            chunk = finder->find(text, static_cast<std::size_t>(data_end - base), row_begins);
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
        const ChunkMatches chunk = std::move(chunks[number]);
        const std::int64_t base = column.begin_of(rows.begin);
        const auto n_bytes = static_cast<std::size_t>(column.begin_of(rows.end) - base);
        char* out = result.strings.data();
        write_text(
            {column.data + base, n_bytes}, chunk.matches(), table,
            Writer(out + out_begins[number], out + out_begins[number + 1], column.data + data_end));
        n_changed[number] =
            end_rows(column, rows, chunk.matches(), table, out_begins[number], result);
        if (options.with_edits) add_edits(column, rows, chunk.matches(), table, edits[number]);
    });
    for (const std::int64_t n : n_changed) result.n_changed += n;
    if (options.with_edits) result.edits = joined(std::move(edits));
    return result;
}

}  // namespace ietest::text
