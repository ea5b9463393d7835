// The exact law of the bootstrap under H0 for binary outcomes.
//
// A bootstrap pair is a pair drawn with replacement and swapped with probability 1/2. With k of n
// pairs discordant, the number K of discordant pairs drawn is Binomial(n, k/n), and given K the
// number that point to the original is Binomial(K, 1/2). docs/statistics.md derives the sweep.
#pragma once

#include "ietest/stats/paired_counts.hpp"

namespace ietest::stats {

// Tails of t* beyond |t|. The law of t* is symmetric, so these two give every p-value.
struct ExactTails {
    double at_least;      // P(t* >= |t|)
    double above;         // P(t* >  |t|)
    double log_at_least;  // natural logarithms, right where the probabilities underflow
    double log_above;
};

// Relative error of the probabilities below 1e-9 down to 1e-300. O(sqrt(k)) time, no memory.
ExactTails exact_tails(const PairedCounts& counts);

struct PValues {
    double equal_tailed;  // min(1, 2 min(P(t* <= t), P(t* >= t))): decides
    double paper;         // 2 min(P(t* <= t), P(t* > t)): eq. 14 to the letter
    double symmetric;     // P(|t*| >= |t|)
};

PValues exact_p_values(const PairedCounts& counts);

// Conditional exact McNemar test, two-sided: min(1, 2 P(Binomial(k, 1/2) <= min(n10, n01))).
double mcnemar_exact_p(const PairedCounts& counts);

// Its mid-p form: tables as extreme as the observed one count half (Fagerland et al. 2013).
double mcnemar_mid_p(const PairedCounts& counts);

}  // namespace ietest::stats
