// The replicates of one call, passed over as often as its statistics need.
//
// Replicates are addressed, so they can be drawn again: memory does not grow with their number.
// Where they are few they are kept by the first pass, and later passes read them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "ietest/parallel.hpp"
#include "ietest/stats/scores.hpp"
#include "ietest/stats/typed_sampler.hpp"

namespace ietest::stats {

struct RankRequest {
    std::size_t column;
    std::int64_t rank;  // 0: the smallest of the S replicates
};

// An object serves one caller at a time.
class Replicates {
  public:
    // Writes the rows of some replicates, in their order; called from several threads.
    using Draw = std::function<void(Range replicates, std::span<double> rows)>;

    // chunk_size: replicates that take about as long as a chunk of work should.
    Replicates(Draw draw, std::size_t n_columns, std::int64_t chunk_size,
               std::int64_t n_replicates);

    // A quantity of each column of n_replicates draws from the table, which is copied.
    Replicates(const TypeTable& table, Quantity quantity, std::int64_t n_replicates,
               random::Key key);

    std::size_t n_columns() const { return n_columns_; }

    // Row r holds the quantities of one replicate, n_columns() of them.
    using Rows = std::span<const double>;

    // Calls body with all replicates, some rows at a time, in no order and from several threads.
    void for_each_rows(const Execution& execution, const std::function<void(Rows)>& body);

    // The values sought, in the order of the requests. A pass counts the replicates by the next
    // bits of the values sought (in the order of doubles) until what is left fits a buffer: two
    // passes for S up to some 10^7, three to 10^12, one more for laws with few values.
    std::vector<double> order_statistics(std::span<const RankRequest> requests,
                                         const Execution& execution);

  private:
    Draw draw_;
    std::size_t n_columns_;
    std::int64_t chunk_size_;
    std::int64_t n_replicates_;
    bool is_kept_ = false;
    std::vector<double> kept_;
};

}  // namespace ietest::stats
