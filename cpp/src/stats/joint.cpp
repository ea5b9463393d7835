#include "ietest/stats/joint.hpp"

#include <mutex>
#include <stdexcept>

namespace ietest::stats {

double side_bound(const ColumnSums& observed, bool exact, Quantity side) {
    const TieBounds bounds = tie_bounds(observed, exact);
    switch (side) {
        case Quantity::both_sides:
            return bounds.beyond;
        case Quantity::upper_side:
            return bounds.lowest;
        case Quantity::lower_side:
            return -bounds.highest;
        default:
            throw std::invalid_argument("a side must be both, upper or lower");
    }
}

JointCounts joint_counts(Replicates& replicates, std::span<const std::size_t> order,
                         std::span<const double> bounds, const Execution& execution) {
    const std::size_t n_columns = replicates.n_columns();
    if (order.size() != n_columns || bounds.size() != n_columns * n_columns) {
        throw std::invalid_argument("order and bounds must fit the columns");
    }
    std::vector<bool> seen(n_columns);
    for (const std::size_t column : order) {
        if (column >= n_columns || seen[column]) {
            throw std::invalid_argument("order must name each column once");
        }
        seen[column] = true;
    }
    // Columns in their order from here on: bound(i, j) of the i-th and the j-th.
    std::vector<double> ordered_bounds;
    for (const std::size_t column : order) {
        for (const std::size_t other : order) {
            ordered_bounds.push_back(bounds[column * n_columns + other]);
        }
    }
    JointCounts total{std::vector<std::uint64_t>(n_columns), std::vector<std::uint64_t>(n_columns)};
    std::mutex mutex;
    replicates.for_each_rows(execution, [&](Replicates::Rows rows) {
        std::vector<double> quantity(n_columns);
        std::vector<std::uint64_t> marginal(n_columns), steps(n_columns);
        for (std::size_t begin = 0; begin < rows.size(); begin += n_columns) {
            for (std::size_t i = 0; i < n_columns; ++i) quantity[i] = rows[begin + order[i]];
            for (std::size_t i = 0; i < n_columns; ++i) {
                const double* bound = ordered_bounds.data() + i * n_columns;
                unsigned reached = 0;
                for (std::size_t j = i; j < n_columns; ++j) reached |= quantity[j] >= bound[j];
                marginal[i] += quantity[i] >= bound[i];
                steps[i] += reached;
            }
        }
        const std::lock_guard lock(mutex);
        for (std::size_t i = 0; i < n_columns; ++i) {
            total.marginal[order[i]] += marginal[i];
            total.steps[i] += steps[i];
        }
    });
    return total;
}

}  // namespace ietest::stats
