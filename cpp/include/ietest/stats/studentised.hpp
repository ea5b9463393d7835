// The studentised bootstrap (bootstrap-t): units are drawn with replacement and never swapped.
//
// The observed units have values e with the sum 0: their differences about the mean or, for
// clusters of different sizes, the sums of their differences about the mean of all pairs. Of n
// drawn units with the sums E of e and Q of e*e, the replicate of the paired t is
//
//     t* = E / sqrt(Q - E*E/n).
//
// With sizes w the mean is a ratio. It moves by g = E / sum(w), the residual of a drawn cluster is
// e - g*w, and t* is E over the root of the sum of the squares of the residuals. Equal sizes give
// the first formula.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ietest/cpu.hpp"
#include "ietest/parallel.hpp"
#include "ietest/random/philox.hpp"
#include "ietest/stats/replicates.hpp"

namespace ietest::stats {

// n_units units, of which values.size() are listed and all others have the value `rest`. (Where
// most differences are 0, most units have one value, and only their number is drawn.) Sizes are
// those of the listed units; there are none where all are the same, and no rest where there are.
struct UnitSample {
    std::int64_t n_units = 0;
    std::span<const double> values;
    std::span<const double> sizes;
    double rest = 0;
};

class StudentisedSampler {
  public:
    // Copies the sample. The instruction set changes no bit of a draw. Throws
    // std::invalid_argument on a sample that is none.
    StudentisedSampler(const UnitSample& sample, random::Key key,
                       InstructionSet instruction_set = chosen_instruction_set());

    // Replicates that take about as long as a chunk of work should.
    std::int64_t chunk_size() const;

    // Draws t* of some replicates; it depends on key, sample and the replicate's number alone.
    // 0 if E is 0; infinite if all drawn units are alike otherwise.
    void draw(Range replicates, std::span<double> t) const;

  private:
    struct Plan;
    std::shared_ptr<const Plan> plan_;
};

// How many replicates are at most, and at least, some value; ties (TieBounds) count in both.
struct TailCounts {
    std::uint64_t at_most = 0;
    std::uint64_t at_least = 0;
};

struct StudentisedReplicates {
    std::vector<TailCounts> tails;  // one for each value compared
    std::uint64_t n_finite = 0;     // replicates whose t* is finite, which these two are of
    double mean = 0;
    double deviation = 0;  // divisor n_finite
};

// S replicates, compared with some values of t. If t_replicates is not empty it takes all t*.
StudentisedReplicates studentised_replicates(
    const UnitSample& sample, std::span<const double> compared, std::int64_t n_replicates,
    random::Key key, const Execution& execution, std::span<double> t_replicates = {},
    InstructionSet instruction_set = chosen_instruction_set());

// Order statistics of the replicates t*; rank 0 is the smallest.
std::vector<double> studentised_order_statistics(const UnitSample& sample,
                                                 std::span<const std::int64_t> ranks,
                                                 std::int64_t n_replicates, random::Key key,
                                                 const Execution& execution);

}  // namespace ietest::stats
