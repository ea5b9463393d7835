// What the engines of Cochran's Q have in common.
#pragma once

#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include "ietest/stats/cochran.hpp"

namespace ietest::stats {

// Throws std::invalid_argument unless levels are the counts of a table: levels 0 to v of at least
// two versions, none of them negative, and one row at least.
void check_levels(std::span<const std::int64_t> levels);

// Rows of the table.
std::int64_t total(std::span<const std::int64_t> levels);

// v sum G_j^2 - (sum G_j)^2.
std::int64_t spread_of(std::span<const std::int64_t> column_sums);

// All ways to choose `level` of `versions`, as bit masks in increasing order.
std::vector<std::uint32_t> subsets(int versions, int level);

// Takes the replicates of one chunk, and adds them to the common sum when it is done.
class Collector {
  public:
    Collector(CochranStatistic observed, int versions, std::span<double> q_replicates)
        : observed_(observed), factor_(versions - 1), q_replicates_(q_replicates) {}

    void add(std::int64_t replicate, CochranStatistic drawn, CochranTails& part) const {
        const int order = compare_q(drawn, observed_);
        part.at_least += order >= 0;
        part.above += order > 0;
        ++part.replicates;
        if (!q_replicates_.empty()) {
            const double q = drawn.weight == 0 ? 0
                                               : factor_ * static_cast<double>(drawn.spread) /
                                                     static_cast<double>(drawn.weight);
            q_replicates_[static_cast<std::size_t>(replicate)] = q;
        }
    }

    void finish(const CochranTails& part) {
        const std::lock_guard lock(mutex_);
        sum_.at_least += part.at_least;
        sum_.above += part.above;
        sum_.replicates += part.replicates;
    }

    CochranTails sum() const { return sum_; }

  private:
    CochranStatistic observed_;
    double factor_;
    std::span<double> q_replicates_;
    std::mutex mutex_;
    CochranTails sum_;
};

}  // namespace ietest::stats
