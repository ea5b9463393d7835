#include "ietest/random/binomial_tables.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace ietest::random {
namespace {

// Against the largest weight of a row, which is at least one in its standard deviation.
constexpr double kSmallestWeight = 1e-22;

}  // namespace

TrialRange likely_range(std::int64_t n, double p) {
    constexpr double kSmallestLog = -50;
    const double q = 1 - p;
    const auto middle = std::min(n, static_cast<std::int64_t>(static_cast<double>(n) * p));
    TrialRange range{middle, middle};
    while (range.low > 0 && log_binomial_pmf(range.low - 1, n, p, q) > kSmallestLog) --range.low;
    while (range.high < n && log_binomial_pmf(range.high + 1, n, p, q) > kSmallestLog) ++range.high;
    return range;
}

double BinomialTables::estimate_cells(TrialRange trials, double p) {
    const auto rows = static_cast<double>(trials.high - trials.low + 1);
    const double middle = static_cast<double>(trials.high + trials.low) / 2;
    return rows * std::min(static_cast<double>(trials.high) + 1,
                           20 * std::sqrt(middle * p * (1 - p)) + 20);
}

BinomialTables::BinomialTables(TrialRange trials, double p) : low_(trials.low), p_(p) {
    if (trials.low < 0 || trials.high < trials.low) {
        throw std::invalid_argument("a range of trials must be 0 or more, and not empty");
    }
    if (!(p > 0 && p < 1)) throw std::invalid_argument("tables of a binomial need 0 < p < 1");
    rows_.reserve(static_cast<std::size_t>(trials.high - trials.low + 1));
    for (std::int64_t m = trials.low; m <= trials.high; ++m) add_row(m);
    weights_ = {};
    builder_ = {};
}

void BinomialTables::add_row(std::int64_t trials) {
    // Weights from the mode outwards by ratios; the mode has weight 1.
    const double odds = p_ / (1 - p_);
    const auto mode =
        std::min(trials, static_cast<std::int64_t>(static_cast<double>(trials + 1) * p_));
    weights_.clear();
    double weight = 1;
    std::int64_t first = mode;
    while (first > 0) {
        weight *= static_cast<double>(first) / (static_cast<double>(trials - first + 1) * odds);
        if (weight < kSmallestWeight) break;
        weights_.push_back(weight);
        --first;
    }
    std::reverse(weights_.begin(), weights_.end());
    weights_.push_back(1);
    weight = 1;
    for (std::int64_t x = mode; x < trials; ++x) {
        weight *= static_cast<double>(trials - x) * odds / static_cast<double>(x + 1);
        if (weight < kSmallestWeight) break;
        weights_.push_back(weight);
    }
    double total = 0;
    for (const double w : weights_) total += w;
    const auto size = static_cast<std::uint32_t>(weights_.size());
    for (double& w : weights_) w *= size / total;
    const std::uint64_t begin = cells_.size();
    rows_.push_back({begin, first, size});
    cells_.resize(begin + size);
    builder_.build(weights_, cells_.data() + begin);
}

}  // namespace ietest::random
