#include "chunks.hpp"

#include <cstring>

namespace ietest::text {

Substituted assemble(const StringColumn& column, std::int64_t chunk_rows,
                     std::vector<ChunkTexts>&& chunks, const SubstitutionOptions& options,
                     const Execution& execution) {
    std::vector<std::int64_t> begins(chunks.size() + 1, 0);
    for (std::size_t i = 0; i < chunks.size(); ++i) {
        begins[i + 1] = begins[i] + static_cast<std::int64_t>(chunks[i].text.size());
    }
    Substituted result;
    result.strings = OwnedStrings(column, begins.back(), options.offset_limit);
    result.changed = Buffer(column.length);
    std::vector<std::int64_t> n_changed(chunks.size(), 0);
    parallel_chunks(column.length, chunk_rows, execution, [&](Range rows) {
        const auto number = static_cast<std::size_t>(rows.begin / chunk_rows);
        ChunkTexts chunk = std::move(chunks[number]);
        if (!chunk.text.empty()) {
            std::memcpy(result.strings.data() + begins[number], chunk.text.data(),
                        chunk.text.size());
        }
        for (std::size_t i = 0; i < chunk.row_ends.size(); ++i) {
            const std::int64_t row = rows.begin + static_cast<std::int64_t>(i);
            result.strings.set_offset(row + 1, begins[number] + chunk.row_ends[i]);
            result.changed.as<std::uint8_t>()[row] = chunk.changed[i];
            n_changed[number] += chunk.changed[i];
        }
        chunks[number].edits = std::move(chunk.edits);
    });
    for (const std::int64_t n : n_changed) result.n_changed += n;
    if (options.with_edits) {
        EditList edits;
        for (ChunkTexts& chunk : chunks) edits.append(std::move(chunk.edits));
        result.edits = std::move(edits);
    }
    return result;
}

}  // namespace ietest::text
