// Mean and standard deviation of replicates, the same for any number of threads.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "ietest/int128.hpp"

namespace ietest::stats {

// Sums in fixed point: integers add up to the same in any order. Only finite values count.
struct Moments {
    static constexpr double kUnit = 0x1.0p40;
    std::uint64_t n = 0;
    Int128 sum = 0;
    Int128 squares = 0;

    void add(double t) {
        if (!std::isfinite(t)) return;
        ++n;
        sum += static_cast<Int128>(t * kUnit);
        squares += static_cast<Int128>(t * t * kUnit);
    }
    Moments& operator+=(const Moments& other) {
        n += other.n;
        sum += other.sum;
        squares += other.squares;
        return *this;
    }
    // 0 without any value; the divisor is n.
    double mean() const {
        return n == 0 ? 0 : static_cast<double>(sum) / kUnit / static_cast<double>(n);
    }
    double deviation() const {
        if (n == 0) return 0;
        const double square = static_cast<double>(squares) / kUnit / static_cast<double>(n);
        return std::sqrt(std::max(0.0, square - mean() * mean()));
    }
};

}  // namespace ietest::stats
