#include "ietest/stats/paired_counts.hpp"

#include <cmath>
#include <limits>
#include <stdexcept>

#include "ietest/int128.hpp"

namespace ietest::stats {
namespace {

// D * |D|; the order of t is that of D * |D| / k.
Int128 signed_square(std::int64_t difference) {
    const Int128 d = difference;
    return d < 0 ? -d * d : d * d;
}

}  // namespace

void check(const PairedCounts& counts) {
    for (const std::int64_t count : {counts.n11, counts.n10, counts.n01, counts.n00}) {
        if (count < 0) throw std::invalid_argument("counts must not be negative");
        if (count > kMaxPairs) throw std::invalid_argument("more than 2^40 pairs");
    }
    if (counts.n() == 0) throw std::invalid_argument("there is no pair at all");
    if (counts.n() > kMaxPairs) throw std::invalid_argument("more than 2^40 pairs");
}

PairedCounts count_pairs(std::span<const std::uint8_t> original,
                         std::span<const std::uint8_t> transformed) {
    if (original.size() != transformed.size()) {
        throw std::invalid_argument("the two outcome vectors differ in length");
    }
    std::int64_t right_original = 0;
    std::int64_t right_transformed = 0;
    std::int64_t right_both = 0;
    for (std::size_t i = 0; i < original.size(); ++i) {
        right_original += original[i];
        right_transformed += transformed[i];
        right_both += original[i] & transformed[i];
    }
    const auto n = static_cast<std::int64_t>(original.size());
    return {right_both, right_original - right_both, right_transformed - right_both,
            n - right_original - right_transformed + right_both};
}

double paired_t(std::int64_t difference, std::int64_t discordant, std::int64_t n) {
    if (discordant == 0 || difference == 0) return 0;
    const auto d = static_cast<double>(difference);
    // n*k - D*D in integers: it is exactly 0 when all n pairs point one way.
    const Int128 spread =
        static_cast<Int128>(n) * discordant - static_cast<Int128>(difference) * difference;
    if (spread == 0) return std::copysign(std::numeric_limits<double>::infinity(), d);
    return d * std::sqrt(static_cast<double>(n)) / std::sqrt(static_cast<double>(spread));
}

int compare_t(std::int64_t difference1, std::int64_t discordant1, std::int64_t difference2,
              std::int64_t discordant2) {
    // Without discordant pairs t is 0, which is the t of (0, 1).
    const Int128 left = signed_square(difference1) * (discordant2 == 0 ? 1 : discordant2);
    const Int128 right = signed_square(difference2) * (discordant1 == 0 ? 1 : discordant1);
    return left < right ? -1 : left > right ? 1 : 0;
}

}  // namespace ietest::stats
