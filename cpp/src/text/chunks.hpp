// How the kernels of text/ cut columns into chunks and put the results together again.
#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

#include "ietest/parallel.hpp"
#include "ietest/text/edits.hpp"
#include "ietest/text/string_column.hpp"
#include "ietest/text/substitution.hpp"

namespace ietest::text {

// Rows that make a chunk of about 32 KiB of text: with its scratch it stays in the second-level
// cache.
inline std::int64_t rows_per_chunk(const StringColumn& column) {
    constexpr std::int64_t kChunkBytes = 32768;
    if (column.length == 0) return 1;
    const std::int64_t mean = std::max<std::int64_t>(1, column.n_bytes() / column.length);
    return std::clamp<std::int64_t>(kChunkBytes / mean, 1, 8192);
}

inline EditList joined(std::vector<EditList>&& parts) {
    EditList all;
    for (EditList& part : parts) all.append(std::move(part));
    return all;
}

// A chunk's new texts, one behind the other, for kernels that do not know lengths beforehand.
struct ChunkTexts {
    std::vector<char> text;
    std::vector<std::int64_t> row_ends;  // in text
    std::vector<std::uint8_t> changed;
    EditList edits;
};

// Puts the chunks of a column behind each other. chunk_rows as they were made.
Substituted assemble(const StringColumn& column, std::int64_t chunk_rows,
                     std::vector<ChunkTexts>&& chunks, const SubstitutionOptions& options,
                     const Execution& execution);

}  // namespace ietest::text
