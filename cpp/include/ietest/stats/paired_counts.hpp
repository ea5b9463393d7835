// The sufficient statistic of a matched sample of correctness indicators, and Student's t on it.
#pragma once

#include <cstdint>
#include <span>

namespace ietest::stats {

// Largest sample size: D*D*K then fits into a signed 128-bit integer with room to spare.
inline constexpr std::int64_t kMaxPairs = std::int64_t{1} << 40;

struct PairedCounts {
    std::int64_t n11;  // right on both versions
    std::int64_t n10;  // right on the original only
    std::int64_t n01;  // right on the transformed only
    std::int64_t n00;  // wrong on both

    std::int64_t n() const { return n11 + n10 + n01 + n00; }
    std::int64_t discordant() const { return n10 + n01; }
    std::int64_t difference() const { return n10 - n01; }
};

// Throws std::invalid_argument on a negative count, n = 0 or n > kMaxPairs.
void check(const PairedCounts& counts);

// original and transformed hold 0 or 1 and have one length.
PairedCounts count_pairs(std::span<const std::uint8_t> original,
                         std::span<const std::uint8_t> transformed);

// The paired t of eq. 12 and 13 (variance with divisor n) for n pairs of which `discordant` differ
// with the sum `difference`. 0 without discordant pairs; +-infinity when all n point one way.
double paired_t(std::int64_t difference, std::int64_t discordant, std::int64_t n);

// Sign of t1 - t2 for samples of one size, without rounding: t is an increasing function of
// D / sqrt(k), so D1*|D1|*k2 against D2*|D2|*k1 in integers decides, ties and infinities included.
int compare_t(std::int64_t difference1, std::int64_t discordant1, std::int64_t difference2,
              std::int64_t discordant2);

}  // namespace ietest::stats
