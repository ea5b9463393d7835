// Writing the new text of a chunk in which words were found that others replace.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "chunks.hpp"

namespace ietest::text {

// What stands between two words goes over in one piece.
template <std::size_t slack, typename Word, typename Pieces>
void write_text(std::string_view text, std::span<const Word> words, const Pieces& pieces,
                Writer writer) {
    std::size_t copied = 0;
    for (const Word& word : words) {
        writer.put_source(text.data() + copied, word.begin - copied);
        writer.put_padded<slack>(pieces.piece(word));
        copied = word.end;
    }
    writer.put_source(text.data() + copied, text.size() - copied);
}

// Sets where the new texts of some rows end and whether they changed; gives how many did.
template <typename Word, typename Pieces>
std::int64_t end_rows(const StringColumn& column, std::span<const Word> words, const Pieces& pieces,
                      const ChunkPlace& place) {
    const auto [begin, end] = place.rows;
    const std::int64_t base = column.begin_of(begin);
    std::int64_t grown = place.begin - base;
    auto* changed = place.result.changed.as<std::uint8_t>();
    std::int64_t n_changed = 0;
    auto word = words.begin();
    for (std::int64_t i = begin; i < end; ++i) {
        const std::int64_t row_end = column.begin_of(i + 1);
        std::uint8_t is_changed = 0;
        for (; word != words.end() && word->begin < row_end - base; ++word) {
            is_changed = 1;
            grown += static_cast<std::int64_t>(pieces.piece(*word).size()) -
                     static_cast<std::int64_t>(word->end - word->begin);
        }
        changed[i] = is_changed;
        place.result.strings.set_offset(i + 1, row_end + grown);
        n_changed += is_changed;
    }
    return n_changed;
}

template <typename Word, typename Pieces>
void add_edits(const StringColumn& column, Range rows, std::span<const Word> words,
               const Pieces& pieces, EditList& edits) {
    const std::int64_t base = column.begin_of(rows.begin);
    auto word = words.begin();
    for (std::int64_t i = rows.begin; i < rows.end; ++i) {
        const std::int64_t begin = column.begin_of(i) - base;
        const std::int64_t end = column.begin_of(i + 1) - base;
        for (; word != words.end() && word->begin < end; ++word) {
            edits.add(i, word->begin - begin, word->end - begin,
                      {column.data + base + word->begin, word->end - word->begin},
                      pieces.piece(*word), pieces.rule(*word));
        }
    }
}

// words: bytes of the chunk, from begin to end, in their order. pieces tells of each the piece that
// takes its place, behind which `slack` bytes can be read, and the rule.
template <std::size_t slack, typename Word, typename Pieces>
std::int64_t write_replaced(const StringColumn& column, std::span<const Word> words,
                            const Pieces& pieces, const ChunkPlace& place) {
    const std::int64_t base = column.begin_of(place.rows.begin);
    const auto n_bytes = static_cast<std::size_t>(column.begin_of(place.rows.end) - base);
    write_text<slack>({column.data + base, n_bytes}, words, pieces, place.writer);
    if (place.edits != nullptr) add_edits(column, place.rows, words, pieces, *place.edits);
    return end_rows(column, words, pieces, place);
}

}  // namespace ietest::text
