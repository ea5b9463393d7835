// Cochran's Q for v versions of each of n texts, and its law under the bootstrap null.
//
// A text's level l is the number of versions that are right on it. With G_j texts right in version
// j and M_l texts at level l,
//
//     Q = (v - 1) spread / weight,   spread = v sum G_j^2 - (sum G_j)^2,
//                                    weight = sum_l M_l l (v - l).
//
// A bootstrap row under H0 is a row drawn with replacement whose v outcomes are permuted at random,
// so it is a uniformly random l-subset of the versions, with l drawn from the observed levels.
// Nothing but the counts of the levels matters. docs/statistics.md has the details.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ietest/parallel.hpp"
#include "ietest/random/philox.hpp"

namespace ietest::stats {

// n * v is at most this. The spread is then at most (n v)^2 / 4 = 2^62, a weight below 2^38 (there
// are at most 255 versions), and a product of the two fits into 128 bits.
inline constexpr std::int64_t kMaxOutcomes = std::int64_t{1} << 32;

// The engines that list the subsets of the versions take at most so many versions.
inline constexpr int kMaxListedVersions = 16;

// Q without its factor v - 1, as two integers.
struct CochranStatistic {
    std::int64_t spread = 0;
    std::int64_t weight = 0;
};

// Sign of Q1 - Q2 for one number of versions; Q = 0 where the weight is 0.
int compare_q(CochranStatistic first, CochranStatistic second);

struct CochranTable {
    std::vector<std::int64_t> levels;       // texts at level 0 .. v
    std::vector<std::int64_t> column_sums;  // G_j
    std::vector<std::uint8_t> row_levels;   // of each text

    CochranStatistic statistic() const;
};

// outcomes holds 0 or 1, row after row of `versions` values. Throws std::invalid_argument if there
// are fewer than two versions, no row, more than 255 versions or too many outcomes.
CochranTable count_versions(std::span<const std::uint8_t> outcomes, int versions);

// How many replicates were at or above the observed Q.
struct CochranTails {
    std::uint64_t at_least = 0;
    std::uint64_t above = 0;
    std::uint64_t replicates = 0;
};

// S replicates from the counts of the levels alone: O(v^2) binomial draws each, whatever n is.
// q_replicates, if not empty, takes the Q of each.
CochranTails cochran_multinomial(std::span<const std::int64_t> levels, CochranStatistic observed,
                                 std::int64_t n_replicates, random::Key key,
                                 const Execution& execution, std::span<double> q_replicates = {});

// The definition, O(n) a replicate: n rows, a random permutation of each.
CochranTails cochran_resample(std::span<const std::uint8_t> row_levels, int versions,
                              CochranStatistic observed, std::int64_t n_replicates, random::Key key,
                              const Execution& execution, std::span<double> q_replicates = {});

struct CochranExact {
    double at_least;  // P(Q* >= Q)
    double above;     // P(Q* > Q)
};

// What the exact law would cost: additions of one cell's probability, and cells held at a time.
struct CochranCost {
    double updates;
    double cells;
};

CochranCost cochran_exact_cost(std::span<const std::int64_t> levels);

// For every likely number of drawn rows of each group of levels (l and v - l) the law of the G_j
// by convolution, one drawn row at a time, its tails weighed with the probability of these numbers.
// All that is left out has a probability of less than 1e-30 for up to three versions, of less than
// 1e-18 for more. Throws std::length_error where the cost is infinite; whether a finite one is
// worth it is for the caller to say.
CochranExact cochran_exact(std::span<const std::int64_t> levels, CochranStatistic observed,
                           const Execution& execution);

}  // namespace ietest::stats
