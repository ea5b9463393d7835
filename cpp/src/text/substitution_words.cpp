#include <stdexcept>

#include "ietest/text/substitution.hpp"
#include "replaced_words.hpp"
#include "word_matches.hpp"

namespace ietest::text {
namespace {

struct Values {
    const SubstitutionTable& table;

    std::string_view piece(const Match& match) const { return table.value(match.value); }
    Rule rule(const Match& match) const { return table.rule(match.value); }
};

}  // namespace

Substituted replace_words(const StringColumn& column, const SubstitutionTable& table,
                          const SubstitutionOptions& options, const Execution& execution) {
    if (!table.options().by_words) {
        throw std::invalid_argument("a table of words is needed, this one is of whole tokens");
    }
    const Chunks chunks({&column, 1});
    std::vector<ChunkMatches> found(chunks.size());
    std::vector<std::int64_t> sizes(chunks.size());
    Pool<MatchFinder> finders;
    chunks.for_each(execution, [&](Range rows, std::size_t number) {
        const auto [text, row_begins] = text_of(column, rows);
        if (text.empty()) return;
        const auto n_readable = column.begin_of(column.length) - column.begin_of(rows.begin);
        const auto finder = finders.take(
            [&] { return std::make_unique<MatchFinder>(table, options.instruction_set); });
        found[number] = finder->find(text, static_cast<std::size_t>(n_readable), row_begins);
        sizes[number] = found[number].n_bytes_out;
    });
    return write_chunks(column, chunks, sizes, options, execution, [&](const ChunkPlace& place) {
        const ChunkMatches chunk = std::move(found[place.number]);
        return write_replaced<SubstitutionTable::kValueSlack>(column, chunk.matches(),
                                                              Values{table}, place);
    });
}

}  // namespace ietest::text
