#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "ietest/random/binomial_tables.hpp"

namespace {

using namespace ietest::random;

// Pearson's statistic of draws against the masses, over values expected at least ten times.
void check_law(const BinomialTables& draw, std::int64_t trials, double p) {
    constexpr int kDraws = 200000;
    std::vector<int> seen(static_cast<std::size_t>(trials) + 1, 0);
    WordStream words({3, 4}, 0, static_cast<std::uint64_t>(trials));
    for (int i = 0; i < kDraws; ++i) {
        const std::int64_t x = draw(trials, words);
        REQUIRE(x >= 0);
        REQUIRE(x <= trials);
        ++seen[static_cast<std::size_t>(x)];
    }
    double statistic = 0;
    int cells = 0;
    for (std::int64_t x = 0; x <= trials; ++x) {
        const double expected = kDraws * std::exp(log_binomial_pmf(x, trials, p, 1 - p));
        if (expected < 10) continue;
        const double gap = seen[static_cast<std::size_t>(x)] - expected;
        statistic += gap * gap / expected;
        ++cells;
    }
    // Chi-square is below its mean plus five deviations.
    CHECK(statistic < cells + 5 * std::sqrt(2.0 * cells));
}

TEST_CASE("tables draw from the binomial law, inside their range and outside" *
          doctest::test_suite("one thread")) {
    for (const double p : {1.0 / 3, 0.5, 0.93}) {
        const BinomialTables draw({0, 60}, p);
        for (const std::int64_t trials : {0, 1, 2, 17, 60, 61, 300}) check_law(draw, trials, p);
    }
    check_law(BinomialTables({9000, 9010}, 0.004), 9005, 0.004);
}

TEST_CASE("a draw inside the tables takes one word") {
    const BinomialTables draw({10, 20}, 0.4);
    WordStream one({1, 2}, 0, 0), other({1, 2}, 0, 0);
    for (int i = 0; i < 50; ++i) draw(15, one);
    for (int i = 0; i < 50; ++i) other.next();
    CHECK(one.next() == other.next());
}

TEST_CASE("the likely range leaves out next to nothing") {
    const TrialRange range = likely_range(10000, 0.03);
    CHECK(log_binomial_pmf(range.low - 1, 10000, 0.03, 0.97) < -50);
    CHECK(log_binomial_pmf(range.high + 1, 10000, 0.03, 0.97) < -50);
    CHECK(range.low < 300);
    CHECK(range.high > 300);
    CHECK(likely_range(50, 0).high == 0);
    CHECK(likely_range(50, 1).low == 50);
}

TEST_CASE("tables refuse what has no law") {
    CHECK_THROWS(BinomialTables({5, 4}, 0.5));
    CHECK_THROWS(BinomialTables({-1, 4}, 0.5));
    CHECK_THROWS(BinomialTables({0, 4}, 0.0));
    CHECK_THROWS(BinomialTables({0, 4}, 1.0));
}

}  // namespace
