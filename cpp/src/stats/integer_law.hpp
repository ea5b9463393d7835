// Laws on consecutive integers, each drawn by one random word.
#pragma once

#include <cstdint>

#include "ietest/random/discrete.hpp"

namespace ietest::stats {

// A law on the integers from first on.
struct IntegerLaw {
    std::int64_t first = 0;
    random::AliasTable table;

    std::int64_t operator()(std::uint64_t word) const { return first + table(word); }
};

IntegerLaw poisson_law(double mean);

// Binomial(n, k / n), for 0 <= k < n.
IntegerLaw binomial_law(std::int64_t n, std::int64_t k);

}  // namespace ietest::stats
