// The bootstrap paired t-test on real-valued scores, by pairs or by clusters.
//
// With D the sum of the n units' values and Q the sum of their squares, t = D / sqrt(Q - D*D/n) is
// a strictly increasing function of r = D / sqrt(Q), and so of the key r*|r| = D*|D| / Q, by which
// replicates are compared with the sample.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "ietest/parallel.hpp"
#include "ietest/stats/bootstrap.hpp"
#include "ietest/stats/typed_sampler.hpp"

namespace ietest::stats {

// Two values of r this near each other (relative above 1) are a tie, unless all sums are integers
// that a double holds; a continuous law has about this share of its mass there.
inline constexpr double kTieTolerance = 1e-9;

// The paired t of n units; 0 if all values are 0, infinite if they are all one value but 0.
double t_of(const ColumnSums& sums, std::int64_t n_units);

// D*|D| / Q; 0 if all values are 0.
double order_key(const ColumnSums& sums);

// The keys that tie with the sample's lie between lowest and highest; a key with an absolute value
// of at least `beyond` is as far from 0 as the sample's.
struct TieBounds {
    double lowest;
    double highest;
    double beyond;
};

// exact: all values are integers and so small that no sum is rounded. Then only equal keys tie.
TieBounds tie_bounds(const ColumnSums& sums, bool exact);

struct ScoreReplicates {
    ReplicateCounts counts;
    std::uint64_t n_finite = 0;  // replicates whose t* is finite, which these two are of
    double mean = 0;
    double deviation = 0;  // divisor n_finite
};

// S replicates of t*. If t_replicates is not empty it takes the value of each. The result depends
// on table, key and S alone.
ScoreReplicates score_replicates(const TypeTable& table, const ColumnSums& observed, bool exact,
                                 std::int64_t n_replicates, random::Key key,
                                 const Execution& execution, std::span<double> t_replicates = {},
                                 InstructionSet instruction_set = chosen_instruction_set());

// What is put in order: t*, or how far the order key lies out in the direction of a test.
enum class Quantity { t, both_sides, upper_side, lower_side };

// The value that `quantity` puts in order.
double quantity_of(Quantity quantity, const ColumnSums& sums, std::int64_t n_units);

}  // namespace ietest::stats
