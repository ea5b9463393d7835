// Monte Carlo engines of the bootstrap under H0 for binary outcomes. docs/statistics.md compares
// them with the exact law, whose samples they are.
#pragma once

#include <cstdint>
#include <span>

#include "ietest/parallel.hpp"
#include "ietest/random/philox.hpp"
#include "ietest/stats/exact_law.hpp"
#include "ietest/stats/paired_counts.hpp"

namespace ietest::stats {

// Where the replicates of a test fell, by their t* against the observed t.
struct ReplicateCounts {
    std::uint64_t at_most = 0;   // t* <= t
    std::uint64_t at_least = 0;  // t* >= t
    std::uint64_t beyond = 0;    // |t*| >= |t|
    std::uint64_t outside = 0;   // |t*| > |t|
    std::uint64_t replicates = 0;

    std::uint64_t above() const { return replicates - at_most; }  // t* > t
    ReplicateCounts& operator+=(const ReplicateCounts& other);
};

// (c + 1) / (S + 1) for equal_tailed and symmetric; eq. 14's c / S for paper.
PValues monte_carlo_p_values(const ReplicateCounts& counts);

// S replicates drawn from the law of (K, D), O(1) each. If t_replicates is not empty, it takes the
// value of each. The result depends on key, stream and S alone.
ReplicateCounts multinomial_replicates(const PairedCounts& counts, std::int64_t n_replicates,
                                       random::Key key, const Execution& execution,
                                       std::span<double> t_replicates = {});

// The definition, O(n) a replicate: n pairs drawn with replacement, a coin for each. differences
// holds A - B of each pair: -1, 0 or 1.
ReplicateCounts resample_replicates(std::span<const std::int8_t> differences,
                                    std::int64_t n_replicates, random::Key key,
                                    const Execution& execution,
                                    std::span<double> t_replicates = {});

}  // namespace ietest::stats
