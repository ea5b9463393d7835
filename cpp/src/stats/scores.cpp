#include "ietest/stats/scores.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <stdexcept>

#include "checks.hpp"
#include "moments.hpp"

namespace ietest::stats {
double t_of(const ColumnSums& sums, std::int64_t n_units) {
    if (sums.sum == 0 || sums.squares == 0) return 0;
    const auto n = static_cast<double>(n_units);
    const double spread = n * sums.squares - sums.sum * sums.sum;
    // Equal values leave nothing but rounding errors.
    if (spread <= 0x1.0p-44 * n * sums.squares)
        return std::copysign(std::numeric_limits<double>::infinity(), sums.sum);
    return sums.sum * std::sqrt(n) / std::sqrt(spread);
}

double order_key(const ColumnSums& sums) {
    return sums.squares == 0 ? 0 : sums.sum * std::abs(sums.sum) / sums.squares;
}

TieBounds tie_bounds(const ColumnSums& sums, bool exact) {
    const double key = order_key(sums);
    if (exact) return {key, key, std::abs(key)};
    const double r = std::copysign(std::sqrt(std::abs(key)), key);
    const double tolerance = kTieTolerance * std::max(1.0, std::abs(r));
    const auto squared = [](double x) { return x * std::abs(x); };
    return {squared(r - tolerance), squared(r + tolerance), squared(std::abs(r) - tolerance)};
}

double quantity_of(Quantity quantity, const ColumnSums& sums, std::int64_t n_units) {
    switch (quantity) {
        case Quantity::t:
            return t_of(sums, n_units);
        case Quantity::both_sides:
            return std::abs(order_key(sums));
        case Quantity::upper_side:
            return order_key(sums);
        case Quantity::lower_side:
            return -order_key(sums);
    }
    throw std::invalid_argument("no such quantity");
}

ScoreReplicates score_replicates(const TypeTable& table, const ColumnSums& observed, bool exact,
                                 std::int64_t n_replicates, random::Key key,
                                 const Execution& execution, std::span<double> t_replicates,
                                 InstructionSet instruction_set) {
    check_replicates(n_replicates, t_replicates);
    if (table.n_columns != 1) throw std::invalid_argument("a test of scores has one column");
    const TypedSampler sampler(table, key, instruction_set);
    const TieBounds bounds = tie_bounds(observed, exact);
    std::mutex mutex;
    ReplicateCounts counts;
    Moments moments;
    parallel_chunks(n_replicates, sampler.chunk_size(), execution, [&](Range range) {
        TypedSampler::Workspace workspace;
        ColumnSums sums[1];
        ReplicateCounts part;
        Moments part_moments;
        for (std::int64_t r = range.begin; r < range.end; ++r) {
            sampler.draw(static_cast<std::uint64_t>(r), workspace, sums);
            const double replicate_key = order_key(sums[0]);
            part.at_most += replicate_key <= bounds.highest;
            part.at_least += replicate_key >= bounds.lowest;
            part.beyond += std::abs(replicate_key) >= bounds.beyond;
            const double t = t_of(sums[0], table.n_units);
            part_moments.add(t);
            if (!t_replicates.empty()) t_replicates[static_cast<std::size_t>(r)] = t;
        }
        part.replicates = static_cast<std::uint64_t>(range.end - range.begin);
        const std::lock_guard lock(mutex);
        counts += part;
        moments += part_moments;
    });
    ScoreReplicates result;
    result.counts = counts;
    result.n_finite = moments.n;
    result.mean = moments.mean();
    result.deviation = moments.deviation();
    return result;
}

}  // namespace ietest::stats
