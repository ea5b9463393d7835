// What more than one engine asks of its arguments.
#pragma once

#include <cstdint>
#include <span>
#include <stdexcept>

namespace ietest::stats {

// The places are for each replicate's statistic; none where the caller does not want them.
inline void check_replicates(std::int64_t n_replicates, std::span<const double> places) {
    if (n_replicates < 1) throw std::invalid_argument("n_replicates must be at least 1");
    if (!places.empty() && static_cast<std::int64_t>(places.size()) != n_replicates) {
        throw std::invalid_argument("there must be n_replicates places for the statistics");
    }
}

}  // namespace ietest::stats
