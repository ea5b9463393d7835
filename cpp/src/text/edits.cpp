#include "ietest/text/edits.hpp"

#include <stdexcept>
#include <string>

namespace ietest::text {

void EditList::add(std::int64_t row_, std::int64_t start_, std::int64_t end_,
                   std::string_view old_piece, std::string_view new_piece, Rule rule_) {
    row.push_back(row_);
    start.push_back(start_);
    end.push_back(end_);
    rule.push_back(static_cast<std::int8_t>(rule_));
    old_text.insert(old_text.end(), old_piece.begin(), old_piece.end());
    new_text.insert(new_text.end(), new_piece.begin(), new_piece.end());
    old_offsets.push_back(static_cast<std::int64_t>(old_text.size()));
    new_offsets.push_back(static_cast<std::int64_t>(new_text.size()));
}

void EditList::append(EditList&& other) {
    if (row.empty()) {
        *this = std::move(other);
        return;
    }
    const auto take = [](auto& to, const auto& from) {
        to.insert(to.end(), from.begin(), from.end());
    };
    const auto take_offsets = [](std::vector<std::int64_t>& to,
                                 const std::vector<std::int64_t>& from) {
        const std::int64_t base = to.back();
        for (std::size_t i = 1; i < from.size(); ++i) to.push_back(base + from[i]);
    };
    take(row, other.row);
    take(start, other.start);
    take(end, other.end);
    take(rule, other.rule);
    take_offsets(old_offsets, other.old_offsets);
    take_offsets(new_offsets, other.new_offsets);
    take(old_text, other.old_text);
    take(new_text, other.new_text);
    other = EditList{};
}

OwnedStrings apply_edits(const StringColumn& column, std::int64_t n_edits, const std::int64_t* row,
                         const std::int64_t* start, const std::int64_t* end,
                         const StringColumn& expected, const StringColumn& pieces) {
    if (pieces.length != n_edits || expected.length != n_edits) {
        throw std::invalid_argument("as many pieces as edits are needed");
    }
    const auto in_character = [](std::string_view text, std::size_t at) {
        return at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U;
    };
    std::int64_t n_bytes = column.n_bytes();
    std::int64_t last_row = -1;
    std::int64_t last_end = 0;
    for (std::int64_t e = 0; e < n_edits; ++e) {
        if (row[e] != last_row) last_end = 0;
        const bool fits = row[e] >= last_row && row[e] >= 0 && row[e] < column.length &&
                          start[e] >= last_end && end[e] >= start[e] &&
                          end[e] <= static_cast<std::int64_t>(column[row[e]].size());
        if (!fits) {
            throw std::invalid_argument("edit " + std::to_string(e) +
                                        " does not fit the texts, or is out of order");
        }
        const std::string_view text = column[row[e]];
        const auto begin = static_cast<std::size_t>(start[e]);
        const auto size = static_cast<std::size_t>(end[e] - start[e]);
        if (text.substr(begin, size) != expected[e] || in_character(text, begin) ||
            in_character(text, begin + size)) {
            throw std::invalid_argument(
                "row " + std::to_string(row[e]) + " does not have \"" + std::string(expected[e]) +
                "\" at byte " + std::to_string(start[e]) + ": the edits are not of these texts");
        }
        last_row = row[e];
        last_end = end[e];
        n_bytes += static_cast<std::int64_t>(pieces[e].size()) - (end[e] - start[e]);
    }
    OwnedStrings result(column, n_bytes);
    char* out = result.data();
    const auto put = [&out](const char* from, std::int64_t size) {
        if (size > 0) std::memcpy(out, from, static_cast<std::size_t>(size));
        out += size;
    };
    std::int64_t e = 0;
    for (std::int64_t i = 0; i < column.length; ++i) {
        const std::string_view text = column[i];
        std::int64_t done = 0;
        for (; e < n_edits && row[e] == i; ++e) {
            put(text.data() + done, start[e] - done);
            put(pieces[e].data(), static_cast<std::int64_t>(pieces[e].size()));
            done = end[e];
        }
        put(text.data() + done, static_cast<std::int64_t>(text.size()) - done);
        result.set_offset(i + 1, out - result.data());
    }
    return result;
}

}  // namespace ietest::text
