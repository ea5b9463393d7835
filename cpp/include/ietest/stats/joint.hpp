// Several classifiers on one test set: Westfall and Young's (1993) step-down adjustment on joint
// resamples. The same units and the same coins serve all classifiers of a replicate.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ietest/stats/replicates.hpp"

namespace ietest::stats {

struct JointCounts {
    // How many replicates of each column lie at least as far out as its own bound.
    std::vector<std::uint64_t> marginal;
    // For each place i of the order, in how many any column j at place i or later reaches the
    // bound that column order[i] sets it.
    std::vector<std::uint64_t> steps;
};

// order: the columns, most significant first. bounds[c * n_columns + j]: what the quantity of
// column j must be at least to count against column c; for j = c the column's own bound.
JointCounts joint_counts(Replicates& replicates, std::span<const std::size_t> order,
                         std::span<const double> bounds, const Execution& execution);

// The least quantity that counts as reaching the sample's.
double side_bound(const ColumnSums& observed, bool exact, Quantity side);

}  // namespace ietest::stats
