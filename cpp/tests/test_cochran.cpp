#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "ietest/stats/bootstrap.hpp"
#include "ietest/stats/cochran.hpp"
#include "ietest/stats/exact_law.hpp"

namespace {

using namespace ietest::stats;
using ietest::Execution;

constexpr Execution kSerial{1, nullptr};

TEST_CASE("Q is counted in integers") {
    // Three versions: right in all, in the first two, in the first, in none.
    const std::vector<std::uint8_t> outcomes{1, 1, 1, 1, 1, 0, 1, 0, 0, 0, 0, 0};
    const CochranTable table = count_versions(outcomes, 3);
    CHECK(table.levels == std::vector<std::int64_t>{1, 1, 1, 1});
    CHECK(table.column_sums == std::vector<std::int64_t>{3, 2, 1});
    CHECK(table.row_levels == std::vector<std::uint8_t>{3, 2, 1, 0});
    CHECK(table.statistic().spread == 3 * 14 - 36);
    CHECK(table.statistic().weight == 4);
    CHECK(compare_q({6, 4}, {3, 2}) == 0);
    CHECK(compare_q({0, 0}, {1, 5}) == -1);
    CHECK(compare_q({0, 0}, {0, 5}) == 0);
    const std::int64_t big = std::int64_t{1} << 61;
    CHECK(compare_q({big, big - 1}, {big - 1, big}) == 1);
}

TEST_CASE("the exact law of two versions is that of the paired test") {
    for (const std::int64_t n01 : {0, 3, 9, 12}) {
        const PairedCounts counts{20, 12, n01, 7};
        const std::int64_t d = counts.difference();
        const ExactTails tails = exact_tails(counts);
        const std::vector<std::int64_t> levels{7, 12 + n01, 20};
        const CochranExact law = cochran_exact(levels, {d * d, 12 + n01}, kSerial);
        CHECK(law.at_least == doctest::Approx(d == 0 ? 1 : 2 * tails.at_least).epsilon(1e-12));
        CHECK(law.above == doctest::Approx(2 * tails.above).epsilon(1e-12));
    }
}

TEST_CASE("the smallest law of three versions is right") {
    // One text, right in one version of three: every permutation has Q = 2, spread 2, weight 2.
    const CochranExact one = cochran_exact(std::vector<std::int64_t>{0, 1, 0, 0}, {2, 2}, kSerial);
    CHECK(one.at_least == doctest::Approx(1));
    CHECK(one.above == 0);
    // Two such texts: the same version with 1/3 (spread 8), else two versions (spread 2).
    const CochranExact two = cochran_exact(std::vector<std::int64_t>{0, 2, 0, 0}, {8, 4}, kSerial);
    CHECK(two.at_least == doctest::Approx(1.0 / 3));
    // No mixed text: Q = 0 for certain.
    const CochranExact none = cochran_exact(std::vector<std::int64_t>{4, 0, 0, 5}, {0, 0}, kSerial);
    CHECK(none.at_least == 1);
    CHECK(none.above == 0);
}

TEST_CASE("engines agree and do not depend on the number of threads") {
    const std::vector<std::int64_t> levels{10, 25, 15, 30};
    const CochranStatistic observed{500, 80};
    std::vector<std::uint8_t> rows;
    for (std::size_t level = 0; level < levels.size(); ++level) {
        rows.insert(rows.end(), static_cast<std::size_t>(levels[level]),
                    static_cast<std::uint8_t>(level));
    }
    constexpr std::int64_t kReplicates = 30001;
    const CochranExact exact = cochran_exact(levels, observed, kSerial);
    const CochranTails multinomial =
        cochran_multinomial(levels, observed, kReplicates, {1, 2}, kSerial);
    const CochranTails resample = cochran_resample(rows, 3, observed, kReplicates, {1, 2}, kSerial);
    for (const CochranTails& tails : {multinomial, resample}) {
        const double error = std::sqrt(exact.at_least * (1 - exact.at_least) / kReplicates);
        const double share = static_cast<double>(tails.at_least) / kReplicates;
        CHECK(std::abs(share - exact.at_least) < 4.5 * error);
        CHECK(tails.replicates == kReplicates);
    }
    for (const int n_threads : {2, 3, 7}) {
        const Execution execution{n_threads, nullptr};
        const CochranTails a =
            cochran_multinomial(levels, observed, kReplicates, {1, 2}, execution);
        const CochranTails b = cochran_resample(rows, 3, observed, kReplicates, {1, 2}, execution);
        CHECK(a.at_least == multinomial.at_least);
        CHECK(a.above == multinomial.above);
        CHECK(b.at_least == resample.at_least);
        CHECK(b.above == resample.above);
    }
}

TEST_CASE("a law that is too large says so") {
    const std::vector<std::int64_t> levels{0, 200, 200, 200, 0};
    CHECK(std::isinf(cochran_exact_cost(levels).updates));
    CHECK_THROWS(cochran_exact(levels, {1, 1}, kSerial));
}

TEST_CASE("bad arguments to Cochran's engines are refused") {
    CHECK_THROWS(count_versions(std::vector<std::uint8_t>{1, 0, 1}, 2));
    CHECK_THROWS(count_versions(std::vector<std::uint8_t>{}, 2));
    CHECK_THROWS(count_versions(std::vector<std::uint8_t>{1}, 1));
    const std::vector<std::int64_t> levels{1, 2, 3};
    CHECK_THROWS(cochran_multinomial(levels, {0, 1}, 0, {0, 0}, kSerial));
    CHECK_THROWS(
        cochran_multinomial(std::vector<std::int64_t>{1, -1, 3}, {0, 1}, 5, {0, 0}, kSerial));
    CHECK_THROWS(cochran_resample(std::vector<std::uint8_t>{4}, 3, {0, 1}, 5, {0, 0}, kSerial));
    CHECK_THROWS(cochran_resample(std::vector<std::uint8_t>{1}, 17, {0, 1}, 5, {0, 0}, kSerial));
}

TEST_CASE("the mid-p counts the observed table half") {
    CHECK(mcnemar_mid_p({59, 6, 16, 80}) == doctest::Approx(0.034690).epsilon(1e-4));
    CHECK(mcnemar_mid_p({5, 0, 0, 5}) == 1);
    CHECK(mcnemar_mid_p({5, 1, 1, 5}) == doctest::Approx(0.75));
    CHECK(mcnemar_mid_p({5, 3, 0, 5}) == doctest::Approx(0.125));
}

}  // namespace
