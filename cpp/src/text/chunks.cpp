#include "chunks.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <stdexcept>

namespace ietest::text {
namespace {

std::int64_t rows_per_chunk(const StringColumn& column) {
    constexpr std::int64_t kChunkBytes = 32768;
    if (column.length == 0) return 1;
    const std::int64_t mean = std::max<std::int64_t>(1, column.n_bytes() / column.length);
    return std::clamp<std::int64_t>(kChunkBytes / mean, 1, 8192);
}

}  // namespace

Chunks::Chunks(std::span<const StringColumn> columns)
    : n_rows_(columns[0].length), chunk_rows_(std::numeric_limits<std::int64_t>::max()) {
    for (const StringColumn& column : columns) {
        chunk_rows_ = std::min(chunk_rows_, rows_per_chunk(column));
    }
    size_ = n_rows_ == 0 ? 0 : static_cast<std::size_t>((n_rows_ - 1) / chunk_rows_ + 1);
}

ChunkText text_of(const StringColumn& column, Range rows) {
    const std::int64_t base = column.begin_of(rows.begin);
    const std::int64_t n_bytes = column.begin_of(rows.end) - base;
    if (n_bytes > std::int64_t{0xFFFFFF00}) throw std::length_error("a text of over 4 GB");
    ChunkText chunk{{column.data + base, static_cast<std::size_t>(n_bytes)}, {}};
    chunk.row_begins.resize(static_cast<std::size_t>(rows.end - rows.begin + 1));
    for (std::int64_t i = rows.begin; i <= rows.end; ++i) {
        chunk.row_begins[static_cast<std::size_t>(i - rows.begin)] =
            static_cast<std::uint32_t>(column.begin_of(i) - base);
    }
    return chunk;
}

Substituted write_chunks(const StringColumn& column, const Chunks& chunks,
                         std::span<const std::int64_t> sizes, const SubstitutionOptions& options,
                         const Execution& execution,
                         const std::function<std::int64_t(const ChunkPlace&)>& write) {
    std::vector<std::int64_t> begins(sizes.size() + 1, 0);
    for (std::size_t i = 0; i < sizes.size(); ++i) begins[i + 1] = begins[i] + sizes[i];
    Substituted result;
    result.strings = OwnedStrings(column, begins.back(), options.offset_limit);
    result.changed = Buffer(column.length);
    std::vector<std::int64_t> n_changed(sizes.size(), 0);
    std::vector<EditList> edits(options.with_edits ? sizes.size() : 0);
    chunks.for_each(execution, [&](Range rows, std::size_t number) {
        char* const data = result.strings.data();
        const Writer writer(data + begins[number], data + begins[number + 1],
                            column.data + column.begin_of(column.length));
        ChunkPlace place{rows,   number, begins[number],
                         writer, result, options.with_edits ? &edits[number] : nullptr};
        n_changed[number] = write(place);
    });
    for (const std::int64_t n : n_changed) result.n_changed += n;
    if (options.with_edits) {
        result.edits.emplace();
        for (EditList& part : edits) result.edits->append(std::move(part));
    }
    return result;
}

Substituted assemble(const StringColumn& column, const Chunks& chunks,
                     std::vector<ChunkTexts>&& texts, const SubstitutionOptions& options,
                     const Execution& execution) {
    std::vector<std::int64_t> sizes;
    for (const ChunkTexts& chunk : texts) {
        sizes.push_back(static_cast<std::int64_t>(chunk.text.size()));
    }
    return write_chunks(column, chunks, sizes, options, execution, [&](const ChunkPlace& place) {
        ChunkTexts chunk = std::move(texts[place.number]);
        OwnedStrings& strings = place.result.strings;
        if (!chunk.text.empty()) {
            std::memcpy(strings.data() + place.begin, chunk.text.data(), chunk.text.size());
        }
        std::int64_t n_changed = 0;
        for (std::size_t i = 0; i < chunk.row_ends.size(); ++i) {
            const std::int64_t row = place.rows.begin + static_cast<std::int64_t>(i);
            strings.set_offset(row + 1, place.begin + chunk.row_ends[i]);
            place.result.changed.as<std::uint8_t>()[row] = chunk.changed[i];
            n_changed += chunk.changed[i];
        }
        if (place.edits != nullptr) *place.edits = std::move(chunk.edits);
        return n_changed;
    });
}

}  // namespace ietest::text
