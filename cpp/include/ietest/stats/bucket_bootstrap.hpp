// The bootstrap over buckets (items, each in several wordings), or over clusters of buckets.
//
// Units are drawn with replacement, as many as there are. Every measure of paraphrastic consistency
// (Srikanth et al. 2024) is a function of a few sums over the drawn units, so only these are made:
// units whose numbers are equal are of one type, and a replicate says how often each type is drawn.
// That is a multinomial draw. Among the types of several units it is made of Poisson numbers, as in
// typed_sampler.hpp: independent ones in the right proportions are multinomial given their total,
// so they are drawn anew while that exceeds what is wanted, and what is lacking is drawn singly.
// The units of the other types are drawn one by one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "ietest/parallel.hpp"
#include "ietest/random/philox.hpp"
#include "ietest/stats/replicates.hpp"

namespace ietest::stats {

// Type u stands for weights[u] units, each with the numbers values[u * n_columns + c].
struct UnitTypeTable {
    std::size_t n_columns = 0;
    std::span<const double> values;
    std::span<const std::int64_t> weights;
};

class UnitSampler {
  public:
    // Copies the table. Throws std::invalid_argument on one that is none.
    UnitSampler(const UnitTypeTable& table, random::Key key);

    std::size_t n_columns() const;

    // Replicates that take about as long as a chunk of work should.
    std::int64_t chunk_size() const;

    // The sums of all columns over the drawn units; they depend on key, table and number alone.
    void draw(std::uint64_t replicate, std::span<double> sums) const;

    // Replicates 0 to n_replicates - 1, row by row.
    void draw_all(std::int64_t n_replicates, const Execution& execution,
                  std::span<double> sums) const;

  private:
    struct Plan;
    std::shared_ptr<const Plan> plan_;
};

// How a measure is computed from sums; see value_of() for the columns that each takes.
enum class Formula : std::int64_t {
    kRatio = 0,
    kBetween = 1,
    kShare = 2,
    kLowerBound = 3,
    kUnbiasedBetween = 4,
    kUnbiasedShare = 5,
};
inline constexpr std::int64_t kLastFormula = 5;

inline constexpr std::size_t kMeasureColumns = 5;

struct Measure {
    Formula formula = Formula::kRatio;
    std::array<std::size_t, kMeasureColumns> columns{};
    // The measure is a difference: the same formula of these columns is subtracted.
    bool is_difference = false;
    std::array<std::size_t, kMeasureColumns> subtracted{};
};

// The measure of some sums; NaN where it is not defined.
double value_of(const Measure& measure, std::span<const double> sums);

// Where an observed value lies among the replicates. Ties are values nearer to it than
// kTieTolerance, relative above 1.
struct Location {
    std::uint64_t below = 0;
    std::uint64_t tied = 0;
    std::uint64_t defined = 0;  // replicates whose measure is defined
};

class BucketBootstrap {
  public:
    BucketBootstrap(const UnitTypeTable& table, std::span<const Measure> measures,
                    std::int64_t n_replicates, random::Key key);

    // One for each measure.
    std::vector<Location> locate(std::span<const double> observed, const Execution& execution);

    // Order statistics; undefined replicates come last.
    std::vector<double> order_statistics(std::span<const RankRequest> requests,
                                         const Execution& execution);

  private:
    Replicates replicates_;
};

}  // namespace ietest::stats
