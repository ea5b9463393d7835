#include <algorithm>
#include <array>
#include <cstring>
#include <stdexcept>

#include "blanks.hpp"
#include "chunks.hpp"
#include "ietest/text/substitution.hpp"

namespace ietest::text {
namespace {

// What becomes of a byte: 0 deleted, ' ' white space, kBeyond the head of a longer character,
// anything else is kept as that byte.
constexpr std::uint8_t kBeyond = 0xFF;

constexpr std::array<std::uint8_t, 256> kFate = [] {
    std::array<std::uint8_t, 256> table{};
    for (std::uint32_t c = 0; c < 256; ++c) {
        const bool kept = (c >= 'A' && c <= 'z') || (c >= '0' && c <= '9');
        const bool upper = c >= 'A' && c <= 'Z';
        table[c] = c >= 0x80     ? kBeyond
                   : is_blank(c) ? std::uint8_t{' '}
                   : kept        ? static_cast<std::uint8_t>(upper ? c | 0x20 : c)
                                 : std::uint8_t{0};
    }
    return table;
}();

// The same for characters beyond ASCII: Python's white space, and the two characters whose
// lower-case form begins with an ASCII letter (that of U+0130 is i with a combining dot, which is
// deleted).
std::uint8_t fate_of(std::uint32_t code) {
    if (code == 0x212A) return 'k';
    if (code == 0x0130) return 'i';
    return is_blank(code) ? std::uint8_t{' '} : std::uint8_t{0};
}

// Where a token came from: from its first kept character to behind its last.
struct Origin {
    std::size_t begin;
    std::size_t end;
};

class Normaliser {
  public:
    Normaliser(const SubstitutionTable& table, ChunkTexts& chunk, bool normalise_edits)
        : table_(table),
          chunk_(chunk),
          normalise_edits_(normalise_edits),
          out_(chunk.text.data()) {}

    template <bool with_edits>
    void add_row(std::string_view text, std::int64_t row) {
        make_room(text.size() + kSlack);
        std::size_t done = 0;  // of the old text, edits seen to
        Origin origin{0, 0};
        char* row_begin = out_;
        char* token = out_;
        for (std::size_t at = 0; at < text.size();) {
            std::uint8_t fate = kFate[static_cast<unsigned char>(text[at])];
            std::size_t next = at + 1;
            if (fate == kBeyond) [[unlikely]] {
                const CodePoint code = code_point_at(text, at);
                fate = fate_of(code.value);
                next = at + code.n_bytes;
            }
            if (fate == ' ') {
                if (out_ != token) {
                    token = end_token<with_edits>(text, row, row_begin, token, origin, done,
                                                  text.size() - next);
                }
            } else {
                if constexpr (with_edits) {
                    if (fate != 0) {
                        if (out_ == token) origin.begin = at;
                        origin.end = next;
                    }
                }
                *out_ = static_cast<char>(fate);
                out_ += fate != 0 ? 1 : 0;
            }
            at = next;
        }
        if (out_ != token) end_token<with_edits>(text, row, row_begin, token, origin, done, 0);
        // Behind each token stands a blank; the last one goes.
        if (out_ != row_begin) --out_;
        if constexpr (with_edits) {
            if (normalise_edits_ && done < text.size()) {
                chunk_.edits.add(row, static_cast<std::int64_t>(done),
                                 static_cast<std::int64_t>(text.size()), text.substr(done), "",
                                 Rule::normalise);
            }
        }
        const std::string_view result(row_begin, static_cast<std::size_t>(out_ - row_begin));
        chunk_.row_ends.push_back(out_ - chunk_.text.data());
        chunk_.changed.push_back(result != text);
    }

    void finish() { chunk_.text.resize(static_cast<std::size_t>(out_ - chunk_.text.data())); }

  private:
    // A token of the row can be followed by a blank; loads of eight bytes run over its end.
    static constexpr std::size_t kSlack = 32;

    void make_room(std::size_t n_bytes) {
        const auto used = static_cast<std::size_t>(out_ - chunk_.text.data());
        if (chunk_.text.size() - used >= n_bytes) return;
        chunk_.text.resize(std::max(used + n_bytes, 2 * chunk_.text.size()));
        out_ = chunk_.text.data() + used;
    }

    // The token [token, out_) is complete: replaces it if it is a key and writes the blank behind
    // it. Gives where the next one begins.
    template <bool with_edits>
    char* end_token(std::string_view text, std::int64_t row, char*& row_begin, char* token,
                    const Origin& origin, std::size_t& done, std::size_t n_bytes_left) {
        const auto size = static_cast<std::size_t>(out_ - token);
        const Probe probe = table_.index().probe_wide(token, size);
        const KeyEntry* entry =
            table_.index().may_hold(probe) ? table_.index().find(probe, token) : nullptr;
        const bool replaced = entry != nullptr && entry->value != KeyIndex::kNoValue;
        if constexpr (with_edits) {
            const std::string_view gap = text.substr(done, origin.begin - done);
            const std::string_view wanted = done == 0 && token == row_begin ? "" : " ";
            if (normalise_edits_ && gap != wanted) {
                chunk_.edits.add(row, static_cast<std::int64_t>(done),
                                 static_cast<std::int64_t>(origin.begin), gap, wanted,
                                 Rule::normalise);
            }
            const std::string_view old_token = text.substr(origin.begin, origin.end - origin.begin);
            const std::string_view new_token =
                replaced ? table_.value(entry->value) : std::string_view(token, size);
            if (old_token != new_token && (replaced || normalise_edits_)) {
                chunk_.edits.add(row, static_cast<std::int64_t>(origin.begin),
                                 static_cast<std::int64_t>(origin.end), old_token, new_token,
                                 replaced ? table_.rule(entry->value) : Rule::normalise);
            }
            done = origin.end;
        }
        if (replaced) {
            const std::string_view value = table_.value(entry->value);
            const std::ptrdiff_t row_offset = row_begin - chunk_.text.data();
            out_ = token;
            make_room(value.size() + n_bytes_left + kSlack);
            row_begin = chunk_.text.data() + row_offset;
            if (!value.empty()) std::memcpy(out_, value.data(), value.size());
            out_ += value.size();
        }
        *out_++ = ' ';
        return out_;
    }

    const SubstitutionTable& table_;
    ChunkTexts& chunk_;
    bool normalise_edits_;
    char* out_;
};

}  // namespace

Substituted replace_normalised(const StringColumn& column, const SubstitutionTable& table,
                               const SubstitutionOptions& options, const Execution& execution) {
    if (table.options().by_words || table.options().ignore_case) {
        throw std::invalid_argument("a table of whole tokens that minds case is needed");
    }
    const Chunks chunks({&column, 1});
    std::vector<ChunkTexts> texts(chunks.size());
    chunks.for_each(execution, [&](Range rows, std::size_t number) {
        ChunkTexts chunk;
        chunk.text.resize(
            static_cast<std::size_t>(column.begin_of(rows.end) - column.begin_of(rows.begin)) * 5 /
                4 +
            256);
        Normaliser normaliser(table, chunk, options.normalise_edits);
        for (std::int64_t i = rows.begin; i < rows.end; ++i) {
            if (options.with_edits) {
                normaliser.add_row<true>(column[i], i);
            } else {
                normaliser.add_row<false>(column[i], i);
            }
        }
        normaliser.finish();
        texts[number] = std::move(chunk);
    });
    return assemble(column, chunks, std::move(texts), options, execution);
}

}  // namespace ietest::text
