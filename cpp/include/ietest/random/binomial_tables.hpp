// Binomial draws with one p and many numbers of trials, a word each.
#pragma once

#include <cstdint>
#include <vector>

#include "ietest/random/discrete.hpp"
#include "ietest/random/philox.hpp"

namespace ietest::random {

// Numbers of trials from `low` to `high`.
struct TrialRange {
    std::int64_t low;
    std::int64_t high;
};

// Where Binomial(n, p) falls but for a probability of some 1e-20.
TrialRange likely_range(std::int64_t n, double p);

// An alias table for each number of trials in a range. Outside it the draw is a BinomialSampler's,
// so that the law is right everywhere. What a table leaves out has a probability below 1e-19, less
// than the last bit of a word.
class BinomialTables {
  public:
    BinomialTables(TrialRange trials, double p);

    // How many cells the tables would have, roughly.
    static double estimate_cells(TrialRange trials, double p);

    std::int64_t operator()(std::int64_t trials, WordStream& words) const {
        const std::int64_t place = trials - low_;
        if (place < 0 || place >= static_cast<std::int64_t>(rows_.size())) {
            return BinomialSampler(trials, p_, BinomialSampler::Use::kOnce)(words);
        }
        const Row& row = rows_[static_cast<std::size_t>(place)];
        return row.first + draw_cell(cells_.data() + row.begin, row.size, words.next());
    }

  private:
    struct Row {
        std::uint64_t begin;
        std::int64_t first;  // the value of its first cell
        std::uint32_t size;
    };

    void add_row(std::int64_t trials);

    std::int64_t low_;
    double p_;
    std::vector<Row> rows_;
    std::vector<AliasCell> cells_;
    std::vector<double> weights_;  // while the tables are made
    AliasBuilder builder_;
};

}  // namespace ietest::random
