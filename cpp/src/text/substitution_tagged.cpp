#include <algorithm>
#include <array>
#include <stdexcept>

#include "ascii.hpp"
#include "blanks.hpp"
#include "chunks.hpp"
#include "ietest/text/substitution.hpp"
#include "ietest/text/utf8.hpp"
#include "ietest/text/word_boundaries.hpp"

namespace ietest::text {
namespace {

std::uint64_t word_hash(std::string_view word) {
    std::uint64_t hash = 0xCBF29CE484222325ULL;
    for (const char c : word) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3ULL;
    return hash;
}

// A run of word characters: what stands between blanks and punctuation.
struct Run {
    std::size_t begin;
    std::size_t end;
    std::uint64_t hash;
};

void find_runs(std::string_view folded, std::vector<Run>& runs) {
    runs.clear();
    for (std::size_t at = 0; at < folded.size();) {
        const std::size_t begin = at;
        while (at < folded.size()) {
            const CodePoint code = code_point_at(folded, at);
            if (!is_word_character(code.value)) break;
            at += code.n_bytes;
        }
        if (at > begin) {
            runs.push_back({begin, at, word_hash(folded.substr(begin, at - begin))});
        } else {
            at += code_point_at(folded, at).n_bytes;
        }
    }
}

bool is_ascii_word(char c) {
    return is_upper(c) || is_lower(c) || is_digit(c) || static_cast<signed char>(c) < 0;
}
bool is_quote(std::string_view token) {
    using namespace std::string_view_literals;
    constexpr std::array kQuotes{"\""sv,     "'"sv,      "`"sv,      "``"sv,
                                 "''"sv,     "\u201C"sv, "\u201D"sv, "\u201E"sv,
                                 "\u201F"sv, "\u2018"sv, "\u2019"sv, "\u201A"sv,
                                 "\u00AB"sv, "\u00BB"sv, "\u2039"sv, "\u203A"sv};
    return std::ranges::find(kQuotes, token) != kQuotes.end();
}
bool is_bracket(std::string_view token) {
    return token == "(" || token == "[" || token == "{";
}
// "." or "?!" or an ellipsis.
bool ends_sentence(std::string_view token) {
    for (std::size_t at = 0; at < token.size();) {
        const CodePoint code = code_point_at(token, at);
        if (code.value != '.' && code.value != '!' && code.value != '?' && code.value != 0x2026) {
            return false;
        }
        at += code.n_bytes;
    }
    return true;
}
// What may stand between a word and the quotation mark behind it.
bool is_closing_mark(std::string_view token) {
    return token.size() == 1 && std::string_view(",.!?;:").find(token[0]) != std::string_view::npos;
}
// Where a phrase ends that begins at `at`, with any blanks between its words; npos if none does.
std::size_t end_of_phrase(std::string_view text, std::size_t at, std::string_view phrase) {
    for (const char c : phrase) {
        if (c == ' ') {
            const std::size_t end = end_of_blanks(text, at);
            if (end == at) return std::string_view::npos;
            at = end;
        } else if (at < text.size() && text[at] == c) {
            ++at;
        } else {
            return std::string_view::npos;
        }
    }
    return at;
}
// Bytes of the hyphen that begins at `at`, 0 if none does: also the short dash of "couch–bed".
std::size_t hyphen_at(std::string_view text, std::size_t at) {
    using namespace std::string_view_literals;
    for (const std::string_view hyphen : {"-"sv, "\u2010"sv, "\u2011"sv, "\u2013"sv}) {
        if (text.substr(std::min(at, text.size())).starts_with(hyphen)) return hyphen.size();
    }
    return 0;
}

// One key, standing in a text.
struct Occurrence {
    std::size_t begin;
    std::size_t end;
    const TaggedTable::Surface* surface;
    std::int64_t entry;  // the one to put there; -1: not to be replaced

    bool contains(std::size_t from, std::size_t to) const { return begin <= from && to <= end; }
};

// One text of the row, taken apart.
struct RowText {
    std::string_view text;
    std::string folded;
    std::vector<Run> runs;
    std::vector<Occurrence> occurrences;  // every key that stands here, overlaps included

    bool run_ends_at(std::size_t end) const {
        const auto run = std::lower_bound(runs.begin(), runs.end(), end,
                                          [](const Run& r, std::size_t e) { return r.end < e; });
        return run != runs.end() && run->end == end;
    }
};

class TaggedReplacer {
  public:
    TaggedReplacer(std::span<const StringColumn> columns, std::span<const TokenSpans> tokens,
                   TagCodes codes, const TaggedTable& table, bool with_edits)
        : columns_(columns),
          tokens_(tokens),
          codes_(codes),
          table_(table),
          with_edits_(with_edits),
          texts_(columns.size()) {}

    void add_row(std::int64_t row, std::span<ChunkTexts* const> chunks) {
        chosen_.clear();
        blocked_groups_.clear();
        for (std::size_t c = 0; c < columns_.size(); ++c) read(c, row);
        if (!chosen_.empty()) block_colliding_groups();
        for (std::size_t c = 0; c < columns_.size(); ++c) write(texts_[c], row, *chunks[c]);
    }

  private:
    void read(std::size_t c, std::int64_t row) {
        RowText& here = texts_[c];
        here.text = columns_[c].is_valid(row) ? columns_[c][row] : std::string_view{};
        table_.language().fold(here.text, here.folded);
        find_runs(here.folded, here.runs);
        here.occurrences.clear();
        const TokenSpans& spans = tokens_[c];
        const std::int64_t first = spans.offsets[row];
        const std::int64_t last = spans.offsets[row + 1];
        check_tokens(spans, first, last, here.text.size(), row);

        std::size_t done = 0;
        const std::string_view folded = here.folded;
        for (std::size_t r = 0; r < here.runs.size(); ++r) {
            const std::size_t begin = here.runs[r].begin;
            const std::uint32_t longest =
                table_.longest_from(folded.substr(begin, here.runs[r].end - begin));
            Occurrence best{0, 0, nullptr, -1};
            for (std::size_t e = r; e < here.runs.size(); ++e) {
                const std::size_t end = here.runs[e].end;
                if (end - begin > longest) break;
                const auto* surface = table_.find_surface(folded.substr(begin, end - begin));
                if (surface == nullptr) continue;
                if (best.surface != nullptr) here.occurrences.push_back(best);
                best = {begin, end, surface, -1};
            }
            if (best.surface == nullptr) continue;
            // The longest one decides, replaceable or not: ice in "ice cream" is no ice.
            if (begin >= done) {
                best.entry = entry_for(here, spans, first, last, best);
                done = best.end;
            }
            here.occurrences.push_back(best);
        }
        for (const Occurrence& found : here.occurrences) {
            if (found.entry >= 0) {
                chosen_.push_back(found.entry);
                continue;
            }
            for (const std::int64_t e : *found.surface) {
                if (table_.entry(e).is_bound) blocked_groups_.push_back(table_.entry(e).group);
            }
        }
    }

    static void check_tokens(const TokenSpans& spans, std::int64_t first, std::int64_t last,
                             std::size_t n_bytes, std::int64_t row) {
        bool fits = first >= 0 && first <= last && last <= spans.n_tokens;
        std::int64_t before = 0;
        for (std::int64_t t = first; fits && t < last; ++t) {
            fits = spans.start[t] >= before && spans.end[t] >= spans.start[t];
            before = spans.end[t];
        }
        if (!fits || before > static_cast<std::int64_t>(n_bytes)) {
            throw std::invalid_argument("the tokens of row " + std::to_string(row) +
                                        " do not fit its text");
        }
    }

    // The entry to replace an occurrence by; -1 where it has to stay.
    std::int64_t entry_for(const RowText& here, const TokenSpans& spans, std::int64_t first,
                           std::int64_t last, const Occurrence& found) const {
        const auto begin = static_cast<std::int32_t>(found.begin);
        const auto end = static_cast<std::int32_t>(found.end);
        const std::int64_t head =
            std::lower_bound(spans.start + first, spans.start + last, begin) - spans.start;
        const std::int64_t tail =
            std::lower_bound(spans.end + head, spans.end + last, end) - spans.end;
        if (head >= last || tail >= last || spans.start[head] != begin || spans.end[tail] != end) {
            return -1;
        }
        for (std::int64_t t = head; t < tail; ++t) {
            if (spans.pos[t] == codes_.proper_noun) return -1;
        }
        const TextTokens tokens{here.folded, &spans, first, last};
        const int number = std::clamp<int>(spans.number[tail], 0, 2);
        for (const std::int64_t e : *found.surface) {
            const TaggedTable::Entry& entry = table_.entry(e);
            const bool fits = entry.pos == spans.pos[tail] &&
                              (entry.number == 0 || number == 0 || entry.number == number) &&
                              table_.conditions().hold(e, tokens, head, tail);
            if (!fits) continue;
            // Some texts have a blank before an ending: the children 's toys.
            const bool fits_ending =
                !tokens.has(tail + 1) ||
                table_.language().fits_before(
                    tokens.word(tail + 1),
                    std::string_view(here.folded).substr(found.begin, found.end - found.begin),
                    entry.folded_value);
            const bool is_part =
                !fits_ending || is_joined(here.text, found) ||
                is_named(here.text, tokens, head, tail) || is_quoted(tokens, head, tail) ||
                is_in_compound(e, tokens, head, tail) || is_in_phrase(e, tokens, head, tail);
            return is_part ? -1 : e;
        }
        return -1;
    }

    // Part of a hyphenated compound (T-shirt), behind an apostrophe (l'homme), or a tag (#boy).
    static bool is_joined(std::string_view text, const Occurrence& found) {
        const auto is_behind = [&](std::size_t n_bytes) {
            return found.begin > n_bytes && is_ascii_word(text[found.begin - n_bytes - 1]);
        };
        if (found.begin >= 1) {
            const char before = text[found.begin - 1];
            if (before == '#' || before == '@') return true;
            if ((before == '-' || before == '\'') && is_behind(1)) return true;
        }
        if (found.begin >= 3 && hyphen_at(text, found.begin - 3) == 3 && is_behind(3)) return true;
        const std::size_t hyphen = hyphen_at(text, found.end);
        return hyphen > 0 && found.end + hyphen < text.size() &&
               is_ascii_word(text[found.end + hyphen]);
    }

    // Capitalised within a sentence, or beside a proper noun: part of a name or a title.
    bool is_named(std::string_view text, const TextTokens& tokens, std::int64_t head,
                  std::int64_t tail) const {
        const TokenSpans& spans = *tokens.spans;
        const auto begin = static_cast<std::size_t>(spans.start[head]);
        if (!table_.language().is_capitalised(text.substr(begin))) return false;
        if (tokens.has(tail + 1) && tokens.pos(tail + 1) == codes_.proper_noun) return true;
        std::int64_t before = head - 1;
        while (tokens.has(before) &&
               (is_quote(tokens.word(before)) || is_bracket(tokens.word(before)))) {
            --before;
        }
        return tokens.has(before) && !ends_sentence(tokens.word(before));
    }

    // A word that is spoken of: the "boy" in the title, or the "boy," in American print.
    static bool is_quoted(const TextTokens& tokens, std::int64_t head, std::int64_t tail) {
        const auto is_quote_at = [&](std::int64_t t) {
            return tokens.has(t) && is_quote(tokens.word(t));
        };
        return is_quote_at(head - 1) &&
               (is_quote_at(tail + 1) || (tokens.has(tail + 1) && is_quote_at(tail + 2) &&
                                          is_closing_mark(tokens.word(tail + 1))));
    }

    // A noun beside a noun: race car driver.
    bool is_in_compound(std::int64_t entry, const TextTokens& tokens, std::int64_t head,
                        std::int64_t tail) const {
        if (table_.entry(entry).pos != codes_.noun) return false;
        const auto joins = [&](std::int64_t t, int place) {
            return tokens.has(t) &&
                   (tokens.pos(t) == codes_.noun || tokens.pos(t) == codes_.proper_noun) &&
                   !table_.conditions().ask_for(entry, tokens, head, tail, place);
        };
        return joins(head - 1, -1) || joins(tail + 1, 1);
    }

    // Part of a phrase of two to four words.
    bool is_in_phrase(std::int64_t entry, const TextTokens& tokens, std::int64_t head,
                      std::int64_t tail) const {
        const auto is_phrase = [&](std::int64_t from, std::int64_t to) {
            if (!tokens.has(from) || !tokens.has(to)) return false;
            std::string phrase(tokens.word(from));
            for (std::int64_t t = from + 1; t <= to; ++t) {
                phrase += ' ';
                phrase += tokens.word(t);
            }
            return table_.is_phrase(phrase);
        };
        const Conditions& conditions = table_.conditions();
        if (is_phrase(head - 1, tail) && !conditions.ask_for(entry, tokens, head, tail, -1)) {
            return true;
        }
        if (is_phrase(head, tail + 1) && !conditions.ask_for(entry, tokens, head, tail, 1)) {
            return true;
        }
        for (std::int64_t n_beside = 2; n_beside <= 3; ++n_beside) {
            for (std::int64_t n_before = 0; n_before <= n_beside; ++n_before) {
                if (is_phrase(head - n_before, tail + n_beside - n_before)) return true;
            }
        }
        return false;
    }

    // The entries whose values are compared for one that was chosen: of a bound group all, because
    // all its forms are replaced.
    std::span<const std::int64_t> siblings(const std::int64_t& chosen) const {
        const TaggedTable::Entry& entry = table_.entry(chosen);
        return entry.is_bound ? table_.entries_of_group(entry.group) : std::span(&chosen, 1);
    }

    void block_colliding_groups() {
        std::sort(chosen_.begin(), chosen_.end());
        chosen_.erase(std::unique(chosen_.begin(), chosen_.end()), chosen_.end());
        // Collisions are looked for among all that were chosen, so the outcome has no order.
        std::vector<std::int32_t>& blocked = blocked_groups_;
        for (std::size_t i = 0; i < chosen_.size(); ++i) {
            const std::int32_t group = table_.entry(chosen_[i]).group;
            for (const std::int64_t e : siblings(chosen_[i])) {
                if (stands_already(table_.entry(e), group)) blocked.push_back(group);
            }
            for (std::size_t j = i + 1; j < chosen_.size(); ++j) {
                const std::int32_t other = table_.entry(chosen_[j]).group;
                if (group == other || !have_common_value(chosen_[i], chosen_[j])) continue;
                blocked.push_back(group);
                blocked.push_back(other);
            }
        }
        std::sort(blocked.begin(), blocked.end());
    }

    bool have_common_value(const std::int64_t& one, const std::int64_t& other) const {
        for (const std::int64_t a : siblings(one)) {
            for (const std::int64_t b : siblings(other)) {
                if (table_.entry(a).folded_value == table_.entry(b).folded_value) return true;
            }
        }
        return false;
    }

    // Does the value stand in a text of the row, other than within what it is to replace?
    bool stands_already(const TaggedTable::Entry& entry, std::int32_t group) const {
        for (const RowText& here : texts_) {
            for (const Run& run : here.runs) {
                if (run.hash != entry.first_word_hash) continue;
                const std::string& value = entry.folded_value;
                const std::size_t end = end_of_phrase(here.folded, run.begin, value);
                if (end == std::string_view::npos) continue;
                const bool whole = here.run_ends_at(end) || !is_ascii_word(value.back());
                const auto replaced = [&](const Occurrence& found) {
                    return found.entry >= 0 && table_.entry(found.entry).group == group &&
                           found.contains(run.begin, end);
                };
                if (whole &&
                    std::none_of(here.occurrences.begin(), here.occurrences.end(), replaced)) {
                    return true;
                }
            }
        }
        return false;
    }

    void write(const RowText& here, std::int64_t row, ChunkTexts& chunk) const {
        std::size_t done = 0;
        bool changed = false;
        const auto edit = [&](std::size_t begin, std::size_t end, std::string_view piece,
                              Rule rule) {
            chunk.text.insert(chunk.text.end(),
                              here.text.begin() + static_cast<std::ptrdiff_t>(done),
                              here.text.begin() + static_cast<std::ptrdiff_t>(begin));
            chunk.text.insert(chunk.text.end(), piece.begin(), piece.end());
            done = end;
            changed = true;
            if (with_edits_) {
                chunk.edits.add(row, static_cast<std::int64_t>(begin),
                                static_cast<std::int64_t>(end),
                                here.text.substr(begin, end - begin), piece, rule);
            }
        };
        for (const Occurrence& found : here.occurrences) {
            if (found.entry < 0 ||
                std::binary_search(blocked_groups_.begin(), blocked_groups_.end(),
                                   table_.entry(found.entry).group)) {
                continue;
            }
            const TaggedTable::Entry& entry = table_.entry(found.entry);
            const std::string_view piece = here.text.substr(found.begin, found.end - found.begin);
            const std::string value = table_.language().with_capitals_of(piece, entry.value);
            if (value == piece) continue;
            adapt_word_before(here, done, found.begin, piece, entry.value, edit);
            edit(found.begin, found.end, value, entry.rule);
        }
        chunk.text.insert(chunk.text.end(), here.text.begin() + static_cast<std::ptrdiff_t>(done),
                          here.text.end());
        chunk.row_ends.push_back(static_cast<std::int64_t>(chunk.text.size()));
        chunk.changed.push_back(changed ? 1 : 0);
    }

    // The word before a replacement, where it depends on what follows it.
    void adapt_word_before(const RowText& here, std::size_t done, std::size_t word_begin,
                           std::string_view replaced, std::string_view value,
                           const auto& edit) const {
        std::size_t at = word_begin;
        while (at > done &&
               std::string_view("\"'([").find(here.text[at - 1]) != std::string_view::npos) {
            --at;
        }
        const std::size_t behind_blanks = at;
        at = begin_of_blanks(here.text, done, at);
        if (at == behind_blanks) return;
        const auto run =
            std::lower_bound(here.runs.begin(), here.runs.end(), at,
                             [](const Run& r, std::size_t end) { return r.end < end; });
        if (run == here.runs.end() || run->end != at || run->begin < done) return;
        if (run->begin > 0 &&
            std::string_view("-'.&").find(here.text[run->begin - 1]) != std::string_view::npos) {
            return;
        }
        const std::string_view word = here.text.substr(run->begin, run->end - run->begin);
        const auto adapted = table_.language().adapted(word, replaced, value);
        if (adapted.has_value()) edit(run->begin, run->end, *adapted, Rule::article);
    }

    std::span<const StringColumn> columns_;
    std::span<const TokenSpans> tokens_;
    TagCodes codes_;
    const TaggedTable& table_;
    bool with_edits_;
    std::vector<RowText> texts_;
    std::vector<std::int64_t> chosen_;  // entries
    std::vector<std::int32_t> blocked_groups_;
};

}  // namespace

TaggedTable::TaggedTable(const TaggedColumns& columns, const Language& language)
    : language_(&language), conditions_(columns.conditions, columns.keys.length) {
    const auto n = static_cast<std::size_t>(columns.keys.length);
    const bool have_one_length = columns.values.length == columns.keys.length &&
                                 columns.pos.size() == n && columns.number.size() == n &&
                                 columns.group.size() == n && columns.is_bound.size() == n &&
                                 (columns.rules.size() == n || columns.rules.size() == 1);
    if (!have_one_length) throw std::invalid_argument("the columns of a table differ in length");
    std::vector<Run> runs;
    for (std::size_t i = 0; i < n; ++i) {
        const auto at = static_cast<std::int64_t>(i);
        const std::string which = "key " + std::to_string(i);
        const StringColumn& keys = columns.keys;
        const StringColumn& values = columns.values;
        if (!keys.is_valid(at) || !values.is_valid(at) || keys[at].empty() || values[at].empty()) {
            throw std::invalid_argument(which + " or its value is missing or empty");
        }
        if (columns.number[i] < 0 || columns.number[i] > 2) {
            throw std::invalid_argument(which + ": number is not 0, 1 or 2");
        }
        if (columns.group[i] < 0) throw std::invalid_argument(which + ": group is negative");
        const std::string key = language.folded(keys[at]);
        find_runs(key, runs);
        if (runs.empty() || runs.front().begin != 0) {
            throw std::invalid_argument(which + " does not begin with a letter or digit");
        }
        KeyEntry& slot = surface_index_.entry(0, key);
        if (slot.value == KeyIndex::kNoValue) {
            slot.value = static_cast<std::uint32_t>(surfaces_.size());
            surfaces_.emplace_back();
        }
        surfaces_[slot.value].push_back(at);

        KeyEntry& first =
            first_word_index_.entry(0, std::string_view(key).substr(0, runs.front().end));
        const auto size = static_cast<std::uint32_t>(key.size());
        first.value = first.value == KeyIndex::kNoValue ? size : std::max(first.value, size);

        Entry entry{std::string(values[at]),
                    language.folded(values[at]),
                    0,
                    columns.group[i],
                    columns.pos[i],
                    columns.number[i],
                    columns.is_bound[i] != 0,
                    static_cast<Rule>(columns.rules[columns.rules.size() == 1 ? 0 : i])};
        find_runs(entry.folded_value, runs);
        if (runs.empty() || runs.front().begin != 0) {
            throw std::invalid_argument(which +
                                        ": its value does not begin with a letter or digit");
        }
        entry.first_word_hash = runs.front().hash;
        entries_.push_back(std::move(entry));
        const auto needed = static_cast<std::size_t>(columns.group[i]) + 1;
        if (needed > n) throw std::invalid_argument(which + ": groups are not numbered from 0 on");
        if (groups_.size() < needed) groups_.resize(needed);
        groups_[needed - 1].push_back(at);
    }
    for (std::int64_t i = 0; i < columns.phrases.length; ++i) {
        if (columns.phrases.is_valid(i) && !columns.phrases[i].empty()) {
            phrases_.entry(0, language.folded(columns.phrases[i])).value = 1;
        }
    }
    surface_index_.build_filter();
    first_word_index_.build_filter();
}

const TaggedTable::Surface* TaggedTable::find_surface(std::string_view folded) const {
    const KeyEntry* entry = surface_index_.find(folded);
    return entry == nullptr ? nullptr : &surfaces_[entry->value];
}

std::uint32_t TaggedTable::longest_from(std::string_view folded_first_word) const {
    const Probe probe = first_word_index_.probe(folded_first_word);
    if (!first_word_index_.may_hold(probe)) return 0;
    const KeyEntry* entry = first_word_index_.find(probe, folded_first_word.data());
    return entry == nullptr ? 0 : entry->value;
}

SubstitutedColumns replace_tagged(std::span<const StringColumn> columns,
                                  std::span<const TokenSpans> tokens, TagCodes codes,
                                  const TaggedTable& table, const SubstitutionOptions& options,
                                  const Execution& execution) {
    SubstitutedColumns result;
    if (columns.empty() || columns.size() != tokens.size()) {
        throw std::invalid_argument("as many token spans as columns are needed, at least one");
    }
    const std::int64_t n_rows = columns[0].length;
    for (const StringColumn& column : columns) {
        if (column.length != n_rows) throw std::invalid_argument("columns differ in length");
    }
    const Chunks chunks(columns);
    std::vector<std::vector<ChunkTexts>> texts(columns.size());
    for (auto& of_column : texts) of_column.resize(chunks.size());
    result.changed = Buffer(n_rows);
    std::vector<std::int64_t> n_changed(chunks.size(), 0);

    chunks.for_each(execution, [&](Range rows, std::size_t number) {
        std::vector<ChunkTexts> written(columns.size());
        std::vector<ChunkTexts*> pointers;
        for (ChunkTexts& chunk : written) pointers.push_back(&chunk);
        TaggedReplacer replacer(columns, tokens, codes, table, options.with_edits);
        for (std::int64_t i = rows.begin; i < rows.end; ++i) {
            replacer.add_row(i, pointers);
            std::uint8_t changed = 0;
            for (const ChunkTexts& chunk : written) changed |= chunk.changed.back();
            result.changed.as<std::uint8_t>()[i] = changed;
            n_changed[number] += changed;
        }
        for (std::size_t c = 0; c < columns.size(); ++c) texts[c][number] = std::move(written[c]);
    });
    for (const std::int64_t n : n_changed) result.n_changed += n;
    for (std::size_t c = 0; c < columns.size(); ++c) {
        result.columns.push_back(
            assemble(columns[c], chunks, std::move(texts[c]), options, execution));
    }
    return result;
}

}  // namespace ietest::text
