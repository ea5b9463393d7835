#include "ietest/stats/cochran.hpp"

#include <bit>
#include <stdexcept>

#include "cochran_parts.hpp"
#include "ietest/int128.hpp"

namespace ietest::stats {
namespace {}  // namespace

void check_levels(std::span<const std::int64_t> levels) {
    if (levels.size() < 3) throw std::invalid_argument("there must be at least two versions");
    std::int64_t n = 0;
    for (const std::int64_t count : levels) {
        if (count < 0) throw std::invalid_argument("counts must not be negative");
        if (count > kMaxOutcomes) throw std::invalid_argument("too many outcomes");
        n += count;
    }
    if (n == 0) throw std::invalid_argument("there is no row at all");
    if (n > kMaxOutcomes / static_cast<std::int64_t>(levels.size() - 1)) {
        throw std::invalid_argument("too many outcomes");
    }
}

std::int64_t total(std::span<const std::int64_t> levels) {
    std::int64_t n = 0;
    for (const std::int64_t count : levels) n += count;
    return n;
}

std::int64_t spread_of(std::span<const std::int64_t> column_sums) {
    Int128 sum = 0;
    Int128 squares = 0;
    for (const std::int64_t g : column_sums) {
        sum += g;
        squares += static_cast<Int128>(g) * g;
    }
    return static_cast<std::int64_t>(static_cast<Int128>(column_sums.size()) * squares - sum * sum);
}

std::vector<std::uint32_t> subsets(int versions, int level) {
    std::vector<std::uint32_t> masks;
    for (std::uint32_t mask = 0; mask < (std::uint32_t{1} << versions); ++mask) {
        if (std::popcount(mask) == level) masks.push_back(mask);
    }
    return masks;
}

int compare_q(CochranStatistic first, CochranStatistic second) {
    const Int128 left =
        static_cast<Int128>(first.spread) * (second.weight == 0 ? 1 : second.weight);
    const Int128 right =
        static_cast<Int128>(second.spread) * (first.weight == 0 ? 1 : first.weight);
    return left < right ? -1 : left > right ? 1 : 0;
}

CochranStatistic CochranTable::statistic() const {
    CochranStatistic statistic{spread_of(column_sums), 0};
    const auto v = static_cast<std::int64_t>(column_sums.size());
    for (std::int64_t level = 0; level <= v; ++level) {
        statistic.weight += levels[static_cast<std::size_t>(level)] * level * (v - level);
    }
    return statistic;
}

CochranTable count_versions(std::span<const std::uint8_t> outcomes, int versions) {
    if (versions < 2) throw std::invalid_argument("there must be at least two versions");
    if (versions > 255) throw std::invalid_argument("there are more than 255 versions");
    const auto v = static_cast<std::size_t>(versions);
    if (outcomes.empty() || outcomes.size() % v != 0) {
        throw std::invalid_argument("outcomes must be whole rows, at least one");
    }
    if (outcomes.size() > static_cast<std::size_t>(kMaxOutcomes)) {
        throw std::invalid_argument("too many outcomes");
    }
    CochranTable table;
    table.levels.assign(v + 1, 0);
    table.column_sums.assign(v, 0);
    table.row_levels.resize(outcomes.size() / v);
    for (std::size_t i = 0; i < table.row_levels.size(); ++i) {
        std::uint8_t level = 0;
        for (std::size_t j = 0; j < v; ++j) {
            const std::uint8_t outcome = outcomes[i * v + j];
            level = static_cast<std::uint8_t>(level + outcome);
            table.column_sums[j] += outcome;
        }
        table.row_levels[i] = level;
        ++table.levels[level];
    }
    return table;
}

}  // namespace ietest::stats
