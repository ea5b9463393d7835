#include <stdexcept>

#include "chunks.hpp"
#include "ietest/text/substitution.hpp"
#include "word_matches.hpp"
#include "writer.hpp"

namespace ietest::text {
namespace {

// Writes the new text of a chunk.
void write_text(std::string_view text, std::span<const Match> matches,
                const SubstitutionTable& table, Writer writer) {
    std::size_t copied = 0;
    for (const Match& match : matches) {
        writer.put_source(text.data() + copied, match.begin - copied);
        // Behind a value of the table there is room to read.
        writer.put_padded<SubstitutionTable::kValueSlack>(table.value(match.value));
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

}  // namespace

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
    Pool<MatchFinder> finders;

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
            const auto finder = finders.take(
                [&] { return std::make_unique<MatchFinder>(table, options.instruction_set); });
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
