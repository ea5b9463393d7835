#include "ietest/text/insertion.hpp"

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "blanks.hpp"
#include "chunks.hpp"

namespace ietest::text {
namespace {

bool is_final_mark(std::uint32_t code) {
    switch (code) {
        case '.':
        case '!':
        case '?':
        case 0x2026:  // an ellipsis
        case 0x3002:  // full stop, and full-width marks
        case 0xFF01:
        case 0xFF0E:
        case 0xFF1F:
            return true;
        default:
            return false;
    }
}

bool is_ascii_blank(char c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
}

// Where in a text the phrase goes, and from where on the text is dropped.
struct Spot {
    std::size_t at;
    std::size_t end;
    bool after_abbreviation;
};

class Inserter {
  public:
    explicit Inserter(const Insertion& insertion) : insertion_(&insertion) {
        if (insertion.place == InsertionPlace::before_final_mark) piece_ = " ";
        piece_ += insertion.phrase;
        piece_with_stop_ = piece_ + ".";
        n_piece_ = piece_.size();
        for (std::string* piece : {&piece_, &piece_with_stop_}) piece->append(kSlack, '\0');
        for (std::size_t c = 0; c < kinds_.size(); ++c) {
            const auto code = static_cast<std::uint32_t>(c);
            kinds_[c] = c >= 0x80             ? Kind::beyond_ascii
                        : is_blank(code)      ? Kind::blank
                        : is_final_mark(code) ? Kind::mark
                                              : Kind::other;
        }
    }

    // So many bytes may be read behind a piece.
    static constexpr std::size_t kSlack = 32;

    std::optional<Spot> find(std::string_view text) const {
        return insertion_->place == InsertionPlace::before_final_mark ? before_final_mark(text)
                                                                      : before_first_mark(text);
    }
    std::string_view piece(const Spot& spot) const {
        return spot.after_abbreviation ? std::string_view(piece_with_stop_).substr(0, n_piece_ + 1)
                                       : std::string_view(piece_).substr(0, n_piece_);
    }

  private:
    enum class Kind : std::uint8_t { other, blank, mark, beyond_ascii };
    Kind kind_of(char c) const { return kinds_[static_cast<unsigned char>(c)]; }

    std::optional<Spot> before_final_mark(std::string_view text) const {
        std::size_t end = text.size();
        while (end > 0 && kind_of(text[end - 1]) == Kind::blank) --end;
        std::size_t marks = end;
        while (marks > 0 && kind_of(text[marks - 1]) == Kind::mark) --marks;
        std::size_t at = marks;
        while (at > 0 && kind_of(text[at - 1]) == Kind::blank) --at;
        for (const std::size_t edge : {end, marks, at}) {
            if (edge > 0 && kind_of(text[edge - 1]) == Kind::beyond_ascii) {
                return before_final_mark_by_code_points(text);
            }
        }
        return spot_at(text, at, marks, end);
    }

    std::optional<Spot> before_final_mark_by_code_points(std::string_view text) const {
        const std::size_t end = begin_of_blanks(text, 0, text.size());
        std::size_t marks = end;
        while (marks > 0) {
            const std::size_t begin = begin_of_code_point(text, 0, marks);
            if (!is_final_mark(code_point_at(text, begin).value)) break;
            marks = begin;
        }
        return spot_at(text, begin_of_blanks(text, 0, marks), marks, end);
    }

    std::optional<Spot> spot_at(std::string_view text, std::size_t at, std::size_t marks,
                                std::size_t end) const {
        if (at == 0) return std::nullopt;
        const bool one_stop = end - marks == 1 && text[marks] == '.';
        if (one_stop && at == marks && insertion_->language->abbreviates(text.substr(0, at))) {
            return Spot{end, text.size(), true};
        }
        return Spot{at, text.size(), false};
    }

    Spot before_first_mark(std::string_view text) const {
        std::size_t at = 0;
        while (at < text.size() && kind_of(text[at]) != Kind::mark) ++at;
        std::size_t end = at;
        if (end < text.size()) {
            ++end;
            while (end < text.size() && is_ascii_blank(text[end])) ++end;
        }
        return {at, end, false};
    }

    const Insertion* insertion_;
    std::size_t n_piece_;
    std::string piece_;
    std::string piece_with_stop_;
    std::array<Kind, 256> kinds_{};
};

std::int64_t grown_by(const std::optional<Spot>& spot, std::string_view text,
                      const Inserter& inserter) {
    if (!spot.has_value()) return 0;
    return static_cast<std::int64_t>(inserter.piece(*spot).size()) -
           static_cast<std::int64_t>(text.size() - spot->end);
}

void add_edits(std::int64_t row, const Spot& spot, std::string_view text, const Inserter& inserter,
               EditList& edits) {
    const auto at = static_cast<std::int64_t>(spot.at);
    edits.add(row, at, at, {}, inserter.piece(spot), static_cast<Rule>(kInsertedRule));
    if (spot.end == text.size()) return;
    edits.add(row, static_cast<std::int64_t>(spot.end), static_cast<std::int64_t>(text.size()),
              text.substr(spot.end), {}, static_cast<Rule>(kCutRule));
}

}  // namespace

Substituted insert_phrase(const StringColumn& column, const Insertion& insertion,
                          const SubstitutionOptions& options, const Execution& execution) {
    const Inserter inserter(insertion);
    const Chunks chunks({&column, 1});
    // To look for a place is cheaper than to remember where it was: every row is looked at twice.
    std::vector<std::int64_t> sizes(chunks.size());
    chunks.for_each(execution, [&](Range rows, std::size_t number) {
        std::int64_t n_bytes = column.begin_of(rows.end) - column.begin_of(rows.begin);
        for (std::int64_t i = rows.begin; i < rows.end; ++i) {
            if (!column.is_valid(i)) continue;
            n_bytes += grown_by(inserter.find(column[i]), column[i], inserter);
        }
        sizes[number] = n_bytes;
    });
    return write_chunks(column, chunks, sizes, options, execution, [&](const ChunkPlace& place) {
        Writer writer = place.writer;  // a copy, which no byte that is written can change
        auto* changed = place.result.changed.as<std::uint8_t>();
        OwnedStrings& strings = place.result.strings;
        char* const data = strings.data();
        std::int64_t n_changed = 0;
        for (std::int64_t i = place.rows.begin; i < place.rows.end; ++i) {
            const std::string_view text = column[i];
            const auto spot = column.is_valid(i) ? inserter.find(text) : std::nullopt;
            if (spot.has_value()) {
                writer.put_source(text.data(), spot->at);
                writer.put_padded<Inserter::kSlack>(inserter.piece(*spot));
                writer.put_source(text.data() + spot->at, spot->end - spot->at);
                if (place.edits != nullptr) add_edits(i, *spot, text, inserter, *place.edits);
            } else {
                writer.put_source(text.data(), text.size());
            }
            changed[i] = spot.has_value() ? 1 : 0;
            n_changed += changed[i];
            strings.set_offset(i + 1, writer.out() - data);
        }
        return n_changed;
    });
}

}  // namespace ietest::text
