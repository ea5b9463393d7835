// Excess churn of M retrained classifiers, and its law if versions are swapped by coins.
//
// v_m = e(a_m) - e(b_m) says how classifier m's answer to a text changes from one version to the
// other; it is 0 where the answer stays. The excess churn of a text is, up to the constant
// M (M - 1), the sum of <v_m, v_l> over m < l. A coin for each unit (a text, or a cluster of texts)
// and classifier exchanges the two versions' answers, which changes the sign of v_m. So a unit is
// told by the products g(m, l), summed over its texts, and a replicate of it is
//     X* = sum over m < l of s_m s_l g(m, l),
// the signs s being those of the coins. Units with equal products are of one type.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "ietest/parallel.hpp"
#include "ietest/random/philox.hpp"

namespace ietest::stats {

// For a type of up to so many classifiers all values of X* are listed.
inline constexpr int kMaxListedClassifiers = 10;

struct ChurnTypes {
    // How many classifiers' products each type has, at least 2; others have no flip in it.
    std::span<const std::int64_t> sizes;
    // How many units are of the type.
    std::span<const std::int64_t> counts;
    // For each type sizes * (sizes - 1) / 2 products: g(0, 1), g(0, 2), ..., g(1, 2), ...
    std::span<const std::int64_t> products;
};

// The 2^(size - 1) values of X* of a type, each as likely as the others. The first classifier's
// sign stays +: all signs changed give the same X*.
std::vector<std::int64_t> list_churn(std::span<const std::int64_t> products, std::int64_t size);

// X* of all units together, drawn coin by coin: how many of n_replicates are at least observed.
// Replicates go to `sums`, if there are places for them.
std::uint64_t churn_at_least(const ChurnTypes& types, std::int64_t observed,
                             std::int64_t n_replicates, random::Key key, const Execution& execution,
                             std::span<std::int64_t> sums = {});

}  // namespace ietest::stats
