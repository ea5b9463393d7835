// The studentised bootstrap (bootstrap-t) under H0: the mean difference is delta0. Units are drawn
// with replacement and never swapped.
//
// Differences of 0 are kept: rephrasing changed nothing there, under any hypothesis. The others are
// centred and shifted by s, so that the mean of all is delta0; s is delta0 over the share of
// differences that are not 0. Of n drawn units, K of which have a difference, let C and Q be the
// sums of their centred values and of the squares of these. With k units with a difference in the
// sample,
//
//     t* = (C + s (K - k)) / sqrt(Q - C*C/n + (1 - K/n) (2 s C + s*s K)).
//
// Clusters have a size w, a value e (the sum of the centred differences) and an excess q (by how
// much its number of differences that are not 0 exceeds what its size lets expect; q sums to 0).
// The mean is a ratio, which a drawn sample moves by h = sum(y) / sum(w) with y = e + s q, and
//
//     t* = sum(y) / sqrt(sum((y - h w)**2)).
//
// Both are functions of a few sums, the moments of a replicate, so one drawn sample serves for
// every hypothesis.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "ietest/cpu.hpp"
#include "ietest/parallel.hpp"
#include "ietest/random/philox.hpp"

namespace ietest::stats {

// n_units units. Pairs: values lists those with a difference, and there are neither excesses nor
// sizes. Clusters: all three list every unit.
struct UnitSample {
    std::int64_t n_units = 0;
    std::span<const double> values;
    std::span<const double> excesses;
    std::span<const double> sizes;
};

// Pairs: K, C and Q. Clusters: the sums of e, q, w, e*e, e*q, q*q, e*w, q*w and w*w.
inline constexpr std::size_t kPairMoments = 3;
inline constexpr std::size_t kClusterMoments = 9;

// The t of one replicate, whose moments are three or nine; n_listed is k. 0 if its numerator is 0,
// infinite if all drawn units are alike otherwise.
double studentised_t(std::span<const double> moments, std::int64_t n_units, std::int64_t n_listed,
                     double shift);

struct TRange {
    double lowest;
    double highest;
};

// The range of that t over the shifts between first and last, in any order. t is a linear function
// of the shift over the root of a quadratic one, so it turns at most once.
TRange studentised_t_range(std::span<const double> moments, std::int64_t n_units,
                           std::int64_t n_listed, double first, double last);

class StudentisedSampler {
  public:
    // Copies the sample. The instruction set changes no bit of a draw. Throws
    // std::invalid_argument on a sample that is none.
    StudentisedSampler(const UnitSample& sample, random::Key key,
                       InstructionSet instruction_set = chosen_instruction_set());

    std::int64_t n_units() const;
    std::int64_t n_listed() const;
    std::size_t n_moments() const;

    // Replicates that take about as long as a chunk of work should.
    std::int64_t chunk_size() const;

    // Draws the moments of one replicate; they depend on key, sample and number alone.
    void draw(std::uint64_t replicate, std::span<double> moments) const;

    // Draws the moments of replicates 0 to n_replicates - 1, row by row.
    void draw_all(std::int64_t n_replicates, const Execution& execution,
                  std::span<double> moments) const;

  private:
    struct Plan;
    std::shared_ptr<const Plan> plan_;
};

// What is tested: the shift s, and the sample's t of that hypothesis.
struct Hypothesis {
    double shift = 0;
    double t = 0;
};

// How many replicates are at most, and at least, the sample's t; ties count in both: values nearer
// to each other than kTieTolerance, relative above 1.
struct TailCounts {
    std::uint64_t at_most = 0;
    std::uint64_t at_least = 0;
};

struct StudentisedReplicates {
    std::vector<TailCounts> tails;  // one for each hypothesis
    // Replicates whose t* of delta0 = 0 is finite, their mean and standard deviation (divisor
    // n_finite).
    std::uint64_t n_finite = 0;
    double mean = 0;
    double deviation = 0;
};

// S replicates. If t_replicates is not empty it takes all t* of delta0 = 0.
StudentisedReplicates studentised_replicates(
    const UnitSample& sample, std::span<const Hypothesis> hypotheses, std::int64_t n_replicates,
    random::Key key, const Execution& execution, std::span<double> t_replicates = {},
    InstructionSet instruction_set = chosen_instruction_set());

// Order statistics of the t* of delta0 = 0; rank 0 is the smallest.
std::vector<double> studentised_order_statistics(const UnitSample& sample,
                                                 std::span<const std::int64_t> ranks,
                                                 std::int64_t n_replicates, random::Key key,
                                                 const Execution& execution);

}  // namespace ietest::stats
