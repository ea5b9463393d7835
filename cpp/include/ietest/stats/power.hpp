// Power of the exact paired test by enumeration of its tables, not by simulation.
//
// With a share psi of discordant pairs and a difference delta of the accuracies, a table of n pairs
// has K ~ Binomial(n, psi) discordant ones, of which Binomial(K, (1 + delta/psi) / 2) favour the
// original. The test rejects at |D| >= c(K), so the power is the sum over K of P(K) times two
// binomial tails. docs/statistics.md has the formulas.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "ietest/parallel.hpp"

namespace ietest::stats {

// The shares of all pairs that favour the original and the transformed version; their sum is psi,
// their difference delta.
struct Shares {
    double original;
    double transformed;

    double discordant() const { return std::min(1.0, original + transformed); }
};

// c(k): the smallest |D| at which the exact p_value of k discordant among n pairs is below level,
// for each k in [first, last]; k + 1 where no table of k is rejected.
std::vector<std::int64_t> critical_differences(std::int64_t n, std::int64_t first,
                                               std::int64_t last, double level,
                                               const Execution& execution);

// Power at sample size n, for several truths with one share psi of discordant pairs. The second
// form takes c(k) as critical_differences gave it for the values of K that count.
struct DiscordantRange {
    std::int64_t first;
    std::int64_t last;

    std::int64_t size() const { return last - first + 1; }
    std::size_t place(std::int64_t k) const { return static_cast<std::size_t>(k - first); }
};

DiscordantRange likely_discordant(std::int64_t n, double psi);

std::vector<double> powers(std::int64_t n, std::span<const Shares> truths, DiscordantRange range,
                           std::span<const std::int64_t> critical, const Execution& execution);

std::vector<double> powers(std::int64_t n, std::span<const Shares> truths, double level,
                           const Execution& execution);

// Power at each of some sample sizes, for one truth.
std::vector<double> power_at_sizes(std::span<const std::int64_t> sizes, Shares truth, double level,
                                   const Execution& execution);

// Power at every sample size in [n_first, n_last], for one truth. c(k) is looked up at few n: over
// sample sizes that change n - k by less than a sixteenth it is taken to step once at the most.
std::vector<double> power_scan(std::int64_t n_first, std::int64_t n_last, Shares truth,
                               double level, const Execution& execution);

}  // namespace ietest::stats
